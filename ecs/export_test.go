package ecs

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"reflect"
	"time"
	"unsafe"
)

// Corrupt breaks one numbered invariant of a world that has at least two archetypes with rows, one
// query, an enableable type and a spilled buffer, and returns what puts it right.
func (w *World) Corrupt(invariant string) (restore func()) {
	var a *Archetype
	for _, b := range w.archetypes.list {
		if b.table.Store.Len() > 0 && len(b.table.Books.Toggling()) > 0 && len(b.table.Owning) > 0 {
			a = b
		}
	}
	ids := entities(a.table.Store.Row(0, 0).Base, a.table.Store.RowsOf(0))
	var head *value.Header
	for _, c := range a.table.Owning {
		for row := range ids {
			if h := value.HeaderOf(a.table.Store.Row(0, row), c); h.Spilled() {
				head = h
			}
		}
	}
	switch invariant {
	case "W1":
		r := w.find(ids[0])
		old := r.Location
		r.Location++
		return func() { r.Location = old }
	case "W2":
		a.table.Store.Push(a.table.Store.PerUnit())
		return func() { a.table.Store.Push(-a.table.Store.PerUnit()) }
	case "W4":
		w.rows.Created++
		return func() { w.rows.Created-- }
	case "M1":
		a.table.Closed = true
		return func() { a.table.Closed = false }
	case "W6":
		words := a.table.Books.Bits(a.table.Books.Toggling()[0], 0).Words()
		words[len(words)-1] ^= 1 << 63
		return func() { words[len(words)-1] ^= 1 << 63 }
	case "W6 count":
		words := a.table.Books.Bits(a.table.Books.Toggling()[0], 0).Words()
		words[0] ^= 1
		return func() { words[0] ^= 1 }
	case "W7":
		old := head.Len()
		head.SetLen(a.w.types.list[a.table.Owning[0].Key].shape.Cap(head) + 1)
		return func() { head.SetLen(old) }
	case "W9":
		a.table.Places[a.table.Types[0]].Offset += 64
		return func() { a.table.Places[a.table.Types[0]].Offset -= 64 }
	case "W12":
		old := a.table.Sig
		a.table.Sig.Add(dyingID)
		return func() { a.table.Sig = old }
	case "L1":
		d := w.types.list[a.table.Types[0]]
		c := d.CellOf(a.table.At(0, 0))
		old := *c
		*c = entity.Cell{}
		return func() { *c = old }
	}
	return nil
}

// CorruptParts breaks one numbered invariant of the parts of a world that has an archetype of one
// type, and returns what puts it right.
func (w *World) CorruptParts(invariant string) (restore func()) {
	a := w.archetypes.list[0]
	switch invariant {
	case "T1":
		w.types.list[0].id++
		return func() { w.types.list[0].id-- }
	case "T1 keys":
		w.types.byKey[typeKey{}] = 1
		return func() { delete(w.types.byKey, typeKey{}) }
	case "T2":
		old := w.types.cleanup
		w.types.cleanup.Add(a.table.Types[0])
		return func() { w.types.cleanup = old }
	case "T2 copied":
		w.types.copied = append(w.types.copied, w.types.list[0])
		return func() { w.types.copied = w.types.copied[:len(w.types.copied)-1] }
	case "A1":
		delete(w.archetypes.byKey, a.key)
		return func() { w.archetypes.byKey[a.key] = a }
	case "A2":
		w.archetypes.valued++
		return func() { w.archetypes.valued-- }
	case "A3":
		a.edges = append(a.edges, edge{a.table.Types[0], a.table.To(&a.table.Table)})
		return func() { a.edges = a.edges[:len(a.edges)-1] }
	case "Q1":
		w.news.matched++
		return func() { w.news.matched-- }
	case "O1":
		w.loops.open++
		return func() { w.loops.open-- }
	case "O1 outer":
		w.loops.scans[0] = new(scan)
		return func() { w.loops.scans[0] = &w.loops.outer }
	case "O1 borrow", "O1 alone":
		w.loops.borrows = []*Borrow{{w: w}}
		if invariant == "O1 alone" {
			w.loops.borrows = []*Borrow{{w: w, out: true}, {w: w, out: true}}
		}
		w.loops.open = len(w.loops.borrows)
		return func() { w.loops.borrows, w.loops.open = nil, 0 }
	case "L2":
		t := w.types.list[0]
		t.Show(entity.View{})
		return func() { t.Show(w.ids.View()) }
	case "C1":
		tx := w.rows.Begin()
		tx.Expect(&a.table.Table, 1)
		return tx.Cancel
	}
	return nil
}

// OpenWorlds returns the number of worlds that are open.
func OpenWorlds() int {
	return tags.Open()
}

// SetNextVersion makes the next entity with a fresh index start at a version, to meet the wrap.
func (w *World) SetNextVersion(index uint32, version uint32) {
	view := w.ids.View()
	r := view.Record(entity.Make(index, w.ids.Tag(), 0))
	*(*uint32)(unsafe.Pointer(r)) = version // Safe because a record begins with its version.
}

// SetVersion sets the world's change version.
func (w *World) SetVersion(v uint32) { w.tables.Version = v }

// RegisterType registers a type that is known only at run time.
func (w *World) RegisterType(t reflect.Type) Type {
	return handle{w.register("Register", &typeInfo{rtype: t, name: t.String(), finder: finder{size: int(t.Size())}, align: t.Align()})}
}

// RegisterBit registers a type that is known only at run time, with enable bits.
func (w *World) RegisterBit(t reflect.Type) Type {
	return handle{w.register("Register", &typeInfo{rtype: t, name: t.String(), finder: finder{size: int(t.Size())}, align: t.Align(), enableable: true})}
}

// MarkType marks a type changed in e's chunk, as Component.Mut does.
func MarkType(t Type, e Entity) { t.info().mut(opMut, e) }

// Ways returns the number of ways that an archetype knows, from it and to it.
func Ways(a *Archetype) int { return a.table.Transitions() }

// Sweep gives up the archetypes of values that have no rows, as a change does when there are many.
func (w *World) Sweep() { w.sweep() }

// SharedValues returns the number of values that the stores know.
func (w *World) SharedValues() (n int) {
	for range w.sharedValues() {
		n++
	}
	return n
}

// SetSlot puts a slot into e's row and returns the one that was there.
func (m Managed[T]) SetSlot(e Entity, n uint32) (old uint32) {
	p, _ := m.t.own().find(opManagedGet, e)
	old, *(*value.Slot)(p) = uint32(*(*value.Slot)(p)), value.Slot(n)
	return old
}

// Pages returns how many pages of values there are.
func (m Managed[T]) Pages() int { return reflect.ValueOf(m.store).Elem().FieldByName("pages").Len() }

// Sum adds f of the rows' values up, without the checks of At: what the slots cost alone.
func (m Managed[T]) Sum(rows Rows, f func(*T) int) (sum int) {
	column := rows.column(m.t, "Managed.Sum")
	for i := range rows.Len() {
		sum += f(m.store.Get(*element[value.Slot](column, rows.s.first+i)))
	}
	return sum
}

// ShrinkSteps is Shrink with a budget of n steps, however long they take: by a clock that goes on
// when it is read, which Shrink does behind each step.
func (w *World) ShrinkSteps(n int) (done bool) {
	read := time.Duration(0)
	return w.shrink(time.Duration(n), func() time.Duration { read++; return read })
}

// ArchetypeBytes is how many bytes the state of an archetype takes.
const ArchetypeBytes = unsafe.Sizeof(Archetype{})
