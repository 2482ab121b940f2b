package ecs

// handle is a pointer to what a world knows of a type. Component, Buffer and Managed are one, with
// the methods here that do not depend on T: those are compiled once. Each type has wrappers of all
// methods of what is embedded, so no others are methods of handle.
type handle struct{ t *typeInfo }

func (h handle) info() *typeInfo { return h.t }

func (h handle) operand() operand { return operand{t: h.t} }

// String returns the type's name; that of a buffer is [] and the element's, and managed goes before
// that of a managed type.
func (h handle) String() string {
	if h.t == nil {
		return "unregistered"
	}
	return h.t.name
}

// Has reports whether e is alive and has the type, enabled or not.
func (h handle) Has(e Entity) bool {
	p, _ := h.t.own().find(opHas, e)
	return p != nil
}

// Remove takes the type from e, with the elements of a buffer or the managed value. It returns
// false when e is not alive or does not have it, and panics like Component.Add.
func (h handle) Remove(e Entity) bool { return h.t.remove("Component.Remove", e) }

// TryRemove is Remove that returns the *LimitError: the row may need a chunk in the archetype that
// it moves to.
func (h handle) TryRemove(e Entity) (bool, error) { return h.t.tryRemove("Component.Remove", e) }

// In reports whether the rows' chunk has the type, which Optional and Any, and batches over several
// archetypes, leave open. It panics for a type that the query does not declare.
func (h handle) In(rows Rows) bool { return rows.in(h.t, "Component.In") }

// Changed reports whether the component may have changed in the rows' chunk since a version:
// whether it was opened for writing, enabled or disabled, or rows came in after it. Since version 0
// everything has changed. It panics like Component.Slice, and returns false where the chunk lacks
// an Optional type.
func (h handle) Changed(rows Rows, since uint32) bool {
	p, ok := rows.placeOf(h.t, "Component.Changed")
	return ok && newer(rows.s.t.a.table.Books.Changed(p.Slot(), rows.s.pos), since)
}

// Mark marks the component changed in the rows' chunk, as Component.Slice does. It panics when the
// query does not declare Write of it.
func (h handle) Mark(rows Rows) {
	p, ok := rows.placeOf(h.t, "Component.Mark")
	switch {
	case !ok:
	case p.Flags()&lentWrite != 0:
		rows.s.markLent(p)
	case p.Flags()&mayWrite == 0:
		rows.refuse(h.t, "Component.Mark")
	default:
		*rows.s.t.a.table.Books.Version(p.Slot(), rows.s.pos) = h.t.w.tables.Version
	}
}
