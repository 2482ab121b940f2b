package ecs

import "quarry/ecs/internal/snapshot"

// Restore puts the world back to the state of one of its snapshots. Entities that were created
// since are dead, those that were destroyed are alive under the same id, and the ids that come next
// are those that came next then. Rows, values, buffers, enable bits, sparse entries, names and the
// order of rows are as they were. Types and queries that came since stay. Archetypes that came
// since are given up, except those of NewArchetype and those that newer snapshots have: they keep
// their places in the order of archetypes, by which queries go. So for queries to go in the order
// in which they go without the detour, make archetypes by NewArchetype first, or close newer
// snapshots before. Managed values are copied from the snapshot's by the functions of CopyWith, so
// it can be restored again. A *T in hand shows the value of then, and zero if the value came since.
//
// Versions go on forward: what differed is marked changed now. A type is marked in the chunks in
// which its values differed, and in all chunks of an archetype of which rows came, went or moved. A
// managed type with CopyWith is marked in all its chunks.
//
// Ids that were reserved since are void, and so are commands that were recorded since, not played,
// and name entities that came since: Play refuses those by name. The snapshot and all others stay,
// newer ones too.
//
// The error says that the snapshot is lost, or that there are managed values without CopyWith,
// which cannot be brought back, or is a *LimitError: there is no memory to keep what newer
// snapshots need. Then nothing has changed, as after a panic of a function of CopyWith. Restore
// panics for a snapshot of another world and for a closed one, inside a loop over rows and while
// the world is shared; it completes jobs. Goroutines may reserve ids meanwhile; ids that were
// reserved since the snapshot was taken are reserved no longer. Cost: what differs, a few ns for
// each 16 KiB that does not, a look at the headers of buffers of archetypes that differ, and a copy
// of all managed values.
func (w *World) Restore(s *Snapshot) error { return snapshot.Restore(w.inner(), s.inner()) }
