package ecs

import (
	"fmt"

	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/world"
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
		s.inner().Begin(op)
		defer s.core.Reading.Add(-1)
		s.inner().CheckOpen(op)
	}
	if older.core.World != newer.core.World || older.core.Layer.Number() > newer.core.Layer.Number() {
		return nil, fmt.Errorf("ecs: Diff: %w: the snapshots are of different worlds, or in the wrong order", ErrDelta)
	}
	c := delta.Comparing{Older: older.inner(), Newer: newer.inner(), Same: map[*world.Archetype]*world.Archetype{}}
	if err := c.Open(); err != nil {
		return nil, world.During(op, err)
	}
	made, err := delta.Diff(&c.Was.World, &c.Is.World, c.Written, &c)
	return deltaFrom(made), err
}
