package snapshot

import (
	"cmp"
	"iter"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// Reading a snapshot. Any goroutines read it while the owner runs frames, jobs and structural
// changes: by queries and handles of the world that took it.

// RowsSince is ecs.Snapshot.RowsSince.
func (s *Snapshot) RowsSince(q *query.Query, version uint32) iter.Seq[query.Rows] {
	return func(yield func(query.Rows) bool) {
		const op = "Snapshot.Rows"
		s.Begin(op)
		defer s.Reading.Add(-1)
		f := s.Read(op, s.useOf(op, q))
		w := &query.Scan{World: s.World, Query: f.over(q, version), Borrow: &f.b}
		defer w.ExpireRows()
		walkSnapshot(w, yield)
	}
}

// Begin counts a reader, which ends with reading.Add(-1).
func (s *Snapshot) Begin(op string) {
	s.Check(op)
	s.Reading.Add(1)
}

// useOf checks the query and returns what a loop over it needs: the records if it names sparse
// types.
func (s *Snapshot) useOf(op string, q *query.Query) (use Use) {
	s.CheckOpen(op)
	q.CheckOpen(op)
	if q.World != s.World {
		panic("ecs: " + op + ": " + q.String() + " is of another world than the snapshot")
	}
	for i := range q.Terms {
		for _, o := range q.Terms[i].Of {
			if o.Type.Place() == world.PerEntity {
				s.checkHas(op, o.Type)
				use = ForRecords
			}
		}
	}
	return use
}

// checkHas panics for a type that was registered after the snapshot.
func (s *Snapshot) checkHas(op string, t *world.Type) {
	if int(t.ID) >= len(s.Types) {
		panic("ecs: " + op + ": " + t.Name + " was registered after the snapshot")
	}
}

// Read returns the world of the snapshot. It panics if the snapshot is closed or lost, and without
// memory.
func (s *Snapshot) Read(op string, use Use) *SnapshotWorld {
	s.CheckOpen(op)
	f, err := s.OpenWorld(use)
	if err != nil {
		panic(world.WithOp(op, err))
	}
	return f
}

// WorldWith returns the world of the snapshot if an entity was alive in it, else nil.
func (s *Snapshot) WorldWith(op string, e entity.ID) *SnapshotWorld {
	f := s.Read(op, ForLookups)
	r, err := f.past.Find(e)
	if err != nil {
		panic(world.WithOp(op, cmp.Or(s.Err(), err)))
	}
	if r == nil {
		return nil
	}
	return f
}

// walkSnapshot yields the chunks of a snapshot's archetypes, with their masks.
func walkSnapshot(s *query.Scan, yield func(query.Rows) bool) {
	q := s.Query
	s.Since = q.Since
	filters := q.MaySkipChunks(q.Since)
	for i := range q.Bindings {
		t := &q.Bindings[i]
		a := t.Archetype
		s.Binding = t
		for pos := range a.Table.Store.Chunks() {
			n := a.Table.Store.RowsOf(pos)
			loadRows(a, pos, n)
			for k := range q.Ranges {
				a.Load(q.Ranges[k].Type.ID, pos, 0, n)
			}
			if filters && !q.ChunkPasses(s.Borrow, a, pos, 0, n, q.Since) {
				continue
			}
			if rows, ok := s.Chunk(pos); ok && !yield(rows) {
				return
			}
		}
	}
}

// loadRows loads the entities of a chunk.
func loadRows(a *world.Archetype, pos, n int) {
	if err := a.SnapshotView.LoadRows(pos, 0, n); err != nil {
		panic(&world.LimitError{Op: "Snapshot.Rows", Err: err})
	}
}

// LookupIn returns the Lookup of a type in a snapshot.
func LookupIn(t *world.Type, op string, s *Snapshot) *world.Lookup {
	if t == nil {
		t.WorldOrNil().Refuse(op)
	}
	f := s.Read(op, ForLookups)
	if t.World != s.World {
		panic("ecs: " + op + ": " + t.Name + " is of another world than the snapshot")
	}
	s.checkHas(op, t)
	return &f.Types.List[t.ID].Lookup
}

// All returns the world of the snapshot with all rows loaded.
func (s *Snapshot) All(op string) *SnapshotWorld {
	s.CheckOpen(op)
	f, err := s.LoadAll()
	if err != nil {
		panic(world.WithOp(op, err))
	}
	return f
}

// VerifyRows checks the invariants of archetypes, rows, buffers, copies of managed values, names,
// ids and sparse sets.
func (f *SnapshotWorld) VerifyRows() error {
	spilled, rows := 0, 0
	for _, a := range f.Archetypes.List {
		if err := a.Verify(&spilled); err != nil {
			return err
		}
		rows += a.Table.Len()
	}
	alive, err := f.IDs.Verify()
	if err != nil {
		return err
	}
	if err := f.VerifyCount(rows, alive); err != nil {
		return err
	}
	if err := f.VerifyNames(); err != nil {
		return err
	}
	if err := f.VerifyManaged(f.Types.Copied); err != nil {
		return err
	}
	return f.VerifySparse()
}
