package ecs

import (
	"fmt"
	"iter"

	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/world"
)

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

// LookupIn returns a Lookup that finds the component as it was in a snapshot. Any goroutine may use
// it until the snapshot is closed. The first look-up in a snapshot copies the records of all ids, 8
// bytes each. LookupIn panics like Snapshot.Rows, and so does a look-up that must copy; look-ups
// that write, such as Lookup.Set, panic.
func (c Component[T]) LookupIn(s *Snapshot) Lookup[T] {
	return Lookup[T]{lookup{snapshot.LookupIn(c.t, "Component.LookupIn", s.inner())}}
}

// LookupIn returns a BufferLookup that finds the buffer as it was in a snapshot; see
// Component.LookupIn.
func (b Buffer[T]) LookupIn(s *Snapshot) BufferLookup[T] {
	return BufferLookup[T]{lookup{snapshot.LookupIn(b.t, "Buffer.LookupIn", s.inner())}}
}

// LookupIn returns a SparseLookup that finds the values as they were in a snapshot; see
// Component.LookupIn.
func (s Sparse[T]) LookupIn(of *Snapshot) SparseLookup[T] {
	return SparseLookup[T]{sparseLookup{snapshot.LookupIn(s.t, "Sparse.LookupIn", of.inner())}}
}

// Alive reports whether e was alive. Any goroutine may call it; see Component.LookupIn.
func (s *Snapshot) Alive(e Entity) bool {
	return s.inner().Read("Snapshot.Alive", true).Find(entity.ID(e)) != nil
}

// Locate returns where e's values were, or false if e was not alive. The archetype is the
// snapshot's. It panics for an entity of another world. Any goroutine may call it.
func (s *Snapshot) Locate(e Entity) (Location, bool) {
	return s.then("Snapshot.Locate", true).locate("Snapshot.Locate", e)
}

// then returns the world as it was; see world.Snapshot.Read.
func (s *Snapshot) then(op string, records bool) *World {
	return worldFrom(&s.inner().Read(op, records).World)
}

// Name returns the name that e had, or "". Any goroutine may call it.
func (s *Snapshot) Name(e Entity) string {
	f := s.inner().Read("Snapshot.Name", true)
	if f.Find(entity.ID(e)) == nil {
		return ""
	}
	return f.Names.Of(e.index())
}

// Named returns the entity that had a name; if several had it, the one that was named last. Any
// goroutine may call it.
func (s *Snapshot) Named(text string) (Entity, bool) {
	return s.then("Snapshot.Named", false).Named(text)
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
// world. An error is as of World.Clone, or says that the snapshot is lost or that there are managed
// values without CopyWith. Cost: a copy of all rows and managed values.
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
	f, err := s.inner().BringAll()
	if err != nil {
		return nil, world.During(op, err)
	}
	made, err := edit.Copied(&f.World, op, true, onCore(allOf(options)))
	return worldFrom(made), err
}
