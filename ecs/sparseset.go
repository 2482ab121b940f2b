package ecs

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
	all Query // the query that a loop over All names in messages; it matches nothing
}

// open prepares the set of a type that has been enrolled. From the first sparse type on, the world
// is told which entities end.
func (s *sparseSet) open(t *typeInfo) {
	s.Open(t.w.u, t.size, t.enableable)
	if t.w.keeps() {
		s.KeepPast(&t.w.history.past)
	}
	s.all = Query{w: t.w, terms: []Term{{kind: termWrite, of: []operand{{t: t}}}}}
	if len(t.w.types.sparse) == 1 {
		t.w.watchEnds()
		t.w.rows.OnDestroy(dyingID, t.w.forgetSparse)
		for _, a := range t.w.archetypes.list {
			a.copies = nil // a member may have entries from now on, see copying.learn
		}
	}
}

// newer reports whether an entry may have changed since a version.
func (s *sparseSet) newer(at sparse.Entry, since uint32) bool {
	block, all := s.Versions(at)
	return newer(block, since) || all != 0 && newer(all, since)
}

// handle returns a handle of the type without its Go type. A snapshot's copy of a type has the
// handle of the world's, which is the one that readers may use.
func (t *typeInfo) handle() Type {
	if t.live != nil {
		t = t.live
	}
	if t.kind == KindSparse {
		return sparseHandle{t}
	}
	return handle{t}
}

// openSet returns the type's set. access is what the caller does with all values: mayRead,
// mayWrite, which marks them changed, or 0.
func (t *typeInfo) openSet(op string, access uint8) *sparse.Set {
	t.world().checkHandle(op)
	switch {
	case access&mayWrite != 0:
		t.checkLent(op, mayWrite)
		t.sparse.OpenAll(t.w.tables.Version)
	case access != 0:
		t.checkLent(op, access)
	}
	return &t.sparse.Set
}

// entryOf returns e's entry, or 0.
func (t *typeInfo) entryOf(op string, e Entity) sparse.Entry {
	if t == nil {
		t.world().refuse(op)
	}
	at := t.sparse.Find(entity.ID(e))
	if at == 0 {
		t.w.checkWorld(op, e)
	}
	return at
}

// sparseValue returns the address of e's value for reading, or nil.
func (t *typeInfo) sparseValue(op string, e Entity) unsafe.Pointer {
	at := t.entryOf(op, e)
	if t.writers > 0 {
		t.checkLent(op, mayRead)
	}
	if at == 0 {
		return nil
	}
	return t.sparse.Value(at)
}

// mutSparse is sparseValue for writing.
func (t *typeInfo) mutSparse(op string, e Entity) unsafe.Pointer {
	at := t.entryOf(op, e)
	if !t.writes {
		t.checkLent(op, mayWrite)
	}
	if at == 0 {
		return nil
	}
	t.sparse.Mark(at, t.w.tables.Version)
	return t.sparse.Value(at)
}

// addSparse gives e an entry, and returns the address of its value for the caller to write; nil if
// e has one, and with an error.
func (t *typeInfo) addSparse(op string, e Entity) (unsafe.Pointer, error) {
	w := t.world()
	w.checkUnlocked(op)
	if r := w.find(e); r == nil || w.types.cleans && w.dyingAt(r) {
		return nil, t.refuseEntry(op, e)
	}
	s := &t.sparse.Set
	if s.Find(entity.ID(e)) != 0 {
		return nil, nil
	}
	if s.Full(entity.ID(e)) {
		if err := t.makeEntries(1); err != nil {
			return nil, during(op, err)
		}
	}
	return s.Add(entity.ID(e), w.tables.Version), nil
}

// dyingAt reports whether the entity of a record was destroyed and is kept by Cleanup types.
func (w *World) dyingAt(r *entity.Record) bool {
	return w.archetypeAt(w.tables.OwnerOf(r.Location)).dying
}

// refuseEntry panics for an entity that gets no entry: a dead one, or one that was destroyed.
//
//go:noinline
func (t *typeInfo) refuseEntry(op string, e Entity) error {
	if t.w.find(e) == nil {
		t.refuseDead(op, e)
	}
	// errors.md, Entities: `was destroyed, only its Cleanup types are left; it gets no` | `Add` of
	// a sparse type to an entity that has the tag `CleanupEntity`. | Add a component, or nothing.
	panic(fmt.Sprintf("ecs: %s: %v was destroyed, only its Cleanup types are left; it gets no %s", op, e, t.name))
}

// removeSparse ends e's entry.
func (t *typeInfo) removeSparse(op string, e Entity) bool {
	w := t.world()
	w.checkUnlocked(op)
	return t.sparse.Remove(entity.ID(e), w.tables.Version) || w.find(e) == nil && w.passDead(op, e)
}

// reserveSparse is Sparse.Reserve.
func (t *typeInfo) reserveSparse(op string, n int) error {
	t.world().checkUnlocked(op)
	if n < 0 {
		panic(fmt.Sprintf("ecs: %s: n=%d is negative", op, n))
	}
	return during(op, t.makeEntries(n))
}

// makeEntries makes room for n more entries, of any entities that have records.
func (t *typeInfo) makeEntries(n int) error { return refused(t.roomFor(n)) }

// roomFor is makeEntries with the error of the layer below.
func (t *typeInfo) roomFor(n int) error {
	if n > mostAlive-t.sparse.Len() {
		return entity.ErrFull
	}
	if n+t.sparse.Len() == 0 {
		return nil
	}
	view := t.w.ids.View()
	err := t.sparse.Reserve(n, uint32(view.Len()))
	if err != nil && t.w.trim() > 0 {
		err = t.sparse.Reserve(n, uint32(view.Len()))
	}
	return err
}

// switchSparse enables or disables e's value.
func (t *typeInfo) switchSparse(op string, e Entity, on bool) bool {
	if t == nil {
		t.world().refuse(op)
	}
	t.checkEnableable(op)
	if !t.w.Shared() {
		t.checkLent(op, mayWrite)
	}
	at := t.entryOf(op, e)
	if at == 0 {
		return false
	}
	t.sparse.Switch(at, on)
	t.sparse.Mark(at, t.w.tables.Version)
	return true
}

// switchEntries enables or disables the values of selected rows' entities.
func (t *typeInfo) switchEntries(tx *change.Tx, on bool) (n int) {
	for _, e := range entitiesOfParts(nil, tx) {
		if at := t.sparse.Find(e); at != 0 {
			t.sparse.Switch(at, on)
			t.sparse.Mark(at, t.w.tables.Version)
			n++
		}
	}
	return n
}

// switchList enables or disables the values of the entities of a list.
func (t *typeInfo) switchList(op string, list []Entity, on bool) int {
	t.checkToggle(op)
	return t.switchEntries(t.w.selectList(op, list, false), on)
}

// switchMatches enables or disables the values of the entities that match a query.
func (t *typeInfo) switchMatches(op string, q *Query, on bool) int {
	t.checkToggle(op)
	t.w.checkQuery(op, q)
	q.checkLent(op, true)
	return t.switchEntries(q.selectRows(op), on)
}

// sparse returns what Column needs: the set, which it marks changed if its values may be written,
// and the entities of the rows.
func (r Rows) sparse(t *typeInfo, op string) (set *sparse.Set, ids []entity.ID) {
	s := r.check(op)
	if t == nil || s.w != t.w {
		r.refuse(t, op)
	}
	flags := s.t.columnOf(t.id).Flags()
	if s.t.a.frozen != nil {
		t = s.t.a.w.types.list[t.id] // the set of the snapshot
	}
	switch {
	case s.q == &s.w.loops.batches:
		t.checkLent(op, mayWrite)
		t.sparse.OpenAll(s.w.tables.Version)
	case flags&mayWrite != 0:
		t.sparse.OpenAll(s.w.tables.Version)
	case flags&gatedWrite != 0:
		t.sparse.OpenAll(s.b.version)
	case flags&(mayRead|gatedRead) == 0:
		r.refuse(t, op)
	}
	return &t.sparse.Set, table.IDs(r.base, s.first+r.Len())[s.first:]
}

// sparseValue is Sparse.At.
func (r Rows) sparseValue(t *typeInfo, i int) unsafe.Pointer {
	set, ids := r.sparse(t, "Sparse.At")
	if uint(i) >= uint(len(ids)) {
		panic(fmt.Sprintf("ecs: Sparse.At: row %d is not in [0, %d)", i, len(ids)))
	}
	return set.At(ids[i])
}

// watchEnds has the world told which entities end.
func (w *World) watchEnds() { w.rows.OnEnd(w.forgetEnded) }

// forgetEnded removes the names and entries of entities that end.
func (w *World) forgetEnded(ids []entity.ID) {
	w.forgetNames(ids)
	w.forgetSparse(ids)
}

// forgetSparse removes the entries of entities that are destroyed.
func (w *World) forgetSparse(ids []entity.ID) {
	for _, t := range w.types.sparse {
		for i := 0; i < len(ids) && t.sparse.Len() > 0; i++ {
			t.sparse.Remove(ids[i], w.tables.Version)
		}
	}
}

// verifySparse checks W13, and P1 to P3 of package sparse.
func (w *World) verifySparse() error {
	for _, t := range w.types.sparse {
		if err := t.sparse.Verify(); err != nil {
			return fmt.Errorf("ecs: W13: %s: %w", t.name, err)
		}
		for _, e := range t.sparse.IDs() {
			if r := w.ids.Find(e); r == nil || w.dyingAt(r) {
				return fmt.Errorf("ecs: W13: %v has a %s and is not alive, or was destroyed", Entity(e), t.name)
			}
		}
	}
	return nil
}
