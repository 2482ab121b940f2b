package snapshot

import (
	"cmp"
	"slices"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Readers of a snapshot see a world of its own: the same types, archetypes, ids and names, made
// when the snapshot is first read. Its rows lie in mirrors of the chunks (table.SnapshotView), into
// which units are copied when they are first read. Look-ups find records in pages that are copied
// when they are first asked for; sparse sets are whole copies, made by the first look-up, and so
// are the records, for those who walk all ids. So walks, look-ups, Hash, Verify and Clone run the
// same code as for any world.
//
//	Rows of a snapshot   handles and scan of the live world, bindings to archetypes of the snapshot, with barriers
//	look-ups             Lookups with disabled look-up tables, so that they call Lookup.miss
//
// Goroutines: the first that needs a part makes it, and holds the snapshot's lock.

// SnapshotWorld is the world that readers of a snapshot see.
type SnapshotWorld struct {
	world.World
	b    query.Borrow // of its readers
	past entity.PastRecords
	has  Use // what is there
}

// Use is what a reader does, which says what the world that it sees must have.
type Use uint8

const (
	ForRows    Use = iota // types, archetypes, names
	ForLookups            // and sparse sets, and where the rows of a record are
	ForRecords            // and the ids with all records
)

// OpenWorld returns the world that readers see. The error is from the universe, or the reason why
// the snapshot is lost.
func (s *Snapshot) OpenWorld(use Use) (*SnapshotWorld, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Err(); err != nil {
		return nil, err
	}
	if s.view == nil {
		f := new(SnapshotWorld)
		if err := f.open(s); err != nil {
			f.free()
			return nil, err
		}
		s.view = f
	}
	f := s.view
	if use >= ForLookups && f.has < ForLookups {
		if err := f.openLookups(s); err != nil {
			return nil, cmp.Or(s.Err(), err)
		}
		f.has = ForLookups
	}
	if use >= ForRecords && f.has < ForRecords {
		if err := f.IDs.OpenSnapshotView(&s.World.IDs, HistoryOf(s.World).Records, &s.Ids, s.Layer); err != nil {
			return nil, cmp.Or(s.Err(), world.LimitErrorOf(err))
		}
		f.has = ForRecords
	}
	return f, nil
}

// open makes the types and archetypes.
func (f *SnapshotWorld) open(s *Snapshot) error {
	live := s.World
	f.Universe, f.Base, f.Growth = live.Universe, live.Base, live.Growth
	f.Types.Open()
	f.Archetypes.Open()
	f.QueryEpochs = world.QueryEpochs{Matched: 1, OwnerMatched: 1}
	query.OpenScans(&f.World)
	f.IDs.Open(live.Universe, live.IDs.Tag())
	f.Tables.Open(live.Universe, live.Growth, &f.IDs, table.Calls{Trim: func() int { return 0 }, Replanned: func() {}})
	f.Writer.Open(&f.IDs, &f.Tables, &f.Buffers, change.Calls{
		TableAt: func(i uint32) *table.Table { return &f.Archetypes.List[i].Table.Table }, Records: func() {},
	})
	f.Index.Open()
	for _, part := range openOrder {
		if err := opens[part].do(f, s); err != nil {
			return err
		}
	}
	return nil
}

// add makes an archetype.
func (f *SnapshotWorld) add(s *Snapshot, from *archetypeState) error {
	live := from.Archetype
	a := &world.Archetype{World: &f.World, Values: live.Values, Key: f.Archetypes.KeyOf(&live.Table.Sig, live.Values),
		CleanupOnly: live.CleanupOnly, DestroyedByChange: live.DestroyedByChange, LastKey: world.NoKey,
		Pinned: from.Pinned}
	view, err := a.Table.OpenSnapshotView(&f.Tables, uint32(len(f.Archetypes.List)), live.Table.Sig, &from.Table,
		HistoryOf(s.World).Rows, s.Layer)
	if err != nil {
		return world.LimitErrorOf(err)
	}
	a.SnapshotView, a.Table.Values = view, live.Table.Values
	f.Archetypes.Add(a)
	return nil
}

// openLookups makes the sparse sets, and what finds rows by the records.
func (f *SnapshotWorld) openLookups(s *Snapshot) error {
	for i, t := range f.Types.Sparse {
		if err := t.Sparse.OpenSnapshotView(&s.Types[t.ID].Sparse.Set, &s.Sets[i], s.Layer); err != nil {
			return world.LimitErrorOf(err)
		}
	}
	for _, a := range f.Archetypes.List {
		a.SnapshotView.Place(&f.Tables)
	}
	f.past.Open(&s.World.IDs, HistoryOf(s.World).Records, &s.Ids, s.Layer)
	return nil
}

// LoadAll makes all parts, and loads all rows.
func (s *Snapshot) LoadAll() (*SnapshotWorld, error) {
	f, err := s.OpenWorld(ForRecords)
	if err != nil {
		return nil, err
	}
	for _, a := range f.Archetypes.List {
		if err := a.SnapshotView.LoadAll(); err != nil {
			return nil, cmp.Or(s.Err(), err)
		}
	}
	return f, nil
}

// free frees the memory of the world.
func (f *SnapshotWorld) free() {
	for _, a := range f.Archetypes.List {
		a.SnapshotView.Free()
	}
	for _, t := range f.Types.Sparse {
		_ = t.Sparse.Close() // what the system does not take back now goes with the universe
	}
	_ = f.IDs.CloseSnapshotView()
	f.past.Close()
}

// over returns the query as readers of the snapshot see it: it reads what the query declares, and
// its bindings are archetypes of the snapshot.
func (f *SnapshotWorld) over(q *query.Query, since uint32) *query.Query {
	c := &query.Query{World: q.World, Terms: q.Terms, Allowed: make([]uint8, len(q.Allowed)), Changed: q.Changed,
		MaskedNew: q.MaskedNew, Sets: slices.Clone(q.Sets), Ordered: q.Ordered, Ranges: q.Ranges,
		Masked: q.Masked, Pinned: true, Since: since, OfAll: q.OfAll}
	for id, access := range q.Allowed {
		c.Allowed[id] = world.WithBarrier(access) &^ (world.MayWrite | world.BarrierWrite)
	}
	for _, set := range q.Watched {
		c.Watched = append(c.Watched, f.setOf(set))
	}
	for i := range c.Sets {
		c.Sets[i].Of = f.typesOf(c.Sets[i].Of)
	}
	filter := &q.Matching.Filter
	for _, a := range f.Archetypes.List {
		if filter.Wants(&a.Table) && a.Table.Len() > 0 {
			c.Bindings = append(c.Bindings,
				c.BindingOf(&match.Match{Entry: &a.Table, Tests: filter.TestsOf(&a.Table)}, f.Types.List))
		}
	}
	return c
}

// typesOf returns the snapshot's counterparts of types.
func (f *SnapshotWorld) typesOf(list []*world.Type) (to []*world.Type) {
	for _, t := range list {
		to = append(to, f.Types.List[t.ID])
	}
	return to
}

// setOf returns the snapshot's counterpart of a set.
func (f *SnapshotWorld) setOf(set *world.SparseSet) *world.SparseSet {
	return f.Types.List[set.Type.ID].Sparse
}
