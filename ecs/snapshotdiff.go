package ecs

import (
	"cmp"
	"fmt"
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
// Cost: chunks of which no unit of 16 KiB was written in between are not looked at. Of those that
// were, and of all archetypes of which rows came, went or moved, both states are copied and
// compared; of the ids, both records are, 8 bytes each.
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
	was, err := older.freeze(true)
	if err != nil {
		return nil, during(op, err)
	}
	is, err := newer.freeze(true)
	if err != nil {
		return nil, during(op, err)
	}
	c := comparing{older: older, newer: newer, was: was, is: is, same: map[*Archetype]*Archetype{}}
	if err := c.bring(); err != nil {
		return nil, during(op, cmp.Or(older.Err(), newer.Err(), refused(err)))
	}
	return diffWorlds(&was.World, &is.World, c.written)
}

// comparing is a comparison of two snapshots under way.
type comparing struct {
	older, newer *Snapshot
	was, is      *frozenWorld
	same         map[*Archetype]*Archetype // archetypes of the newer state whose rows did not come, go or move, and their older states
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
		if !old.frozen.Differs(a.frozen, pos) {
			continue
		}
		if err := a.frozen.ShowChunk(pos); err != nil {
			return err
		}
		if err := old.frozen.ShowChunk(pos); err != nil {
			return err
		}
	}
	return nil
}

// written reports whether rows of a chunk of the newer state may differ from the older one.
func (c *comparing) written(a *Archetype, pos int) bool {
	old := c.same[a]
	return old == nil || old.frozen.Differs(a.frozen, pos)
}
