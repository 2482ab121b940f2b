package ecs

import (
	"fmt"
	"iter"
	"unsafe"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/past"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/world"
)

// Snapshot is the state of a world at one moment. Taking it copies no row: a writer of rows from
// then on has their old bytes kept first, in pieces of 1 KiB, each of which is copied once. Any
// number of snapshots of a world may be alive.
//
// Rows do not move because of a snapshot, and slices and pointers in hand stay good to read. To
// write, they are taken anew after a snapshot, as after a structural change: a write through an old
// one changes the snapshot too. Debug builds find it and panic, at the latest when the snapshot is
// closed; for that they hash all rows when a snapshot is taken.
//
// Buffers that have spilled move to a new block when they are first opened to write; until the
// snapshot is closed the old one stays, with what it held. Chunks and blocks that are freed
// meanwhile wait until no snapshot has them.
//
// Taking, restoring and closing belong to the world's owner; any goroutine may read.
//
// If there is no memory to keep old bytes, the write goes on and the snapshots that lack the bytes
// are lost: Err returns the reason, and every reader of them fails with it.
type Snapshot struct{ core snapshot.Snapshot }

func (s *Snapshot) inner() *snapshot.Snapshot {
	return (*snapshot.Snapshot)(unsafe.Pointer(s)) // Safe because a Snapshot is its core.
}
func snapshotFrom(s *snapshot.Snapshot) *Snapshot {
	return (*Snapshot)(unsafe.Pointer(s)) // Safe because a Snapshot is its core.
}

// Snapshot takes a snapshot of the world: the state at this moment. It copies what the world knows
// about chunks and ids, not the rows: 16 us for a million entities of 40 bytes on an AMD EPYC, most
// of it for a bit per index. A bit per row and type that can be disabled is copied too, and
// versions of rows, 4 bytes each. Values of managed types with CopyWith are all copied, by a call
// of the function for each, into Go memory. It advances the world's version, and completes jobs.
// Close the snapshot when it is no longer needed.
//
// Snapshot panics inside a loop over rows and while the world is lent. Goroutines may reserve ids
// meanwhile.
func (w *World) Snapshot() *Snapshot { return snapshotFrom(snapshot.Take(w.inner())) }

// Renew closes the snapshot, unless it is closed, and takes it anew: what World.Snapshot would
// return, in the same memory. A ring of snapshots that are renewed allocates nothing, but for what
// functions of CopyWith allocate. It panics where World.Snapshot and Close do. After a panic of
// such a function the snapshot is closed.
func (s *Snapshot) Renew() { s.inner().Renew() }

// Close ends the snapshot and frees what it alone has. It panics inside a loop over rows, and while
// a goroutine loops over the snapshot's rows or is in Hash, Verify or Diff; a second call does
// nothing. Goroutines that look up, or walk a Delta, are not noticed: they must be
// done.
func (s *Snapshot) Close() { s.inner().Close() }

// Err returns why the snapshot is lost, or nil. It is lost if there was no memory to keep bytes
// that were about to be written. The error wraps that of package alloc. Any goroutine may call it.
func (s *Snapshot) Err() error { return s.inner().Err() }

// Version returns the world's version when the snapshot was taken: what changed since is newer.
func (s *Snapshot) Version() uint32 {
	s.inner().Check("Snapshot.Version")
	return s.core.Version
}

// Kept returns the bytes of old rows and records that the snapshot has for itself and for older
// ones.
func (s *Snapshot) Kept() int {
	s.inner().CheckOpen("Snapshot.Kept")
	return s.core.Layer.Units() * past.UnitSize
}

// Rows yields the rows of the snapshot that match a query of its world, as Query.Rows does: the
// chunks of then, with masks by the enable bits of then. Rows are for reading, whatever the query
// declares; Slice, ReadOnly, At of buffers, chunk types and shared types, Entities and masks work
// as in other loops; At of a managed type returns the copy that the snapshot has, and refuses types
// without CopyWith. Changed and Ordered terms pass all chunks; see RowsSince.
//
// Any goroutine may loop; the query must not be closed meanwhile. Columns are copied when they are
// first asked for, 16 KiB at a time, so a loop costs a copy of what it reads, once per snapshot.
// Rows panics with the error of Err if the snapshot is lost, with a *LimitError if there is no
// memory for the copies, and if the snapshot is closed.
func (s *Snapshot) Rows(q *Query) iter.Seq[Rows] { return s.RowsSince(q, 0) }

// RowsSince is Rows for queries with Changed and Ordered terms: they compare with a version, such
// as the Version of an older snapshot.
func (s *Snapshot) RowsSince(q *Query, version uint32) iter.Seq[Rows] {
	return func(yield func(Rows) bool) { s.inner().RowsSince(q.inner(), version)(coreYield(yield)) }
}

// Alive reports whether e was alive. Any goroutine may call it; see Component.Lookup.
func (s *Snapshot) Alive(e Entity) bool {
	return s.inner().WorldWith("Snapshot.Alive", entity.ID(e)) != nil
}

// then returns the world as it was; see world.Snapshot.Read.
func (s *Snapshot) then(op string, use snapshot.Use) *World {
	return worldFrom(&s.inner().Read(op, use).World)
}

// Name returns the name that e had, or "". Any goroutine may call it.
func (s *Snapshot) Name(e Entity) string {
	f := s.inner().WorldWith("Snapshot.Name", entity.ID(e))
	if f == nil {
		return ""
	}
	return f.Names.Of(e.index())
}

// Named returns the entity that had a name, of several the last named. Any goroutine may call it.
func (s *Snapshot) Named(text string) (Entity, bool) {
	return s.then("Snapshot.Named", snapshot.ForRows).Named(text)
}

// Count returns the number of entities that match a query. Any goroutine may call it; see Rows.
func (s *Snapshot) Count(q *Query) (n int) {
	for rows := range s.Rows(q) {
		n += rows.Count()
	}
	return n
}

// Hash returns what World.Hash was. Any goroutine may call it. Cost: it copies what was not read
// yet, and reads every row. It panics like Rows.
func (s *Snapshot) Hash() uint64 {
	const op = "Snapshot.Hash"
	s.inner().Begin(op)
	defer s.core.Reading.Add(-1)
	return s.inner().All(op).Hash()
}

// Verify checks the invariants of what the snapshot shows, as World.Verify does for the world. Any
// goroutine may call it.
func (s *Snapshot) Verify() error {
	const op = "Snapshot.Verify"
	s.inner().Begin(op)
	defer s.core.Reading.Add(-1)
	return s.inner().All(op).VerifyRows()
}

// Fork makes an independent world of the snapshot: what the snapshot's world was, with its hash,
// its ids and the ids that come next. Managed values are copied by the functions of CopyWith; if a
// function panics, there is no fork. It takes the options of World.Clone. Unlike a clone, the fork
// keeps the world's tag, which the entities in its columns carry; so the two worlds take each
// other's entities for their own (docs/decisions/0036). Fork belongs to the owner of the snapshot's
// world. An error is as of World.Clone, or means that the snapshot is lost or that there are
// managed values without CopyWith. Cost: a copy of all rows and managed values.
func (s *Snapshot) Fork(options ...Option) (*World, error) {
	const op = "Snapshot.Fork"
	s.inner().CheckOpen(op)
	checkOptions(op, options)
	for i := range s.core.Archetypes {
		if st := &s.core.Archetypes[i]; st.Table.Len() > 0 {
			if err := snapshot.RefuseManaged(st.Archetype); err != nil {
				return nil, fmt.Errorf("ecs: %s: %w", op, err)
			}
		}
	}
	s.core.Reading.Add(1) // a copy function cannot close the snapshot
	defer s.core.Reading.Add(-1)
	f, err := s.inner().LoadAll()
	if err != nil {
		return nil, world.WithOp(op, err)
	}
	made, err := edit.Copied(&f.World, op, true, onCore(allOf(options)))
	return worldFrom(made), err
}

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
// An error means that the snapshot is lost, or that there are managed values without CopyWith,
// which cannot be brought back, or is a *LimitError: there is no memory to keep what newer
// snapshots need. Then nothing has changed, as after a panic of a function of CopyWith. Restore
// panics for a snapshot of another world and for a closed one, inside a loop over rows and while
// the world is lent; it completes jobs. Goroutines may reserve ids meanwhile; ids that were
// reserved since the snapshot was taken are reserved no longer. Cost: what differs, a few ns for
// each 16 KiB that does not, a look at the headers of buffers of archetypes that differ, and a copy
// of all managed values.
func (w *World) Restore(s *Snapshot) error { return snapshot.Restore(w.inner(), s.inner()) }
