package world

import (
	"cmp"
	"errors"
	"slices"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
)

// What readers of a snapshot see is a world that is frozen: the same types, archetypes, ids and
// names, made when somebody reads the snapshot for the first time. Its rows lie in mirrors of the
// chunks (table.Frozen), to which units come when they are first shown; its records and sparse sets
// are whole copies, made by the first look-up. So walks, look-ups, Hash, Verify and Clone are the
// code that they are for any world.
//
//	Rows of a snapshot   handles and scan of the live world, bindings to frozen archetypes, all gated
//	look-ups             finders with hidden Sights, so that they come to finder.miss
//
// Goroutines: whoever is first makes a part, under the snapshot's lock.

// frozenWorld is the world that readers of a snapshot see.
type frozenWorld struct {
	World
	b       Borrow // of its readers
	records bool   // the ids, the records and the sparse sets are there
}

// freeze returns the frozen world, with ids and records if they are asked for. The error is from
// the universe, or says that the snapshot is lost.
func (s *Snapshot) freeze(records bool) (*frozenWorld, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Err(); err != nil {
		return nil, err
	}
	if s.frozen == nil {
		f := new(frozenWorld)
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
func (f *frozenWorld) open(s *Snapshot) error {
	live := s.World
	f.Universe, f.Base, f.Growth = live.Universe, live.Base, live.Growth
	f.Types.open()
	f.Archetypes.open()
	f.News = news{Matched: 1, unshared: 1}
	f.Loops.Outer.World, f.Loops.Scans = &f.World, []*Scan{&f.Loops.Outer}
	f.Buffers.LookAt(&live.Buffers, s.heap)
	f.IDs.Open(live.Universe, live.IDs.Tag())
	f.Tables.Open(live.Universe, live.Growth, &f.IDs, table.Calls{Trim: func() int { return 0 }, Replanned: func() {}})
	f.Tables.Version = s.Version
	f.Rows.Open(&f.IDs, &f.Tables, &f.Buffers, change.Calls{
		TableAt: func(i uint32) *table.Table { return &f.Archetypes.List[i].Table.Table }, Records: func() {},
	})
	f.Rows.Created, f.Rows.Destroyed = s.Created, s.Destroyed
	f.Index.Open()
	f.registerBuiltIn()
	for _, t := range s.types[BuiltIn:] {
		c := t.copied()
		c.Fields, c.links = t.Fields, t.links
		if m := s.managed.of(t); m != nil {
			c.Managed = m
		}
		f.enroll(c)
	}
	for i, t := range f.Types.List {
		t.Live = s.types[i]
	}
	f.b = Borrow{World: live, Query: &f.Loops.Batches, Name: "the snapshot", Out: true, Past: s, Version: s.Version}
	for _, t := range f.Types.List {
		t.Hide()
		t.Borrow, t.writes = &f.b, false
		f.b.lent = append(f.b.lent, &t.Finder)
	}
	f.Names = s.names
	for i := range s.Archetypes {
		if err := f.add(s, &s.Archetypes[i]); err != nil {
			return err
		}
	}
	return nil
}

// add makes an archetype.
func (f *frozenWorld) add(s *Snapshot, from *archetypeState) error {
	live := from.Archetype
	a := &Archetype{World: &f.World, Values: live.Values, Key: f.Archetypes.keyOf(&live.Table.Sig, live.Values), Dying: live.Dying, lasting: live.lasting, edgeKey: noEdge, Pinned: from.pinned}
	frozen, err := a.Table.Freeze(&f.Tables, uint32(len(f.Archetypes.List)), live.Table.Sig, &from.Table, s.World.history.rows, s.Layer)
	if err != nil {
		return Refused(err)
	}
	a.Frozen, a.Table.Values = frozen, live.Table.Values
	f.Archetypes.add(a)
	return nil
}

// bringRecords makes the ids, the records and the sparse sets.
func (f *frozenWorld) bringRecords(s *Snapshot) error {
	if err := f.IDs.Freeze(&s.World.IDs, s.World.history.records, &s.ids, s.Layer); err != nil {
		return Refused(err)
	}
	for i, t := range f.Types.sparse {
		if err := t.Sparse.Freeze(&s.types[t.ID].Sparse.Set, &s.sets[i], s.Layer); err != nil {
			return Refused(errors.Join(err, f.IDs.Thaw()))
		}
	}
	for _, a := range f.Archetypes.List {
		a.Frozen.Place(&f.Tables)
	}
	return nil
}

// BringAll makes all that a reader may ask for.
func (s *Snapshot) BringAll() (*frozenWorld, error) {
	f, err := s.freeze(true)
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
func (f *frozenWorld) free() {
	for _, a := range f.Archetypes.List {
		a.Frozen.Free()
	}
	for _, t := range f.Types.sparse {
		_ = t.Sparse.Close() // what the system does not take back now goes with the universe
	}
	_ = f.IDs.Thaw()
}

// Show brings a column of a snapshot's archetype, of n rows of a chunk; other archetypes have all
// theirs.
func (a *Archetype) Show(id TypeID, pos, row, n int) {
	if a.Frozen != nil {
		a.showColumn(id, pos, row, n)
	}
}

//go:noinline
func (a *Archetype) showColumn(id TypeID, pos, row, n int) {
	if a.World.Types.List[id].Size == 0 {
		return
	}
	if err := a.Frozen.ShowColumn(a.Table.Column(id), pos, row, n); err != nil {
		panic(&LimitError{Op: "Snapshot.Rows", Err: err})
	}
}

// showAt brings the value of a row that was found.
func (f *Finder) showAt(at Location) {
	o := f.Type.World.Tables.OwnerOf(at)
	a := f.Type.World.ArchetypeAt(o)
	if a.Table.Sig.Has(f.Type.ID) {
		a.Show(f.Type.ID, o.Pos(), o.Row(at), 1)
	}
}

// over returns the query as readers of the snapshot see it: it reads what the query declares, and
// its bindings are frozen archetypes.
func (f *frozenWorld) over(q *Query, since uint32) *Query {
	c := &Query{World: q.World, Terms: q.Terms, access: make([]uint8, len(q.access)), changed: q.changed, maskedNew: q.maskedNew,
		Sets: slices.Clone(q.Sets), Ordered: q.Ordered, ranges: q.ranges, Masked: q.Masked, pinned: true, Since: since, OfAll: q.OfAll}
	for id, access := range q.access {
		c.access[id] = gated(access) &^ (MayWrite | GatedWrite)
	}
	for _, set := range q.watched {
		c.watched = append(c.watched, f.setOf(set))
	}
	for i := range c.Sets {
		c.Sets[i].of = f.typesOf(c.Sets[i].of)
	}
	filter := &q.Matching.Filter
	for _, a := range f.Archetypes.List {
		if filter.Wants(&a.Table) && a.Table.Len() > 0 {
			c.bindings = append(c.bindings, c.bindingOf(&match.Match{Archetype: &a.Table, Tests: filter.TestsOf(&a.Table)}, f.Types.List))
		}
	}
	return c
}

// typesOf returns the frozen counterparts of types.
func (f *frozenWorld) typesOf(list []*Type) (to []*Type) {
	for _, t := range list {
		to = append(to, f.Types.List[t.ID])
	}
	return to
}

// setOf returns the frozen counterpart of a set.
func (f *frozenWorld) setOf(set *sparseSet) *sparseSet {
	return f.Types.List[set.All.Terms[0].Of[0].Type.ID].Sparse
}
