package ecs

import (
	"cmp"
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/table"
	"quarry/internal/seam/under"
)

// Diff returns what changed in a world from an older snapshot to a newer one, exact by bytes: the
// entities that were born and died, types that they gained and lost, values, elements of buffers,
// enable bits, shared values, sparse entries and names. Two snapshots are older and newer by the
// order in which they were taken, also if the world was restored in between; only if the restore
// took back blocks of 8,192 ids that the older one has, Diff refuses.
//
// Any goroutine may call Diff. The delta can be walked until one of the snapshots is closed or
// renewed; to keep it, see EncodeDelta. The error wraps ErrDelta: the snapshots are of different
// worlds or in the wrong order, or values of managed types or shared values cannot be compared; or
// it says that a snapshot is lost, or is a *LimitError.
//
// Cost: units of 16 KiB that were not written in between are not looked at. Of those that were, and
// of all archetypes of which rows came, went or moved, both states are copied and compared; of the
// ids, both records are, 8 bytes each.
func Diff(older, newer *Snapshot) (*Delta, error) {
	const op = "Diff"
	for _, s := range [...]*Snapshot{older, newer} {
		s.begin(op)
		defer s.reading.Add(-1)
		s.checkOpen(op)
	}
	if older.w != newer.w || older.layer.Number() > newer.layer.Number() {
		return nil, fmt.Errorf("ecs: Diff: %w: the snapshots are of different worlds, or in the wrong order", ErrDelta)
	}
	c := comparing{older: older, newer: newer, same: map[*Archetype]*Archetype{}}
	if err := c.open(); err != nil {
		return nil, during(op, err)
	}
	return diff(&c.was.World, &c.is.World, c.written, &c)
}

// appendDelta appends the encoding of what Diff returns; memory that it needs meanwhile comes from
// spare. It looks at no ids, and copies none, where none has changed and there are no entries of
// sparse types.
func appendDelta(dst []byte, older, newer *Snapshot, spare *under.DeltaSpare) ([]byte, error) {
	const op = "Diff"
	for _, s := range [...]*Snapshot{older, newer} {
		s.begin(op)
		defer s.reading.Add(-1)
		s.checkOpen(op)
	}
	c := comparing{older: older, newer: newer, spare: spare, same: map[*Archetype]*Archetype{}}
	if err := c.open(); err != nil {
		return dst, during(op, err)
	}
	d, err := diff(&c.was.World, &c.is.World, c.written, &c)
	if err != nil {
		return dst, err
	}
	dst = d.appendTo(slices.Grow(dst, deltaFrame+d.size()))
	for i := range d.tables {
		for k := range d.tables[i].columns {
			spare.Give(d.tables[i].columns[k].runs)
		}
	}
	spare.Written = c.set
	return dst, nil
}

// comparing is a comparison of two snapshots under way. It compares what was written in between, in
// units of 16 KiB.
type comparing struct {
	older, newer *Snapshot
	was, is      *frozenWorld
	spare        *under.DeltaSpare         // nil: the delta will be walked
	set          past.Written              // units of the universe that were written
	ids          *entity.Difference        // nil: they are to be compared
	same         map[*Archetype]*Archetype // archetypes of the newer state whose rows did not come, go or move, and their older states
}

// open brings what will be compared.
func (c *comparing) open() (err error) {
	lean := c.spare != nil && c.sameIDs()
	if c.was, err = c.older.freeze(!lean); err != nil {
		return err
	}
	if c.is, err = c.newer.freeze(!lean); err != nil {
		return err
	}
	if c.spare != nil {
		c.set = c.spare.Written
	}
	c.set = c.older.layer.Written(c.older.w.history.rows, c.newer.layer, c.set)
	if err := c.bring(); err != nil {
		return cmp.Or(c.older.Err(), c.newer.Err(), refused(err))
	}
	return nil
}

// sameIDs notes the difference of the ids if none was written, and there are no sparse entries.
func (c *comparing) sameIDs() bool {
	for _, s := range [...]*Snapshot{c.older, c.newer} {
		for i := range s.sets {
			if s.sets[i].Len() > 0 {
				return false
			}
		}
	}
	was, alone := c.older.ids.State()
	is, still := c.newer.ids.State()
	if !alone || !still || was.Records != is.Records || was.Blocks != is.Blocks ||
		!c.older.layer.Written(c.older.w.history.records, c.newer.layer, nil).Empty() {
		return false
	}
	c.ids = &entity.Difference{From: was, To: is}
	return true
}

// difference returns the difference of the ids if it is known. c may be nil.
func (c *comparing) difference() *entity.Difference {
	if c == nil {
		return nil
	}
	return c.ids
}

// spares returns the memory for runs, nil if there is none. c may be nil.
func (c *comparing) spares() *under.DeltaSpare {
	if c == nil {
		return nil
	}
	return c.spare
}

// bring brings the rows that will be compared.
func (c *comparing) bring() error {
	twins := map[*Archetype]bool{}
	for _, a := range c.is.archetypes.list {
		old := c.was.archetypeLike(a)
		if old == nil {
			if err := a.frozen.ShowAll(); err != nil {
				return err
			}
			continue
		}
		twins[old] = true
		if err := c.bringBoth(a, old); err != nil {
			return err
		}
	}
	for _, old := range c.was.archetypes.list {
		if !twins[old] {
			if err := old.frozen.ShowAll(); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringBoth brings the two states of an archetype, as far as they may differ.
func (c *comparing) bringBoth(a, old *Archetype) error {
	if !old.frozen.IsLike(a.frozen, c.older.version) {
		if err := a.frozen.ShowAll(); err != nil {
			return err
		}
		return old.frozen.ShowAll()
	}
	c.same[a] = old
	for pos := range a.table.Store.Chunks() {
		if !c.written(a, pos) {
			continue
		}
		for _, f := range [...]*table.Frozen{a.frozen, old.frozen} {
			if err := c.bringChunk(f, pos, len(a.table.Buffers()) > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringChunk brings the entities of a chunk if the delta will be walked, and all of it where
// headers of buffers will be followed. Other columns are compared without that.
func (c *comparing) bringChunk(f *table.Frozen, pos int, all bool) error {
	if all {
		return f.ShowChunk(pos)
	}
	if c.spare == nil {
		return f.ShowIDs(pos)
	}
	return nil
}

// units returns the units of a chunk of the newer state that were written, for archetypes in same.
func (c *comparing) units(a *Archetype, pos int) uint64 { return a.frozen.WrittenIn(c.set, pos) }

// written reports whether rows of a chunk of the newer state may differ from the older one.
func (c *comparing) written(a *Archetype, pos int) bool {
	old := c.same[a]
	return old == nil || c.units(a, pos) != 0 || old.frozen.BooksDiffer(a.frozen, pos)
}
