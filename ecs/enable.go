package ecs

import (
	"fmt"
	"unsafe"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
)

// Enable bits: one word per 64 rows, for each type registered with Enableable, in Go memory beside
// the chunk. Toggling is not a structural change and moves nothing. Bits of rows beyond the last
// are 0 (W6). The cell of a stretch points to the bits, so toggling one entity's component costs
// one look-up and one word (entity.Sight.Switch).

// Enable enables e's component. It returns false if e is not alive or does not have the component,
// and panics if the type is not Enableable. It may be called inside a loop: the mask of the current
// rows is a snapshot and does not change, but the masks of later chunks include the change.
func (h handle) Enable(e Entity) bool {
	return h.t.own().sight().Switch(entity.ID(e), true)
}

// Disable disables e's component: queries that name the component skip e, while Has and Get still
// find it. It returns and panics like Enable.
func (h handle) Disable(e Entity) bool {
	return h.t.own().sight().Switch(entity.ID(e), false)
}

// Enabled reports whether e is alive and has the component, enabled. A type that is not Enableable
// is always enabled.
func (h handle) Enabled(e Entity) bool { return h.t.own().enabled("Component.Enabled", e) }

// EnabledAt reports whether the component of the i'th row of rows is enabled at the call, unlike
// Rows.Each and Rows.Mask, which are snapshots. The query may read the component, or name it in
// With, Disabled or Present. EnabledAt panics like Component.Slice, if i is not in [0, rows.Len()),
// if the chunk lacks an Optional type, and if the type is not Enableable.
func (h handle) EnabledAt(rows Rows, i int) bool {
	p, s := rows.bitAt(h.t, "Component.EnabledAt", i), rows.s
	return s.t.a.table.Books.Bits(p.Slot(), s.pos).Has(s.first + i)
}

// EnableAt enables the component of the i'th row of rows. It panics like EnabledAt, and if the
// query does not declare the component with Write. Goroutines of a borrow use it to toggle their
// rows.
func (h handle) EnableAt(rows Rows, i int) { h.t.toggleAt("Component.EnableAt", rows, i, true) }

// DisableAt disables the component of the i'th row of rows; see EnableAt.
func (h handle) DisableAt(rows Rows, i int) { h.t.toggleAt("Component.DisableAt", rows, i, false) }

// EnableQuery enables the component for every entity that matches q and has it, and returns the
// number of these entities. Rows that do not match are unchanged: to enable the component of all
// entities, query with ecs.Present or ecs.Disabled of it. EnableQuery may be called inside a loop,
// whose masks do not change, but not while the world is shared. It panics if the type is not
// Enableable. Cost: per 64 rows.
func (h handle) EnableQuery(q *Query) int { return h.t.toggleQuery("Component.EnableQuery", q, true) }

// DisableQuery disables the component; see EnableQuery.
func (h handle) DisableQuery(q *Query) int {
	return h.t.toggleQuery("Component.DisableQuery", q, false)
}

// EnableList enables the component for the entities of a list that are alive and have it. It
// returns the number of these entities and counts duplicates once. It panics like EnableQuery, and
// for an entity of another world, before anything changes.
func (h handle) EnableList(list []Entity) int {
	return h.t.toggleList("Component.EnableList", list, true)
}

// DisableList disables the component; see EnableList.
func (h handle) DisableList(list []Entity) int {
	return h.t.toggleList("Component.DisableList", list, false)
}

func (f *finder) enabled(op string, e Entity) bool {
	if r, _ := f.sight().Find(entity.ID(e)); r != nil {
		if bits := f.CellOf(r.Location).Bits(); bits != nil {
			return bits.HasAt(r.Location)
		}
	}
	t := f.known(op)
	a, pos, row := t.seat(op, e)
	if a == nil {
		return false
	}
	f.checkRead(op)
	return !t.enableable || a.table.Books.Bits(a.table.Places[t.id].Slot(), pos).Has(row)
}

// switchElse is the owner's toggle for the cases that entity.Sight.Switch does not handle.
func switchElse(s *entity.Sight, e entity.ID, on bool) bool {
	op := "Component.Disable"
	if on {
		op = "Component.Enable"
	}
	return (*finder)(unsafe.Pointer(s)).toggle(op, Entity(e), on) // Safe because the owner's look-ups write by Sights that begin a finder.
}

func (f *finder) toggle(op string, e Entity, on bool) bool {
	t := f.known(op)
	t.checkEnableable(op)
	if f.b != nil || !t.w.Shared() {
		f.checkWrite(op)
	}
	a, pos, row := t.seat(op, e)
	if a == nil {
		return false
	}
	t.toggleRow(f.b, a, pos, row, on)
	return true
}

// toggleAt toggles the component of the i'th row of rows.
func (t *typeInfo) toggleAt(op string, rows Rows, i int, on bool) {
	p := rows.bitAt(t, op, i)
	if p.Flags()&(mayWrite|gatedWrite) == 0 {
		rows.refuse(t, op)
	}
	s := rows.s
	t.toggleRow(s.b, s.t.a, s.pos, s.first+i, on)
}

// bitAt returns the place of the type whose enable bit in the i'th row is wanted. It panics if
// there is no such bit.
func (r Rows) bitAt(t *typeInfo, op string, i int) place {
	t.checkEnableable(op)
	p, ok := r.bitsOf(t, op)
	if !ok {
		// errors.md, Loops and rows: `...: ask ....In first` | The chunk lacks a type that is
		// `Optional` or one of `Any`. | Ask `In`, or see whether `Slice` is nil.
		panic(fmt.Sprintf("ecs: %s: %v has no %s: ask Component.In first", op, r.s.t.a, t.name))
	}
	r.checkRow(op, i)
	return p
}

// bitsOf is placeOf, but for types too whose bits alone may be asked for.
func (r Rows) bitsOf(t *typeInfo, op string) (p place, ok bool) {
	if s := r.s; s != nil && r.serial() == s.serial && s.w == t.w {
		if p = s.t.columnOf(t.id); p.Flags()&maySee != 0 {
			return p, true
		}
	}
	return r.placeOf(t, op)
}

// checkEnableable panics for a zero handle and a type that is not Enableable.
func (t *typeInfo) checkEnableable(op string) {
	if t == nil {
		t.world().refuse(op)
	}
	if !t.enableable {
		// errors.md, Types, terms and handles: `was not registered with ecs.Enableable` | A bit of
		// a type that has none. | Add the option where the type is registered.
		panic(fmt.Sprintf("ecs: %s: %s was not registered with ecs.Enableable", op, t.name))
	}
}

// seat returns e's archetype, chunk and row. a is nil if e is not alive or lacks the type.
func (t *typeInfo) seat(op string, e Entity) (a *Archetype, pos, row int) {
	w := t.world()
	r := w.recordOf(op, e)
	if r == nil {
		return nil, 0, 0
	}
	a, pos, at := w.rowOf(r)
	if !a.table.Sig.Has(t.id) {
		return nil, 0, 0
	}
	return a, pos, at.Row
}

// toggleRow sets a row's bit and marks the type changed. It uses atomics for a goroutine of a
// borrow, and for any goroutine while the world is shared.
func (t *typeInfo) toggleRow(b *Borrow, a *Archetype, pos, row int, on bool) {
	slot, w := a.table.Places[t.id].Slot(), a.w
	if b == nil {
		b = w.loops.shared()
	}
	if b != nil {
		a.table.Books.Bits(slot, pos).Toggle(row, on)
		a.touch(b, slot, pos, row, 1)
		return
	}
	a.table.Books.Bits(slot, pos).Set(row, on)
	a.table.Books.Touch(slot, pos, row, 1, w.tables.Version)
}

// Toggling in bulk, by query and by list, sets whole words of bits.

func (t *typeInfo) toggleQuery(op string, q *Query, on bool) int {
	t.checkToggle(op)
	t.w.checkQuery(op, q)
	q.checkLent(op, true)
	return t.toggleRows(q.selectRows(op), on)
}

func (t *typeInfo) toggleList(op string, list []Entity, on bool) int {
	t.checkToggle(op)
	return t.toggleRows(t.w.selectList(op, list, false), on)
}

// checkToggle panics unless bits of the type may be toggled in bulk.
func (t *typeInfo) checkToggle(op string) {
	t.world().checkHandle(op)
	if t.w.Shared() {
		// errors.md, Borrows: `the world is shared: until Borrow.End bits are switched entity by
		// entity` | Bits by query or list between `Share` and `End`. | `Enable` and `Disable`.
		panic("ecs: " + op + ": the world is shared: until Borrow.End bits are switched entity by entity")
	}
	t.checkEnableable(op)
	t.checkLent(op, mayWrite)
}

// toggleRows sets the bits of the selected rows that have the type, and marks the type changed in
// their chunks. It returns the number of those rows.
func (t *typeInfo) toggleRows(tx *change.Tx, on bool) (n int) {
	for i := range tx.Parts {
		p := &tx.Parts[i]
		if !p.Table.Sig.Has(t.id) {
			continue
		}
		n += p.Rows
		slot, books := p.Table.Places[t.id].Slot(), &p.Table.Books
		if p.Whole || p.IsMasked() {
			for pos := range p.Table.Store.Chunks() {
				switch some := toggleChunk(p, slot, pos, on); {
				case some && p.Whole:
					books.Touch(slot, pos, 0, p.Table.Store.RowsOf(pos), t.w.tables.Version)
				case some:
					touchMask(books, slot, pos, p.Mask(pos), t.w.tables.Version)
				}
			}
			continue
		}
		for _, row := range p.Listed() {
			pos, at := p.Table.Store.Find(int(uint32(row)))
			books.Bits(slot, pos).Set(at, on)
			books.Touch(slot, pos, at, 1, t.w.tables.Version)
		}
	}
	return n
}

// toggleChunk sets the bits of the part's rows in one chunk, and reports whether there are any.
func toggleChunk(p *change.Part, slot uint16, pos int, on bool) bool {
	bits := p.Table.Books.Bits(slot, pos)
	if !p.Whole {
		return bits.SetMask(p.Mask(pos), on)
	}
	rows := p.Table.Store.RowsOf(pos)
	if bits.ClearRange(0, rows); on {
		bits.SetRange(0, rows)
	}
	return true
}
