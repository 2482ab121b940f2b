package ecs

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/world"
)

// ChangedAt reports whether the component may have changed in the i'th row of rows after the given
// version: in that row, if the type is registered with TrackRows, else in any row of the chunk. It
// panics like Component.Changed, and if i is not in [0, rows.Len()); it returns false if the chunk
// lacks an Optional type.
func (h handle) ChangedAt(rows Rows, i int, since uint32) bool {
	p, ok := rows.core.PlaceOf(h.t, "Component.ChangedAt")
	rows.core.CheckRow("Component.ChangedAt", i)
	if !ok {
		return false
	}
	s := rows.core.Scan
	return query.NewAt(&s.Binding.Archetype.Table.Books, p.Slot(), s.Pos, s.First+i, since)
}

// MarkAt marks the component changed in the i'th row of rows; in all rows of the chunk, if the type
// is registered without TrackRows. With ReadOnly it serves loops that write some of their rows. It
// panics like Component.Mark, and if i is not in [0, rows.Len()).
func (h handle) MarkAt(rows Rows, i int) {
	const op = "Component.MarkAt"
	p, ok := rows.core.PlaceOf(h.t, op)
	rows.core.CheckRow(op, i)
	if !ok {
		return
	}
	if p.Flags()&(world.MayWrite|world.GatedWrite) == 0 {
		rows.core.Refuse(h.t, op)
	}
	s := rows.core.Scan
	s.Binding.Archetype.Touch(s.Borrow.LeaseOrNil(), p.Slot(), s.Pos, s.First+i, 1)
}

// ChangedSince reports whether e is alive, has the component, and the component may have changed
// after the given version: in e's row, if the type is registered with TrackRows, else in any row of
// e's chunk. For version 0 it reports whether e has the component.
func (h handle) ChangedSince(e Entity, since uint32) bool {
	return query.ChangedSince(h.t.OwnFinder(), "Component.ChangedSince", entity.ID(e), since)
}

// ChangedSince is Component.ChangedSince for a goroutine of a borrow.
func (l lookup) ChangedSince(e Entity, since uint32) bool {
	return query.ChangedSince(l.f, "Lookup.ChangedSince", entity.ID(e), since)
}
