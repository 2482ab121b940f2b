package delta

import (
	"cmp"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// AppendDelta appends the encoded difference of two snapshots; its working memory comes from spare.
// If no id has changed and no sparse type has entries, ids are neither read nor copied.
func AppendDelta(dst []byte, older, newer *snapshot.Snapshot, spare *Spare) ([]byte, error) {
	const op = "Diff"
	for _, s := range [...]*snapshot.Snapshot{older, newer} {
		s.Begin(op)
		defer s.Reading.Add(-1)
		s.CheckOpen(op)
	}
	c := Comparing{Older: older, Newer: newer, spare: spare, Same: map[*world.Archetype]*world.Archetype{}}
	if err := c.Open(); err != nil {
		return dst, world.WithOp(op, err)
	}
	d, err := Diff(&c.OlderWorld.World, &c.NewerWorld.World, c.Written, &c)
	if err != nil {
		return dst, err
	}
	dst = d.AppendTo(slices.Grow(dst, DeltaFrame+d.Size()))
	for i := range d.Tables {
		for k := range d.Tables[i].columns {
			spare.Put(d.Tables[i].columns[k].runs)
		}
	}
	spare.Written = c.set
	return dst, nil
}

// Comparing is a comparison of two snapshots. Of rows that stayed where they were it reads only
// pieces of 1 KiB that were written in between, where the snapshots have them (far.go).
type Comparing struct {
	Older, Newer           *snapshot.Snapshot
	OlderWorld, NewerWorld *snapshot.SnapshotWorld
	spare                  *Spare             // nil: the delta will be walked
	set                    past.Written       // pieces of the universe that were written
	ids                    *entity.Difference // nil: they are to be compared
	// Archetypes of the newer state whose rows did not come, go or move, and their older states.
	Same map[*world.Archetype]*world.Archetype
}

// Open loads what will be compared.
func (c *Comparing) Open() (err error) {
	use := snapshot.ForRecords
	if c.spare != nil && c.sameIDs() {
		use = snapshot.ForRows
	}
	if c.OlderWorld, err = c.Older.OpenWorld(use); err != nil {
		return err
	}
	if c.NewerWorld, err = c.Newer.OpenWorld(use); err != nil {
		return err
	}
	if c.spare != nil {
		c.set = c.spare.Written
	}
	c.set = c.Older.Layer.Written(snapshot.HistoryOf(c.Older.World).Rows, c.Newer.Layer, c.set)
	if err := c.load(); err != nil {
		return cmp.Or(c.Older.Err(), c.Newer.Err(), world.LimitErrorOf(err))
	}
	return nil
}

// sameIDs records the difference of the ids if no id was written and no sparse type has entries. It
// reports whether that is so.
func (c *Comparing) sameIDs() bool {
	for _, s := range [...]*snapshot.Snapshot{c.Older, c.Newer} {
		for i := range s.Sets {
			if s.Sets[i].Len() > 0 {
				return false
			}
		}
	}
	older, alone := c.Older.Ids.State()
	newer, still := c.Newer.Ids.State()
	if !alone || !still || older.Records != newer.Records || older.Blocks != newer.Blocks ||
		!c.Older.Layer.Written(snapshot.HistoryOf(c.Older.World).Records, c.Newer.Layer, nil).Empty() {
		return false
	}
	c.ids = &entity.Difference{From: older, To: newer}
	return true
}

// difference returns the difference of the ids if it is known. c may be nil.
func (c *Comparing) difference() *entity.Difference {
	if c == nil {
		return nil
	}
	return c.ids
}

// spares returns the memory for runs, nil if there is none. c may be nil.
func (c *Comparing) spares() *Spare {
	if c == nil {
		return nil
	}
	return c.spare
}

// load loads what will be read of the rows. A delta that will be walked shows rows of both states;
// for others they are read where the snapshots have them.
func (c *Comparing) load() error {
	twins := map[*world.Archetype]bool{}
	for _, a := range c.NewerWorld.Archetypes.List {
		old := archetypeLike(&c.OlderWorld.World, a)
		if old == nil {
			if err := c.loadRows(a); err != nil {
				return err
			}
			continue
		}
		twins[old] = true
		if err := c.bringBoth(a, old); err != nil {
			return err
		}
	}
	for _, old := range c.OlderWorld.Archetypes.List {
		if !twins[old] {
			if err := c.loadRows(old); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadRows loads the rows of an archetype if the delta will be walked.
func (c *Comparing) loadRows(a *world.Archetype) error {
	if c.spare != nil {
		return nil
	}
	return a.SnapshotView.LoadAll()
}

// bringBoth loads the parts of an archetype's two states that may differ.
func (c *Comparing) bringBoth(a, old *world.Archetype) error {
	if !old.SnapshotView.IsLike(a.SnapshotView, c.Older.Version) {
		if err := c.loadRows(a); err != nil {
			return err
		}
		return c.loadRows(old)
	}
	c.Same[a] = old
	if c.spare != nil {
		return nil
	}
	for pos := range a.Table.Store.Chunks() {
		if !c.Written(a, pos) {
			continue
		}
		for _, f := range [...]*table.SnapshotView{a.SnapshotView, old.SnapshotView} {
			if err := loadChunk(f, pos, len(a.Table.Buffers()) > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadChunk loads the entities of a chunk of a delta that will be walked, and the whole chunk if
// headers of buffers will be followed. Other columns are compared where they lie.
func loadChunk(f *table.SnapshotView, pos int, all bool) error {
	if all {
		return f.LoadChunk(pos)
	}
	return f.LoadIDs(pos)
}

// units returns the units of a chunk of the newer state that were written, for archetypes in same.
func (c *Comparing) units(a *world.Archetype, pos int) uint64 {
	return a.SnapshotView.WrittenIn(c.set, pos)
}

// Written reports whether rows of a chunk of the newer state may differ from the older one.
func (c *Comparing) Written(a *world.Archetype, pos int) bool {
	old := c.Same[a]
	return old == nil || c.units(a, pos) != 0 || old.SnapshotView.MetadataDiffers(a.SnapshotView, pos)
}
