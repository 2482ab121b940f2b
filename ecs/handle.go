package ecs

// handle is a pointer to what a world knows of a type. Component, Buffer and Managed are one, with
// the methods here that do not depend on T: those are compiled once. Each type has wrappers
// of all methods of what is embedded, so no others are methods of handle.
type handle struct{ t *typeInfo }

func (h handle) info() *typeInfo { return h.t }

func (h handle) operand() operand { return operand{t: h.t} }

// String returns the type's name; that of a buffer is [] and the element's, and
// managed goes before that of a managed type.
func (h handle) String() string {
	if h.t == nil {
		return "unregistered"
	}
	return h.t.name
}

// Has reports whether e is alive and has the type, enabled or not.
func (h handle) Has(e Entity) bool {
	p, _ := h.t.find(opHas, e)
	return p != nil
}

// Remove takes the type from e, with the elements of a buffer or the managed value. It returns false when
// e is not alive or does not have it, and panics like Component.Add.
func (h handle) Remove(e Entity) bool { return h.t.remove("Component.Remove", e) }

// TryRemove is Remove that returns the *LimitError: the row may need a chunk in
// the archetype that it moves to.
func (h handle) TryRemove(e Entity) (bool, error) { return h.t.tryRemove("Component.Remove", e) }

// Enable switches e's component on. It returns false when e is not alive or
// does not have it, and panics when the type is not Enableable. It may be
// called during iteration: a loop's masks are snapshots and do not change.
func (h handle) Enable(e Entity) bool { return h.t.toggle("Component.Enable", e, true) }

// Disable switches e's component off: queries that name it pass e by, while Has
// and Get still find it. It returns and panics like Enable.
func (h handle) Disable(e Entity) bool { return h.t.toggle("Component.Disable", e, false) }

// Enabled reports whether e is alive and has the component, switched on. A type
// that is not Enableable is always on.
func (h handle) Enabled(e Entity) bool { return h.t.enabled("Component.Enabled", e) }

// EnabledAt reports whether the component of the i'th of rows is switched on now: Rows.Each
// and Rows.Mask are snapshots. It panics like Component.Slice, when i is not in
// [0, rows.Len()), where the chunk lacks an Optional type, and when the type is not Enableable.
func (h handle) EnabledAt(rows Rows, i int) bool {
	p, s := rows.bitAt(h.t, "Component.EnabledAt", i), rows.s
	return s.t.a.table.Books.Bit(p.Slot(), s.pos, s.first+i)
}

// EnableAt switches the component of the i'th of rows on. It panics like EnabledAt, and when
// the query does not declare Write of it. Goroutines of a loan toggle so in their rows.
func (h handle) EnableAt(rows Rows, i int) { h.t.toggleAt("Component.EnableAt", rows, i, true) }

// DisableAt switches the component of the i'th of rows off; see EnableAt.
func (h handle) DisableAt(rows Rows, i int) { h.t.toggleAt("Component.DisableAt", rows, i, false) }

// EnableQuery switches the component on for every entity that matches q and has it,
// and returns how many those are. Rows that do not match stay as they are: to switch
// all on, ask for ecs.Present or ecs.Disabled of the component. It may be called inside
// a loop, whose masks do not change, but not while the world is shared. It panics when
// the type is not Enableable. Cost: per 64 rows.
func (h handle) EnableQuery(q *Query) int { return h.t.toggleQuery("Component.EnableQuery", q, true) }

// DisableQuery switches the component off; see EnableQuery.
func (h handle) DisableQuery(q *Query) int {
	return h.t.toggleQuery("Component.DisableQuery", q, false)
}

// EnableList switches the component on for the entities of a list that are alive and
// have it, and returns how many those are, each counted once. It panics like
// EnableQuery, and for an entity of another world, before anything changes.
func (h handle) EnableList(list []Entity) int {
	return h.t.toggleList("Component.EnableList", list, true)
}

// DisableList switches the component off; see EnableList.
func (h handle) DisableList(list []Entity) int {
	return h.t.toggleList("Component.DisableList", list, false)
}

// In reports whether the rows' chunk has the type, which Optional and Any, and
// batches over several archetypes, leave open. It panics for a type that the query does
// not declare.
func (h handle) In(rows Rows) bool { return rows.in(h.t, "Component.In") }

// Changed reports whether the component may have changed in the rows' chunk
// since a version: whether it was opened for writing, enabled or disabled, or rows
// came in after it. Since version 0 everything has changed. It panics like
// Component.Slice, and returns false where the chunk lacks an Optional type.
func (h handle) Changed(rows Rows, since uint32) bool {
	p, ok := rows.placeOf(h.t, "Component.Changed")
	return ok && newer(rows.s.t.a.table.Books.Changed(p.Slot(), rows.s.pos), since)
}

// Mark marks the component changed in the rows' chunk, as Component.Slice does. It
// panics when the query does not declare Write of it.
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
