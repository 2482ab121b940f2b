package world

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/sparse"
)

// The sets of sparse types: the calls of handles, whatever their T, and the part of sets in the
// life of entities. Entries belong to entities, not to rows, so only what begins, ends or copies
// entities concerns them.
//
//	an entity ends             Writer.OnEnd calls forgetEnded; Writer.OnDestroy, if Cleanup types keep it,
//	                           forgetSparse
//	Instantiate                copying.fillEntries gives each copy the values of its member
//	MoveAll, MoveQuery         the entries move with the names, see migration.noteArrivals
//	Clone                      copySparse
//	SwapComponents             the two entities swap entries
//
// Invariant, checked by Verify, beside P1 to P3 of package sparse:
//
//	W13 The entity of every entry is alive and does not have CleanupEntity.

// open prepares the set of a type that has been added. From the first sparse type on, the world
// gets a call for entities that end.
func (s *SparseSet) open(t *Type) {
	s.Open(t.World.Universe, t.Size, t.Enableable)
	if t.World.Keeps() {
		s.KeepPast(t.World.History.Past())
	}
	s.Type = t
	if len(t.World.Types.Sparse) == 1 {
		t.World.WatchEnds()
		t.World.Writer.OnDestroy(CleanupEntityID, t.World.forgetSparse)
		for _, a := range t.World.Archetypes.List {
			a.Copies = nil // a member may have entries from now on, see copying.learn
		}
	}
}

// Newer reports whether an entry may have changed since a version.
func (s *SparseSet) Newer(at sparse.Entry, since uint32) bool {
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
	if t.Writers > 0 {
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
	if !t.Writes {
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
	if r := w.Find(e); r == nil || w.Types.cleans && w.DyingAt(r) {
		return nil, t.refuseEntry(op, e)
	}
	s := &t.Sparse.Set
	if s.Find(e) != 0 {
		return nil, nil
	}
	if s.Full(e) {
		if err := t.MakeEntries(1); err != nil {
			return nil, WithOp(op, err)
		}
	}
	return s.Add(e, w.Tables.Version), nil
}

// DyingAt reports whether the entity of a record was destroyed and is kept by Cleanup types.
func (w *World) DyingAt(r *entity.Record) bool {
	return w.ArchetypeAt(w.Tables.OwnerOf(r.Location)).CleanupOnly
}

// refuseEntry panics for an entity that gets no entry: a dead one, or one that was destroyed.
//
//go:noinline
func (t *Type) refuseEntry(op string, e entity.ID) error {
	if t.World.Find(e) == nil {
		t.RefuseDead(op, e)
	}
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
	return WithOp(op, t.MakeEntries(n))
}

// MakeEntries makes room for n more entries, of any entities that have records.
func (t *Type) MakeEntries(n int) error { return LimitErrorOf(t.RoomFor(n)) }

// RoomFor is MakeEntries with the error of the layer below.
func (t *Type) RoomFor(n int) error {
	if n > MostAlive-t.Sparse.Len() {
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
	if !t.World.Lent() {
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

// forgetSparse removes the entries of entities that are destroyed.
func (w *World) forgetSparse(ids []entity.ID) {
	for _, t := range w.Types.Sparse {
		for i := 0; i < len(ids) && t.Sparse.Len() > 0; i++ {
			t.Sparse.Remove(ids[i], w.Tables.Version)
		}
	}
}

// VerifySparse checks W13, and P1 to P3 of package sparse.
func (w *World) VerifySparse() error {
	for _, t := range w.Types.Sparse {
		if err := t.Sparse.Verify(); err != nil {
			return fmt.Errorf("ecs: W13: %s: %w", t.Name, err)
		}
		for _, e := range t.Sparse.IDs() {
			if r := w.IDs.Find(e); r == nil || w.DyingAt(r) {
				return fmt.Errorf("ecs: W13: %v has a %s and is not alive, or was destroyed", e, t.Name)
			}
		}
	}
	return nil
}
