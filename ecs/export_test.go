package ecs

import (
	"reflect"
	"time"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Corrupt breaks one numbered invariant of a world that has at least two archetypes with rows, one
// query, an enableable type and a spilled buffer, and returns what puts it right.
func (w *World) Corrupt(invariant string) (restore func()) {
	var a *Archetype
	for _, b := range w.core.Archetypes.List {
		if b.Table.Store.Len() > 0 && len(b.Table.Books.Toggling()) > 0 && len(b.Table.Owning) > 0 {
			a = archetypeFrom(b)
		}
	}
	ids := world.Entities(a.core.Table.Store.Row(0, 0).Base, a.core.Table.Store.RowsOf(0))
	var head *value.Header
	for _, c := range a.core.Table.Owning {
		for row := range ids {
			if h := value.HeaderOf(a.core.Table.Store.Row(0, row), c); h.Spilled() {
				head = h
			}
		}
	}
	switch invariant {
	case "W1":
		r := w.inner().Find(ids[0])
		old := r.Location
		r.Location++
		return func() { r.Location = old }
	case "W2":
		a.core.Table.Store.Push(a.core.Table.Store.PerUnit())
		return func() { a.core.Table.Store.Push(-a.core.Table.Store.PerUnit()) }
	case "W4":
		w.core.Rows.Created++
		return func() { w.core.Rows.Created-- }
	case "M1":
		a.core.Table.Closed = true
		return func() { a.core.Table.Closed = false }
	case "W6":
		words := a.core.Table.Books.Bits(a.core.Table.Books.Toggling()[0], 0).Words()
		words[len(words)-1] ^= 1 << 63
		return func() { words[len(words)-1] ^= 1 << 63 }
	case "W6 count":
		words := a.core.Table.Books.Bits(a.core.Table.Books.Toggling()[0], 0).Words()
		words[0] ^= 1
		return func() { words[0] ^= 1 }
	case "W7":
		old := head.Len()
		head.SetLen(a.core.World.Types.List[a.core.Table.Owning[0].Key].Shape.Cap(head) + 1)
		return func() { head.SetLen(old) }
	case "W9":
		a.core.Table.Places[a.core.Table.Types[0]].Offset += 64
		return func() { a.core.Table.Places[a.core.Table.Types[0]].Offset -= 64 }
	case "W12":
		old := a.core.Table.Sig
		a.core.Table.Sig.Add(world.DyingID)
		return func() { a.core.Table.Sig = old }
	case "L1":
		d := w.core.Types.List[a.core.Table.Types[0]]
		c := d.CellOf(a.core.Table.At(0, 0))
		old := *c
		*c = entity.Cell{}
		return func() { *c = old }
	}
	return nil
}

// CorruptParts breaks one numbered invariant of the parts of a world that has an archetype of one
// type, and returns what puts it right.
func (w *World) CorruptParts(invariant string) (restore func()) {
	a := w.core.Archetypes.List[0]
	switch invariant {
	case "T1":
		w.core.Types.List[0].ID++
		return func() { w.core.Types.List[0].ID-- }
	case "T1 keys":
		w.core.Types.ByKey[world.TypeKey{}] = 1
		return func() { delete(w.core.Types.ByKey, world.TypeKey{}) }
	case "T2":
		old := w.core.Types.Cleanup
		w.core.Types.Cleanup.Add(a.Table.Types[0])
		return func() { w.core.Types.Cleanup = old }
	case "T2 copied":
		w.core.Types.Copied = append(w.core.Types.Copied, w.core.Types.List[0])
		return func() { w.core.Types.Copied = w.core.Types.Copied[:len(w.core.Types.Copied)-1] }
	case "A1":
		delete(w.core.Archetypes.ByKey, a.Key)
		return func() { w.core.Archetypes.ByKey[a.Key] = a }
	case "A2":
		w.core.Archetypes.Valued++
		return func() { w.core.Archetypes.Valued-- }
	case "A3":
		a.Edges = append(a.Edges, world.Edge{ID: a.Table.Types[0], Path: a.Table.To(&a.Table.Table)})
		return func() { a.Edges = a.Edges[:len(a.Edges)-1] }
	case "Q1":
		w.core.News.Matched++
		return func() { w.core.News.Matched-- }
	case "O1":
		w.core.Loops.Open++
		return func() { w.core.Loops.Open-- }
	case "O1 outer":
		all := query.ScansOf(w.inner())
		all.List[0] = new(query.Scan)
		return func() { all.List[0] = &all.Outer }
	case "O1 borrow", "O1 alone":
		w.core.Loops.Borrows = []*world.Lease{{World: w.inner(), All: true}}
		if invariant == "O1 alone" {
			w.core.Loops.Borrows = []*world.Lease{{World: w.inner(), All: true, Out: true}, {World: w.inner(), All: true, Out: true}}
		}
		w.core.Loops.Open = len(w.core.Loops.Borrows)
		return func() { w.core.Loops.Borrows, w.core.Loops.Open = nil, 0 }
	case "L2":
		t := w.core.Types.List[0]
		t.Show(entity.View{})
		return func() { t.Show(w.core.IDs.View()) }
	case "C1":
		tx := w.core.Rows.Begin()
		tx.Expect(&a.Table.Table, 1)
		return tx.Cancel
	}
	return nil
}

// OpenWorlds returns the number of worlds that are open.
func OpenWorlds() int {
	return world.Tags.Open()
}

// SetNextVersion makes the next entity with a fresh index start at a version, to meet the wrap.
func (w *World) SetNextVersion(index uint32, version uint32) {
	view := w.core.IDs.View()
	r := view.Record(entity.Make(index, w.core.IDs.Tag(), 0))
	*(*uint32)(unsafe.Pointer(r)) = version // Safe because a record begins with its version.
}

// SetVersion sets the world's change version.
func (w *World) SetVersion(v uint32) { w.core.Tables.Version = v }

// RegisterType registers a type that is known only at run time.
func (w *World) RegisterType(t reflect.Type) Type {
	return handle{w.inner().Register("Register", &world.Type{Go: t, Name: t.String(), Finder: world.Finder{Size: int(t.Size())}, Align: t.Align()})}
}

// RegisterBit registers a type that is known only at run time, with enable bits.
func (w *World) RegisterBit(t reflect.Type) Type {
	return handle{w.inner().Register("Register", &world.Type{Go: t, Name: t.String(), Finder: world.Finder{Size: int(t.Size())}, Align: t.Align(), Enableable: true})}
}

// DriveBy sets what the loops of a query, and the parts of jobs over it, go through.
func (q *Query) DriveBy(d query.Driver) { q.core.Driver = d }

// Ways returns the number of ways that an archetype knows, from it and to it.
func Ways(a *Archetype) int { return a.core.Table.Transitions() }

// Sweep gives up the archetypes of values that have no rows, as a change does when there are many.
func (w *World) Sweep() { w.inner().Sweep() }

// SharedValues returns the number of values that the stores know.
func (w *World) SharedValues() (n int) {
	for range w.inner().SharedValues() {
		n++
	}
	return n
}

// SetSlot puts a slot into e's row and returns the one that was there.
func (m Managed[T]) SetSlot(e Entity, n uint32) (old uint32) {
	p, _ := m.t.OwnFinder().LookUp(world.OpManagedGet, entity.ID(e))
	old, *(*value.Slot)(p) = uint32(*(*value.Slot)(p)), value.Slot(n)
	return old
}

// Pages returns how many pages of values there are.
func (m Managed[T]) Pages() int { return reflect.ValueOf(m.store).Elem().FieldByName("pages").Len() }

// Sum adds f of the rows' values up, without the checks of At: what the slots cost alone.
func (m Managed[T]) Sum(rows Rows, f func(*T) int) (sum int) {
	column := rows.core.Column(m.t, "Managed.Sum")
	for i := range rows.Len() {
		sum += f(m.store.Get(*element[value.Slot](column, rows.core.Scan.First+i)))
	}
	return sum
}

// ShrinkSteps is Shrink with a budget of n steps, however long they take: by a clock that goes on
// when it is read, which Shrink does behind each step.
func (w *World) ShrinkSteps(n int) (done bool) {
	read := time.Duration(0)
	return w.inner().Shrink(time.Duration(n), func() time.Duration { read++; return read })
}

// ArchetypeBytes is how many bytes the state of an archetype takes.
const ArchetypeBytes = unsafe.Sizeof(Archetype{})
