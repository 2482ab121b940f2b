package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
	"quarry/ecs/internal/table"
)

// The sets of sparse types: what handles of any T do to them, and where they take part in the life
// of entities. Entries belong to entities, not to rows, so only what begins, ends or copies
// entities concerns them.
//
//	an entity ends             Rows.OnEnd, or Rows.OnDestroy if Cleanup types keep it: forgetSparse
//	Instantiate                copying.fillEntries gives each copy the values of its member
//	MoveAll, MoveQuery         the entries move with the names, see migration.renamed
//	Clone                      copySparse
//	SwapComponents             the two entities swap entries
//
// Invariant, checked by Verify, beside P1 to P3 of package sparse:
//
//	W13 The entity of every entry is alive and does not have CleanupEntity.

// sparseSet is the set of a sparse type.
type sparseSet struct {
	sparse.Set
	All Query // the query that a loop over All names in messages; it matches nothing
}

// open prepares the set of a type that has been enrolled. From the first sparse type on, the world
// is told which entities end.
func (s *sparseSet) open(t *Type) {
	s.Open(t.World.Universe, t.Size, t.Enableable)
	if t.World.Keeps() {
		s.KeepPast(&t.World.history.past)
	}
	s.All = Query{World: t.World, Terms: []Term{{Kind: TermWrite, Of: []Operand{{Type: t}}}}}
	if len(t.World.Types.sparse) == 1 {
		t.World.watchEnds()
		t.World.Rows.OnDestroy(DyingID, t.World.forgetSparse)
		for _, a := range t.World.Archetypes.List {
			a.copies = nil // a member may have entries from now on, see copying.learn
		}
	}
}

// Newer reports whether an entry may have changed since a version.
func (s *sparseSet) Newer(at sparse.Entry, since uint32) bool {
	block, all := s.Versions(at)
	return Newer(block, since) || all != 0 && Newer(all, since)
}

// OpenSet returns the type's set. access is what the caller does with all values: MayRead,
// MayWrite, which marks them changed, or 0.
func (t *Type) OpenSet(op string, access uint8) *sparse.Set {
	t.WorldOrNil().CheckHandle(op)
	switch {
	case access&MayWrite != 0:
		t.CheckLent(op, MayWrite)
		t.Sparse.OpenAll(t.World.Tables.Version)
	case access != 0:
		t.CheckLent(op, access)
	}
	return &t.Sparse.Set
}

// EntryOf returns e's entry, or 0.
func (t *Type) EntryOf(op string, e entity.ID) sparse.Entry {
	if t == nil {
		t.WorldOrNil().Refuse(op)
	}
	at := t.Sparse.Find(e)
	if at == 0 {
		t.World.CheckWorld(op, e)
	}
	return at
}

// SparseValue returns the address of e's value for reading, or nil.
func (t *Type) SparseValue(op string, e entity.ID) unsafe.Pointer {
	at := t.EntryOf(op, e)
	if t.writers > 0 {
		t.CheckLent(op, MayRead)
	}
	if at == 0 {
		return nil
	}
	return t.Sparse.Value(at)
}

// MutSparse is SparseValue for writing.
func (t *Type) MutSparse(op string, e entity.ID) unsafe.Pointer {
	at := t.EntryOf(op, e)
	if !t.writes {
		t.CheckLent(op, MayWrite)
	}
	if at == 0 {
		return nil
	}
	t.Sparse.Mark(at, t.World.Tables.Version)
	return t.Sparse.Value(at)
}

// AddSparse gives e an entry, and returns the address of its value for the caller to write; nil if
// e has one, and with an error.
func (t *Type) AddSparse(op string, e entity.ID) (unsafe.Pointer, error) {
	w := t.WorldOrNil()
	w.CheckUnlocked(op)
	if r := w.Find(e); r == nil || w.Types.cleans && w.dyingAt(r) {
		return nil, t.refuseEntry(op, e)
	}
	s := &t.Sparse.Set
	if s.Find(e) != 0 {
		return nil, nil
	}
	if s.Full(e) {
		if err := t.makeEntries(1); err != nil {
			return nil, During(op, err)
		}
	}
	return s.Add(e, w.Tables.Version), nil
}

// dyingAt reports whether the entity of a record was destroyed and is kept by Cleanup types.
func (w *World) dyingAt(r *entity.Record) bool {
	return w.ArchetypeAt(w.Tables.OwnerOf(r.Location)).Dying
}

// refuseEntry panics for an entity that gets no entry: a dead one, or one that was destroyed.
//
//go:noinline
func (t *Type) refuseEntry(op string, e entity.ID) error {
	if t.World.Find(e) == nil {
		t.RefuseDead(op, e)
	}
	// errors.md, Entities: `was destroyed, only its Cleanup types are left; it gets no` | `Add` of
	// a sparse type to an entity that has the tag `CleanupEntity`. | Add a component, or nothing.
	panic(fmt.Sprintf("ecs: %s: %v was destroyed, only its Cleanup types are left; it gets no %s", op, e, t.Name))
}

// RemoveSparse ends e's entry.
func (t *Type) RemoveSparse(op string, e entity.ID) bool {
	w := t.WorldOrNil()
	w.CheckUnlocked(op)
	return t.Sparse.Remove(e, w.Tables.Version) || w.Find(e) == nil && w.PassDead(op, e)
}

// ReserveSparse is Sparse.Reserve.
func (t *Type) ReserveSparse(op string, n int) error {
	t.WorldOrNil().CheckUnlocked(op)
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
	return During(op, t.makeEntries(n))
}

// makeEntries makes room for n more entries, of any entities that have records.
func (t *Type) makeEntries(n int) error { return Refused(t.roomFor(n)) }

// roomFor is makeEntries with the error of the layer below.
func (t *Type) roomFor(n int) error {
	if n > mostAlive-t.Sparse.Len() {
		return entity.ErrFull
	}
	if n+t.Sparse.Len() == 0 {
		return nil
	}
	view := t.World.IDs.View()
	err := t.Sparse.Reserve(n, uint32(view.Len()))
	if err != nil && t.World.trim() > 0 {
		err = t.Sparse.Reserve(n, uint32(view.Len()))
	}
	return err
}

// SwitchSparse enables or disables e's value.
func (t *Type) SwitchSparse(op string, e entity.ID, on bool) bool {
	if t == nil {
		t.WorldOrNil().Refuse(op)
	}
	t.CheckEnableable(op)
	if !t.World.Shared() {
		t.CheckLent(op, MayWrite)
	}
	at := t.EntryOf(op, e)
	if at == 0 {
		return false
	}
	t.Sparse.Switch(at, on)
	t.Sparse.Mark(at, t.World.Tables.Version)
	return true
}

// switchEntries enables or disables the values of selected rows' entities.
func (t *Type) switchEntries(tx *change.Tx, on bool) (n int) {
	for _, e := range entitiesOfParts(nil, tx) {
		if at := t.Sparse.Find(e); at != 0 {
			t.Sparse.Switch(at, on)
			t.Sparse.Mark(at, t.World.Tables.Version)
			n++
		}
	}
	return n
}

// SwitchList enables or disables the values of the entities of a list.
func (t *Type) SwitchList(op string, list []entity.ID, on bool) int {
	t.CheckToggle(op)
	return t.switchEntries(t.World.SelectList(op, list, false), on)
}

// SwitchMatches enables or disables the values of the entities that match a query.
func (t *Type) SwitchMatches(op string, q *Query, on bool) int {
	t.CheckToggle(op)
	t.World.CheckQuery(op, q)
	q.CheckLent(op, true)
	return t.switchEntries(q.SelectRows(op), on)
}

// Sparse returns what Column needs: the set, which it marks changed if its values may be written,
// and the entities of the rows.
func (r Rows) Sparse(t *Type, op string) (set *sparse.Set, ids []entity.ID) {
	s := r.Check(op)
	if t == nil || s.World != t.World {
		r.Refuse(t, op)
	}
	flags := s.Binding.ColumnOf(t.ID).Flags()
	if s.Binding.Archetype.Frozen != nil {
		t = s.Binding.Archetype.World.Types.List[t.ID] // the set of the snapshot
	}
	switch {
	case s.Query == &s.World.Loops.Batches:
		t.CheckLent(op, MayWrite)
		t.Sparse.OpenAll(s.World.Tables.Version)
	case flags&MayWrite != 0:
		t.Sparse.OpenAll(s.World.Tables.Version)
	case flags&GatedWrite != 0:
		t.Sparse.OpenAll(s.Borrow.Version)
	case flags&(MayRead|GatedRead) == 0:
		r.Refuse(t, op)
	}
	return &t.Sparse.Set, table.IDs(r.Base, s.First+r.Len())[s.First:]
}

// SparseValue is Sparse.At.
func (r Rows) SparseValue(t *Type, i int) unsafe.Pointer {
	set, ids := r.Sparse(t, "Sparse.At")
	if uint(i) >= uint(len(ids)) {
		panic(fmt.Sprintf("ecs: Sparse.At: row %d is not in [0, %d)", i, len(ids)))
	}
	return set.At(ids[i])
}

// watchEnds has the world told which entities end.
func (w *World) watchEnds() { w.Rows.OnEnd(w.forgetEnded) }

// forgetEnded removes the names and entries of entities that end.
func (w *World) forgetEnded(ids []entity.ID) {
	w.forgetNames(ids)
	w.forgetSparse(ids)
}

// forgetSparse removes the entries of entities that are destroyed.
func (w *World) forgetSparse(ids []entity.ID) {
	for _, t := range w.Types.sparse {
		for i := 0; i < len(ids) && t.Sparse.Len() > 0; i++ {
			t.Sparse.Remove(ids[i], w.Tables.Version)
		}
	}
}

// verifySparse checks W13, and P1 to P3 of package sparse.
func (w *World) verifySparse() error {
	for _, t := range w.Types.sparse {
		if err := t.Sparse.Verify(); err != nil {
			return fmt.Errorf("ecs: W13: %s: %w", t.Name, err)
		}
		for _, e := range t.Sparse.IDs() {
			if r := w.IDs.Find(e); r == nil || w.dyingAt(r) {
				return fmt.Errorf("ecs: W13: %v has a %s and is not alive, or was destroyed", e, t.Name)
			}
		}
	}
	return nil
}
