package snapshot

import (
	"cmp"
	"errors"
	"slices"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Readers of a snapshot see a frozen world: the same types, archetypes, ids and names, made when
// somebody reads the snapshot for the first time. Its rows lie in mirrors of the chunks
// (table.Frozen), to which units come when they are first shown; its records and sparse sets are
// whole copies, made by the first look-up. So walks, look-ups, Hash, Verify and Clone are the code
// that they are for any world.
//
//	Rows of a snapshot   handles and scan of the live world, bindings to frozen archetypes, all gated
//	look-ups             finders with hidden Sights, so that they come to Finder.miss
//
// Goroutines: the first that needs a part makes it, under the snapshot's lock.

// FrozenWorld is the world that readers of a snapshot see.
type FrozenWorld struct {
	world.World
	b       query.Borrow // of its readers
	records bool         // the ids, the records and the sparse sets are there
}

// Freeze returns the frozen world, with ids and records if they are asked for. The error is from
// the universe, or says that the snapshot is lost.
func (s *Snapshot) Freeze(records bool) (*FrozenWorld, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Err(); err != nil {
		return nil, err
	}
	if s.frozen == nil {
		f := new(FrozenWorld)
		if err := f.open(s); err != nil {
			f.free()
			return nil, err
		}
		s.frozen = f
	}
	if f := s.frozen; records && !f.records {
		if err := f.bringRecords(s); err != nil {
			return nil, cmp.Or(s.Err(), err)
		}
		f.records = true
	}
	return s.frozen, nil
}

// open makes the types and archetypes.
func (f *FrozenWorld) open(s *Snapshot) error {
	live := s.World
	f.Universe, f.Base, f.Growth = live.Universe, live.Base, live.Growth
	f.Types.Open()
	f.Archetypes.Open()
	f.News = world.News{Matched: 1, Unshared: 1}
	query.OpenScans(&f.World)
	f.IDs.Open(live.Universe, live.IDs.Tag())
	f.Tables.Open(live.Universe, live.Growth, &f.IDs, table.Calls{Trim: func() int { return 0 }, Replanned: func() {}})
	f.Rows.Open(&f.IDs, &f.Tables, &f.Buffers, change.Calls{
		TableAt: func(i uint32) *table.Table { return &f.Archetypes.List[i].Table.Table }, Records: func() {},
	})
	f.Index.Open()
	for _, part := range freezeOrder {
		if err := freezes[part].do(f, s); err != nil {
			return err
		}
	}
	return nil
}

// add makes an archetype.
func (f *FrozenWorld) add(s *Snapshot, from *archetypeState) error {
	live := from.Archetype
	a := &world.Archetype{World: &f.World, Values: live.Values, Key: f.Archetypes.KeyOf(&live.Table.Sig, live.Values),
		Dying: live.Dying, Lasting: live.Lasting, EdgeKey: world.NoEdge, Pinned: from.Pinned}
	frozen, err := a.Table.Freeze(&f.Tables, uint32(len(f.Archetypes.List)), live.Table.Sig, &from.Table,
		HistoryOf(s.World).Rows, s.Layer)
	if err != nil {
		return world.Refused(err)
	}
	a.Frozen, a.Table.Values = frozen, live.Table.Values
	f.Archetypes.Add(a)
	return nil
}

// bringRecords makes the ids, the records and the sparse sets.
func (f *FrozenWorld) bringRecords(s *Snapshot) error {
	if err := f.IDs.Freeze(&s.World.IDs, HistoryOf(s.World).Records, &s.Ids, s.Layer); err != nil {
		return world.Refused(err)
	}
	for i, t := range f.Types.Sparse {
		if err := t.Sparse.Freeze(&s.Types[t.ID].Sparse.Set, &s.Sets[i], s.Layer); err != nil {
			return world.Refused(errors.Join(err, f.IDs.Thaw()))
		}
	}
	for _, a := range f.Archetypes.List {
		a.Frozen.Place(&f.Tables)
	}
	return nil
}

// BringAll makes all that a reader may ask for.
func (s *Snapshot) BringAll() (*FrozenWorld, error) {
	f, err := s.Freeze(true)
	if err != nil {
		return nil, err
	}
	for _, a := range f.Archetypes.List {
		if err := a.Frozen.ShowAll(); err != nil {
			return nil, cmp.Or(s.Err(), err)
		}
	}
	return f, nil
}

// free gives the memory back.
func (f *FrozenWorld) free() {
	for _, a := range f.Archetypes.List {
		a.Frozen.Free()
	}
	for _, t := range f.Types.Sparse {
		_ = t.Sparse.Close() // what the system does not take back now goes with the universe
	}
	_ = f.IDs.Thaw()
}

// over returns the query as readers of the snapshot see it: it reads what the query declares, and
// its bindings are frozen archetypes.
func (f *FrozenWorld) over(q *query.Query, since uint32) *query.Query {
	c := &query.Query{World: q.World, Terms: q.Terms, Allowed: make([]uint8, len(q.Allowed)), Changed: q.Changed,
		MaskedNew: q.MaskedNew,
		Sets:      slices.Clone(q.Sets), Ordered: q.Ordered, Ranges: q.Ranges, Masked: q.Masked,
		Pinned: true, Since: since,
		OfAll: q.OfAll}
	for id, access := range q.Allowed {
		c.Allowed[id] = world.Gated(access) &^ (world.MayWrite | world.GatedWrite)
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
				c.BindingOf(&match.Match{Archetype: &a.Table, Tests: filter.TestsOf(&a.Table)}, f.Types.List))
		}
	}
	return c
}

// typesOf returns the frozen counterparts of types.
func (f *FrozenWorld) typesOf(list []*world.Type) (to []*world.Type) {
	for _, t := range list {
		to = append(to, f.Types.List[t.ID])
	}
	return to
}

// setOf returns the frozen counterpart of a set.
func (f *FrozenWorld) setOf(set *world.SparseSet) *world.SparseSet {
	return f.Types.List[set.Type.ID].Sparse
}
