package ecs

import (
	"quarry/ecs/internal/entity"
	"reflect"
	"time"
	"unsafe"
)

// Corrupt breaks one numbered invariant of a world that has at least two
// archetypes with rows, one query, an enableable type and a spilled buffer, and
// returns what puts it right.
func (w *World) Corrupt(invariant string) (restore func()) {
	var a *Archetype
	for _, b := range w.archetypes {
		if b.grid.Len() > 0 && len(b.books.Toggling()) > 0 && len(b.owning) > 0 {
			a = b
		}
	}
	first := a.grid.Chunks()[0].First
	ids := entities(a.grid.Row(0, 0).Base, a.grid.RowsOf(0))
	owner := &w.owners[first.Chunk()]
	var head *header
	for _, c := range a.owning {
		for row := range ids {
			if h := headerAt(a.grid.Row(0, row), c); h.ref != 0 {
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
		a.grid.Push(a.grid.PerUnit())
		return func() { a.grid.Push(-a.grid.PerUnit()) }
	case "W3", "W3 tenant", "W3 leak", "L1 length":
		return w.corruptOwners(invariant, owner)
	case "W4":
		w.created++
		return func() { w.created-- }
	case "W5", "W5 seat":
		return w.matchings[0].m.corrupt(invariant)
	case "W6":
		words := a.books.Bits(a.books.Toggling()[0], 0)
		words[len(words)-1] ^= 1 << 63
		return func() { words[len(words)-1] ^= 1 << 63 }
	case "W6 count":
		words := a.books.Bits(a.books.Toggling()[0], 0)
		words[0] ^= 1
		return func() { words[0] ^= 1 }
	case "W7":
		old := head.length
		head.length = head.capacity + 1
		return func() { head.length = old }
	case "W9":
		a.place[a.types[0]].offset += 64
		return func() { a.place[a.types[0]].offset -= 64 }
	case "W12":
		old := a.sig
		a.sig.Add(dyingID)
		return func() { a.sig = old }
	case "W9 hole":
		own := a.ownRows
		a.ownRows = 2 * own
		return func() { a.ownRows = own }
	case "W9 way":
		way := a.wayTo(w.archetypes[0])
		way.relabel = !way.relabel
		return way.find
	case "L1":
		d := w.types[a.types[0]]
		d.build()
		d.starts[first.Chunk()] += 2
		return func() { d.starts[first.Chunk()] -= 2 }
	}
	return nil
}

// corruptOwners is Corrupt of the table of owners and what is as long.
func (w *World) corruptOwners(invariant string, owner *owner) (restore func()) {
	switch invariant {
	case "W3":
		owner.at++
		return func() { owner.at-- }
	case "W3 tenant":
		s := &w.tenants[owner.at]
		s[7] = 1
		return func() { s[7] = 0 }
	case "L1 length":
		d := w.types[disabledID]
		d.build()
		all := d.starts
		d.starts = all[:len(all)-1]
		return func() { d.starts = all }
	case "W3 leak":
		e, err := w.shelf.Alloc()
		if err != nil {
			return nil
		}
		return func() { w.shelf.Free(e) }
	}
	return nil
}

// OpenWorlds returns the number of worlds that are open.
func OpenWorlds() int {
	return tags.Open()
}

// SetNextVersion makes the next entity with a fresh index start at a version,
// to meet the wrap.
func (w *World) SetNextVersion(index uint32, version uint32) {
	view := w.ids.View()
	r := view.Record(entity.Make(index, w.ids.Tag(), 0))
	*(*uint32)(unsafe.Pointer(r)) = version // Safe because a record begins with its version.
}

// SetVersion sets the world's change version.
func (w *World) SetVersion(v uint32) { w.version = v }

// RegisterType registers a type that is known only at run time.
func (w *World) RegisterType(t reflect.Type) Type {
	return handle{w.register("Register", typeInfo{rtype: t, name: t.String(), size: int(t.Size()), align: t.Align()})}
}

// RegisterBit registers a type that is known only at run time, with enable bits.
func (w *World) RegisterBit(t reflect.Type) Type {
	return handle{w.register("Register", typeInfo{rtype: t, name: t.String(), size: int(t.Size()), align: t.Align(), enableable: true})}
}

// MarkType marks a type changed in e's chunk, as Component.Mut does.
func MarkType(t Type, e Entity) { t.info().mut(opMut, e) }

// Ways returns the number of ways that an archetype knows, from it and to it.
func Ways(a *Archetype) int { return len(a.ways) }

// Sweep gives up the archetypes of values that have no rows, as a change does when there
// are many.
func (w *World) Sweep() { w.sweep() }

// SharedValues returns the number of values that the stores know.
func (w *World) SharedValues() (n int) {
	for _, t := range w.types {
		if t.shared != nil {
			t.shared.each(func(*value) { n++ })
		}
	}
	return n
}

// SetSlot puts a slot into e's row and returns the one that was there.
func (m Managed[T]) SetSlot(e Entity, n uint32) (old uint32) {
	p, _ := m.t.find(opManagedGet, e)
	old, *(*slot)(p) = uint32(*(*slot)(p)), slot(n)
	return old
}

// Pages returns how many pages of values there are.
func (m Managed[T]) Pages() int { return len(m.store.pages) }

// Sum adds f of the rows' values up, without the checks of At: what the slots cost alone.
func (m Managed[T]) Sum(rows Rows, f func(*T) int) (sum int) {
	column := rows.column(m.t, "Managed.Sum")
	for i := range rows.Len() {
		sum += f(m.store.get(*element[slot](column, rows.s.first+i)))
	}
	return sum
}

// ShrinkSteps is Shrink with a budget of n steps, however long they take: by a clock that goes on when
// it is read, which Shrink does behind each step.
func (w *World) ShrinkSteps(n int) (done bool) {
	read := time.Duration(0)
	return w.shrink(time.Duration(n), func() time.Duration { read++; return read })
}
