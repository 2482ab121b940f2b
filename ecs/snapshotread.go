package ecs

import (
	"fmt"
	"iter"
)

// Reading a snapshot. Any goroutines read it while the owner runs frames, jobs and structural
// changes: by queries and handles of the world that took it.

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
	return func(yield func(Rows) bool) {
		const op = "Snapshot.Rows"
		s.begin(op)
		defer s.reading.Add(-1)
		f := s.read(op, s.needsSets(op, q))
		w := &scan{w: s.w, q: f.over(q, version), b: &f.b}
		defer w.turn()
		w.walkFrozen(yield)
	}
}

// begin counts a reader, which ends with reading.Add(-1).
func (s *Snapshot) begin(op string) {
	s.check(op)
	s.reading.Add(1)
}

// needsSets checks the query and reports whether it names sparse types.
func (s *Snapshot) needsSets(op string, q *Query) (names bool) {
	s.checkOpen(op)
	q.checkOpen(op)
	if q.w != s.w {
		// errors.md, Snapshots: `is of another world than the snapshot` | A query or handle of
		// another world. | Those of the world that took the snapshot, or of the fork.
		panic("ecs: " + op + ": " + q.String() + " is of another world than the snapshot")
	}
	for i := range q.terms {
		for _, o := range q.terms[i].of {
			if o.t.place() == perEntity {
				s.checkHas(op, o.t)
				names = true
			}
		}
	}
	return names
}

// checkHas panics for a type that was registered after the snapshot.
func (s *Snapshot) checkHas(op string, t *typeInfo) {
	if int(t.id) >= len(s.types) {
		// errors.md, Snapshots: `was registered after the snapshot` | A look-up of a type that no
		// entity of the snapshot can have, or a query that names such a sparse type. | Register
		// types first.
		panic("ecs: " + op + ": " + t.name + " was registered after the snapshot")
	}
}

// read returns what readers see. It panics if the snapshot is closed or lost, and without memory.
func (s *Snapshot) read(op string, records bool) *frozenWorld {
	s.checkOpen(op)
	f, err := s.freeze(records)
	if err != nil {
		panic(during(op, err))
	}
	return f
}

// walkFrozen yields the chunks of frozen archetypes, with their masks.
func (s *scan) walkFrozen(yield func(Rows) bool) {
	q := s.q
	s.since = q.since
	filters := q.skims(q.since)
	for i := range q.bindings {
		t := &q.bindings[i]
		a := t.a
		s.t = t
		for pos := range a.table.Store.Chunks() {
			n := a.table.Store.RowsOf(pos)
			a.showRows(pos, n)
			for k := range q.ranges {
				a.show(q.ranges[k].t.id, pos, 0, n)
			}
			if filters && !q.passes(s.b, a, pos, 0, n, q.since) {
				continue
			}
			if rows, ok := s.chunk(pos); ok && !yield(rows) {
				return
			}
		}
	}
}

// showRows brings the entities of a chunk.
func (a *Archetype) showRows(pos, n int) {
	if err := a.frozen.ShowRows(pos, 0, n); err != nil {
		panic(&LimitError{Op: "Snapshot.Rows", Err: err})
	}
}

// LookupIn returns a Lookup that finds the component as it was in a snapshot. Any goroutine may use
// it until the snapshot is closed. The first look-up in a snapshot copies the records of all ids, 8
// bytes each. LookupIn panics like Snapshot.Rows, and so does a look-up that must copy; look-ups
// that write, such as Lookup.Set, panic.
func (c Component[T]) LookupIn(s *Snapshot) Lookup[T] {
	return Lookup[T]{lookup{c.t.lookupIn("Component.LookupIn", s)}}
}

// LookupIn returns a BufferLookup that finds the buffer as it was in a snapshot; see
// Component.LookupIn.
func (b Buffer[T]) LookupIn(s *Snapshot) BufferLookup[T] {
	return BufferLookup[T]{lookup{b.t.lookupIn("Buffer.LookupIn", s)}}
}

// LookupIn returns a SparseLookup that finds the values as they were in a snapshot; see
// Component.LookupIn.
func (s Sparse[T]) LookupIn(of *Snapshot) SparseLookup[T] {
	return SparseLookup[T]{sparseLookup{s.t.lookupIn("Sparse.LookupIn", of)}}
}

// refusePast panics where what a snapshot shows would be written.
func (t *typeInfo) refusePast(op string) {
	// errors.md, Snapshots: `is of a snapshot, which is only read` | `Set`, `Mut`, `Enable`,
	// `Disable` of a look-up of `LookupIn`, or a mark or a switch in rows of a snapshot. | Write
	// the world, or a `Fork` of the snapshot.
	panic("ecs: " + op + ": " + t.name + " is of a snapshot, which is only read")
}

// lookupIn returns the finder of a type in a snapshot.
func (t *typeInfo) lookupIn(op string, s *Snapshot) *finder {
	if t == nil {
		t.world().refuse(op)
	}
	f := s.read(op, true)
	if t.w != s.w {
		panic("ecs: " + op + ": " + t.name + " is of another world than the snapshot")
	}
	s.checkHas(op, t)
	return &f.types.list[t.id].finder
}

// Alive reports whether e was alive. Any goroutine may call it; see Component.LookupIn.
func (s *Snapshot) Alive(e Entity) bool {
	return s.read("Snapshot.Alive", true).find(e) != nil
}

// Locate returns where e's values were, or false if e was not alive. The archetype is the
// snapshot's. It panics for an entity of another world. Any goroutine may call it.
func (s *Snapshot) Locate(e Entity) (Location, bool) {
	return s.read("Snapshot.Locate", true).locate("Snapshot.Locate", e)
}

// Name returns the name that e had, or "". Any goroutine may call it.
func (s *Snapshot) Name(e Entity) string {
	f := s.read("Snapshot.Name", true)
	if f.find(e) == nil {
		return ""
	}
	return f.names.Of(e.index())
}

// Named returns the entity that had a name; if several had it, the one that was named last. Any
// goroutine may call it.
func (s *Snapshot) Named(text string) (Entity, bool) {
	return s.read("Snapshot.Named", false).Named(text)
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
	s.begin(op)
	defer s.reading.Add(-1)
	return s.all(op).Hash()
}

// all returns what readers see, of which nothing is missing.
func (s *Snapshot) all(op string) *frozenWorld {
	s.checkOpen(op)
	f, err := s.bringAll()
	if err != nil {
		panic(during(op, err))
	}
	return f
}

// Verify checks the invariants of what the snapshot shows, as World.Verify does for the world. Any
// goroutine may call it.
func (s *Snapshot) Verify() error {
	const op = "Snapshot.Verify"
	s.begin(op)
	defer s.reading.Add(-1)
	return s.all(op).verifyRows()
}

// verifyRows checks the invariants of archetypes, rows, buffers, copies of managed values, names,
// ids and sparse sets.
func (f *frozenWorld) verifyRows() error {
	spilled, rows := 0, 0
	for _, a := range f.archetypes.list {
		if err := a.verify(&spilled); err != nil {
			return err
		}
		rows += a.table.Len()
	}
	alive, err := f.ids.Verify()
	if err != nil {
		return err
	}
	if err := f.verifyCount(rows, alive); err != nil {
		return err
	}
	if err := f.verifyNames(); err != nil {
		return err
	}
	if err := f.verifyManaged(f.types.copied); err != nil {
		return err
	}
	return f.verifySparse()
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
	s.checkOpen(op)
	checkOptions(op, options)
	for i := range s.archetypes {
		if st := &s.archetypes[i]; st.table.Len() > 0 {
			if err := st.a.refuseManaged(); err != nil {
				return nil, fmt.Errorf("ecs: %s: %w", op, err)
			}
		}
	}
	s.reading.Add(1) // a copy function cannot close the snapshot
	defer s.reading.Add(-1)
	f, err := s.bringAll()
	if err != nil {
		return nil, during(op, err)
	}
	return f.copied(op, true, options)
}
