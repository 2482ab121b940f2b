package ecs

// handle points to a world's typeInfo of a registered type. Component, Buffer and Managed embed it.
// The methods here do not depend on T, so they are compiled once. Every handle type gets a wrapper
// for each method of an embedded type, so handle has no other methods.
type handle struct{ t *typeInfo }

func (h handle) info() *typeInfo { return h.t }

func (h handle) operand() operand { return operand{t: h.t} }

// String returns the type's name. The name of a buffer is [] followed by the element's name; the
// name of a managed type begins with "managed".
func (h handle) String() string {
	if h.t == nil {
		return "unregistered"
	}
	return h.t.name
}

// Has reports whether e is alive and has the type, enabled or disabled.
func (h handle) Has(e Entity) bool {
	p, _ := h.t.own().find(opHas, e)
	return p != nil
}

// Remove removes the type from e, along with the elements of a buffer or the managed value. It
// returns false if e is not alive or does not have the type, and panics like Component.Add.
func (h handle) Remove(e Entity) bool { return h.t.remove("Component.Remove", e) }

// TryRemove is like Remove but returns the *LimitError: the row may need a new chunk in the
// archetype that it moves to.
func (h handle) TryRemove(e Entity) (bool, error) { return h.t.tryRemove("Component.Remove", e) }

// In reports whether the rows' chunk has the type. The answer varies for types in Optional and Any,
// and for batches that span several archetypes. In panics for a type that the query does not
// declare.
func (h handle) In(rows Rows) bool { return rows.in(h.t, "Component.In") }

// Changed reports whether the component may have changed in the rows' chunk after the given
// version. It may have changed if its column was opened for writing, if it was enabled or disabled,
// or if rows entered the chunk. For version 0 Changed returns true. It panics like Component.Slice,
// and returns false if the chunk lacks an Optional type.
func (h handle) Changed(rows Rows, since uint32) bool {
	p, ok := rows.placeOf(h.t, "Component.Changed")
	return ok && newer(rows.s.t.a.table.Books.Changed(p.Slot(), rows.s.pos), since)
}

// Mark marks the component changed in the rows' chunk, as Component.Slice does. It panics if the
// query does not declare the type with Write.
func (h handle) Mark(rows Rows) {
	p, ok := rows.placeOf(h.t, "Component.Mark")
	switch {
	case !ok:
	case p.Flags()&gatedWrite != 0:
		rows.s.t.a.touch(rows.s.b, p.Slot(), rows.s.pos, rows.s.first, rows.Len())
	case p.Flags()&mayWrite == 0:
		rows.refuse(h.t, "Component.Mark")
	default:
		*rows.s.t.a.table.Books.Version(p.Slot(), rows.s.pos) = h.t.w.tables.Version
	}
}
