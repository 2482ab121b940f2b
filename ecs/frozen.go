package ecs

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
	live := s.w
	f.u, f.base, f.growth = live.u, live.base, live.growth
	f.types.open()
	f.archetypes.open()
	f.news = news{matched: 1, unshared: 1}
	f.loops.outer.w, f.loops.scans = &f.World, []*scan{&f.loops.outer}
	f.buffers.LookAt(&live.buffers, s.heap)
	f.ids.Open(live.u, live.ids.Tag())
	f.tables.Open(live.u, live.growth, &f.ids, table.Calls{Trim: func() int { return 0 }, Replanned: func() {}})
	f.tables.Version = s.version
	f.rows.Open(&f.ids, &f.tables, &f.buffers, change.Calls{
		TableAt: func(i uint32) *table.Table { return &f.archetypes.list[i].table.Table }, Records: func() {},
	})
	f.rows.Created, f.rows.Destroyed = s.created, s.destroyed
	f.index.Open()
	f.registerBuiltIn()
	for _, t := range s.types[builtIn:] {
		c := t.copied()
		c.fields, c.links = t.fields, t.links
		if m := s.managed.of(t); m != nil {
			c.managed = m
		}
		f.enroll(c)
	}
	for i, t := range f.types.list {
		t.live = s.types[i]
	}
	f.b = Borrow{w: live, q: &f.loops.batches, name: "the snapshot", out: true, past: s, version: s.version}
	for _, t := range f.types.list {
		t.Hide()
		t.b, t.writes = &f.b, false
		f.b.lent = append(f.b.lent, &t.finder)
	}
	f.names = s.names
	for i := range s.archetypes {
		if err := f.add(s, &s.archetypes[i]); err != nil {
			return err
		}
	}
	return nil
}

// add makes an archetype.
func (f *frozenWorld) add(s *Snapshot, from *archetypeState) error {
	live := from.a
	a := &Archetype{w: &f.World, values: live.values, key: f.archetypes.keyOf(&live.table.Sig, live.values), dying: live.dying, lasting: live.lasting, edgeKey: noEdge, pinned: from.pinned}
	frozen, err := a.table.Freeze(&f.tables, uint32(len(f.archetypes.list)), live.table.Sig, &from.table, s.w.history.rows, s.layer)
	if err != nil {
		return refused(err)
	}
	a.frozen, a.table.Values = frozen, live.table.Values
	f.archetypes.add(a)
	return nil
}

// bringRecords makes the ids, the records and the sparse sets.
func (f *frozenWorld) bringRecords(s *Snapshot) error {
	if err := f.ids.Freeze(&s.w.ids, s.w.history.records, &s.ids, s.layer); err != nil {
		return refused(err)
	}
	for i, t := range f.types.sparse {
		if err := t.sparse.Freeze(&s.types[t.id].sparse.Set, &s.sets[i], s.layer); err != nil {
			return refused(errors.Join(err, f.ids.Thaw()))
		}
	}
	for _, a := range f.archetypes.list {
		a.frozen.Place(&f.tables)
	}
	return nil
}

// bringAll makes all that a reader may ask for.
func (s *Snapshot) bringAll() (*frozenWorld, error) {
	f, err := s.freeze(true)
	if err != nil {
		return nil, err
	}
	for _, a := range f.archetypes.list {
		if err := a.frozen.ShowAll(); err != nil {
			return nil, cmp.Or(s.Err(), err)
		}
	}
	return f, nil
}

// free gives the memory back.
func (f *frozenWorld) free() {
	for _, a := range f.archetypes.list {
		a.frozen.Free()
	}
	for _, t := range f.types.sparse {
		_ = t.sparse.Close() // what the system does not take back now goes with the universe
	}
	_ = f.ids.Thaw()
}

// show brings a column of a snapshot's archetype, of n rows of a chunk; other archetypes have all
// theirs.
func (a *Archetype) show(id typeID, pos, row, n int) {
	if a.frozen != nil {
		a.showColumn(id, pos, row, n)
	}
}

//go:noinline
func (a *Archetype) showColumn(id typeID, pos, row, n int) {
	if a.w.types.list[id].size == 0 {
		return
	}
	if err := a.frozen.ShowColumn(a.table.Column(id), pos, row, n); err != nil {
		panic(&LimitError{Op: "Snapshot.Rows", Err: err})
	}
}

// showAt brings the value of a row that was found.
func (f *finder) showAt(at location) {
	o := f.t.w.tables.OwnerOf(at)
	a := f.t.w.archetypeAt(o)
	if a.table.Sig.Has(f.t.id) {
		a.show(f.t.id, o.Pos(), o.Row(at), 1)
	}
}

// over returns the query as readers of the snapshot see it: it reads what the query declares, and
// its bindings are frozen archetypes.
func (f *frozenWorld) over(q *Query, since uint32) *Query {
	c := &Query{w: q.w, terms: q.terms, access: make([]uint8, len(q.access)), changed: q.changed, maskedNew: q.maskedNew,
		sets: slices.Clone(q.sets), ordered: q.ordered, ranges: q.ranges, masked: q.masked, pinned: true, since: since, ofAll: q.ofAll}
	for id, access := range q.access {
		c.access[id] = gated(access) &^ (mayWrite | gatedWrite)
	}
	for _, set := range q.watched {
		c.watched = append(c.watched, f.setOf(set))
	}
	for i := range c.sets {
		c.sets[i].of = f.typesOf(c.sets[i].of)
	}
	filter := &q.m.Filter
	for _, a := range f.archetypes.list {
		if filter.Wants(&a.table) && a.table.Len() > 0 {
			c.bindings = append(c.bindings, c.bindingOf(&match.Match{Archetype: &a.table, Tests: filter.TestsOf(&a.table)}, f.types.list))
		}
	}
	return c
}

// typesOf returns the frozen counterparts of types.
func (f *frozenWorld) typesOf(list []*typeInfo) (to []*typeInfo) {
	for _, t := range list {
		to = append(to, f.types.list[t.id])
	}
	return to
}

// setOf returns the frozen counterpart of a set.
func (f *frozenWorld) setOf(set *sparseSet) *sparseSet {
	return f.types.list[set.all.terms[0].of[0].t.id].sparse
}
