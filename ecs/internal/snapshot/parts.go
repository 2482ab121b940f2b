package snapshot

import (
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// What taking a snapshot, making the world that its readers see, and Restore do for each part of a
// world; see world.Part.

// takes has the copies that a snapshot makes of each part. Memory that is not copied now is copied
// before it is written.
var takes = [...]struct {
	do      func(s *Snapshot, w *world.World)
	because string
}{
	{func(s *Snapshot, w *world.World) { s.Types = w.Types.List }, ""},
	{nil, "archetypes hold them"},
	{(*Snapshot).takeArchetypes, ""},
	{nil, "kept when they are written: history.go"},
	{nil, "with the archetypes"},
	{func(s *Snapshot, w *world.World) { s.Heap = w.Buffers.Heap() }, ""},
	{nil, "copyManaged, before the layer begins: a copy function may panic"},
	{(*Snapshot).takeIDs, ""},
	{func(s *Snapshot, w *world.World) { s.Names = w.Names.Share() }, ""},
	{(*Snapshot).takeSets, ""},
	{func(s *Snapshot, w *world.World) { s.Created, s.Destroyed = w.Writer.Created, w.Writer.Destroyed }, ""},
}

var _ = [1]struct{}{}[len(takes)-int(world.PartCount)] // each part has an entry

func (s *Snapshot) takeArchetypes(w *world.World) {
	list := w.Archetypes.List
	for len(s.Archetypes) < len(list) {
		s.Archetypes = append(s.Archetypes, archetypeState{})
	}
	s.Archetypes = s.Archetypes[:len(list)]
	for i, a := range list {
		s.Archetypes[i].Archetype, s.Archetypes[i].Pinned = a, a.Pinned
		a.Table.Save(&s.Archetypes[i].Table)
	}
}

func (s *Snapshot) takeIDs(w *world.World) {
	w.Reserving.Lock()
	w.IDs.Save(&s.Ids, s.Layer.Number())
	w.Reserving.Unlock()
}

func (s *Snapshot) takeSets(w *world.World) {
	for len(s.Sets) < len(w.Types.Sparse) {
		s.Sets = append(s.Sets, sparse.State{})
	}
	s.Sets = s.Sets[:len(w.Types.Sparse)]
	for i, t := range w.Types.Sparse {
		t.Sparse.Save(&s.Sets[i])
	}
}

// opens has the steps that make each part of the world of a snapshot when it is opened.
var opens = [...]struct {
	do      func(f *SnapshotWorld, s *Snapshot) error
	because string
}{
	{(*SnapshotWorld).openTypes, ""},
	{nil, "archetypes hold them"},
	{(*SnapshotWorld).openArchetypes, ""},
	{nil, "units are loaded when they are read: Archetype.Load"},
	{nil, "with the archetypes"},
	{func(f *SnapshotWorld, s *Snapshot) error { f.Buffers.LookAt(&s.World.Buffers, s.Heap); return nil }, ""},
	{nil, "with the types"},
	{nil, "openLookups, for the first look-up; loadRecords, for those who walk the ids"},
	{func(f *SnapshotWorld, s *Snapshot) error { f.Names = s.Names; return nil }, ""},
	{nil, "openLookups, for the first look-up"},
	{(*SnapshotWorld).openCounters, ""},
}

var _ = [1]struct{}{}[len(opens)-int(world.PartCount)] // each part has an entry

// openOrder has parts before the types and archetypes that need them.
var openOrder = [...]world.Part{world.PartCounters, world.PartBuffers, world.PartTypes, world.PartNames,
	world.PartArchetypes}

func (f *SnapshotWorld) openTypes(s *Snapshot) error {
	f.RegisterBuiltIn()
	for _, t := range s.Types[world.BuiltIn:] {
		c := t.Copied()
		c.Fields, c.Links = t.Fields, t.Links
		if m := s.Managed.Of(t); m != nil {
			c.Managed = m
		}
		f.AddType(c)
	}
	for i, t := range f.Types.List {
		t.Live = s.Types[i]
	}
	f.b = query.Borrow{
		Lease: world.Lease{World: s.World, Name: "the snapshot", Out: true, Past: true, Version: s.Version,
			Records: &f.past},
		Query: query.BatchesOf(&f.World),
	}
	for _, t := range f.Types.List {
		t.Disable()
		t.Lease, t.Writes = f.b.LeaseOrNil(), false
		f.b.Lent = append(f.b.Lent, &t.Lookup)
	}
	return nil
}

func (f *SnapshotWorld) openArchetypes(s *Snapshot) error {
	for i := range s.Archetypes {
		if err := f.add(s, &s.Archetypes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *SnapshotWorld) openCounters(s *Snapshot) error {
	f.Tables.Version = s.Version
	f.Writer.Created, f.Writer.Destroyed = s.Created, s.Destroyed
	return nil
}

// restores has the writes of Restore for each part, after all steps that can fail.
var restores = [...]struct {
	do      func(r *restoring)
	because string
}{
	{nil, "types are only added"},
	{nil, "archetypes hold them"},
	{(*restoring).restoreArchetypes, ""},
	{(*restoring).restoreRows, ""},
	{nil, "with the rows"},
	{(*restoring).settleBlocks, ""},
	{(*restoring).restoreManaged, ""},
	{(*restoring).restoreIDs, ""},
	{(*restoring).restoreNames, ""},
	{(*restoring).restoreSets, ""},
	{(*restoring).restoreCounters, ""},
}

var _ = [1]struct{}{}[len(restores)-int(world.PartCount)] // each part has an entry

// restoreOrder has rows and ids before the parts that belong to them, and archetypes last of these,
// since they may be retired once their rows and values are gone.
var restoreOrder = [...]world.Part{world.PartRows, world.PartIDs, world.PartBuffers, world.PartManaged,
	world.PartSparse,
	world.PartArchetypes, world.PartNames, world.PartCounters}

// restoreRows restores the rows: tables that differ from the snapshot give up their chunks and take
// those that they had when it was taken.
func (r *restoring) restoreRows() {
	w := r.w
	r.noteBlocks()
	for _, st := range r.differs {
		r.list = st.Archetype.Table.Leave(r.list)
	}
	for _, a := range r.since {
		r.list = a.Table.Leave(r.list)
	}
	for _, c := range r.list {
		r.owned[store.Chunk{First: c.First, Order: c.Order}] = true
	}
	for _, st := range r.differs {
		st.Archetype.Table.Return(&st.Table, r.owned)
	}
	w.Tables.FreeLeft(r.owned)
	r.putRows()
	for _, st := range r.differs {
		st.Archetype.Table.Reenter(&st.Table)
	}
}

func (r *restoring) restoreIDs() {
	w := r.w
	w.Reserving.Lock()
	w.IDs.Restore(&r.s.Ids, r.s.Layer)
	w.Reserving.Unlock()
	w.UpdateLookups()
}

func (r *restoring) restoreSets() {
	w, s := r.w, r.s
	for i, t := range w.Types.Sparse {
		if i < len(s.Sets) {
			t.Sparse.Restore(&s.Sets[i], s.Layer, w.Tables.Version)
		} else {
			t.Sparse.Clear(w.Tables.Version)
		}
	}
}

func (r *restoring) restoreArchetypes() {
	r.arrange()
	if len(r.since) > 0 {
		r.w.Retire(func(a *world.Archetype) bool { return a.Born >= r.s.Layer.Number() && !a.Pinned })
	}
}

func (r *restoring) restoreNames() {
	if r.w.Names.Return(&r.s.Names); r.w.Names.Len() > 0 {
		r.w.WatchEnds()
	}
}

func (r *restoring) restoreCounters() {
	r.w.Writer.Created, r.w.Writer.Destroyed = r.s.Created, r.s.Destroyed
}
