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

// AppendDelta appends the encoding of what Diff returns; memory that it needs meanwhile comes from
// spare. It looks at no ids, and copies none, where none has changed and there are no entries of
// sparse types.
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
	d, err := Diff(&c.Was.World, &c.Is.World, c.Written, &c)
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

// Comparing is a comparison of two snapshots under way. It compares what was written in between, in
// units of 16 KiB.
type Comparing struct {
	Older, Newer *snapshot.Snapshot
	Was, Is      *snapshot.SnapshotWorld
	spare        *Spare             // nil: the delta will be walked
	set          past.Written       // units of the universe that were written
	ids          *entity.Difference // nil: they are to be compared
	// Archetypes of the newer state whose rows did not come, go or move, and their older states.
	Same map[*world.Archetype]*world.Archetype
}

// Open brings what will be compared.
func (c *Comparing) Open() (err error) {
	lean := c.spare != nil && c.sameIDs()
	if c.Was, err = c.Older.OpenWorld(!lean); err != nil {
		return err
	}
	if c.Is, err = c.Newer.OpenWorld(!lean); err != nil {
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

// sameIDs notes the difference of the ids if none was written, and there are no sparse entries.
func (c *Comparing) sameIDs() bool {
	for _, s := range [...]*snapshot.Snapshot{c.Older, c.Newer} {
		for i := range s.Sets {
			if s.Sets[i].Len() > 0 {
				return false
			}
		}
	}
	was, alone := c.Older.Ids.State()
	is, still := c.Newer.Ids.State()
	if !alone || !still || was.Records != is.Records || was.Blocks != is.Blocks ||
		!c.Older.Layer.Written(snapshot.HistoryOf(c.Older.World).Records, c.Newer.Layer, nil).Empty() {
		return false
	}
	c.ids = &entity.Difference{From: was, To: is}
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

// load loads the rows that will be compared.
func (c *Comparing) load() error {
	twins := map[*world.Archetype]bool{}
	for _, a := range c.Is.Archetypes.List {
		old := archetypeLike(&c.Was.World, a)
		if old == nil {
			if err := a.SnapshotView.LoadAll(); err != nil {
				return err
			}
			continue
		}
		twins[old] = true
		if err := c.bringBoth(a, old); err != nil {
			return err
		}
	}
	for _, old := range c.Was.Archetypes.List {
		if !twins[old] {
			if err := old.SnapshotView.LoadAll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringBoth brings the two states of an archetype, as far as they may differ.
func (c *Comparing) bringBoth(a, old *world.Archetype) error {
	if !old.SnapshotView.IsLike(a.SnapshotView, c.Older.Version) {
		if err := a.SnapshotView.LoadAll(); err != nil {
			return err
		}
		return old.SnapshotView.LoadAll()
	}
	c.Same[a] = old
	for pos := range a.Table.Store.Chunks() {
		if !c.Written(a, pos) {
			continue
		}
		for _, f := range [...]*table.SnapshotView{a.SnapshotView, old.SnapshotView} {
			if err := c.loadChunk(f, pos, len(a.Table.Buffers()) > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadChunk loads the entities of a chunk if the delta will be walked, and all of it where
// headers of buffers will be followed. Other columns are compared without that.
func (c *Comparing) loadChunk(f *table.SnapshotView, pos int, all bool) error {
	if all {
		return f.LoadChunk(pos)
	}
	if c.spare == nil {
		return f.LoadIDs(pos)
	}
	return nil
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
