package ecs

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Versions. For each type, a chunk's metadata (ecs/internal/table/metadata.go) holds the world's
// version when the type was last opened for writing, enabled or disabled, or when rows last entered
// the chunk. One further version per chunk records when rows last entered, left or were reordered.
// Rows that fill a gap bring the versions of their chunk along, so no write is ever missed; rows
// that only leave mark no type. Versions are compared by their signed distance, so the counter may
// wrap; 0 stands for "never" and is skipped.

// Version returns the current change version, with which writes are marked.
func (w *World) Version() uint32 { return w.core.Tables.Version }

// OrderVersion returns the version at which rows of entities with the type, or with the shared
// value, last came, went or were reordered in their chunks; 0 if that never happened. So a program
// that keeps something by such rows, as an index, knows when it must be made anew. Rows also come
// and go when an entity with the type gains or loses another one. The version of a value may be
// later: it counts rows of all values of the type whose archetypes the world has given up.
// OrderVersion panics for a type of another world. Cost: for each archetype of the world, and each
// chunk of those with the type. See also Ordered, which finds the chunks.
func (w *World) OrderVersion(t Type) uint32 {
	const op = "World.OrderVersion"
	w.inner().CheckHandle(op)
	info := w.core.Types.List[w.idOf(op, t)]
	v := info.Ordered
	if of, ok := t.(SharedValue); ok {
		for _, set := range w.core.Index.ArchetypesOfValue(of.core.Value.Canonical().Serial) {
			v = table.Later(v, set.Metadata.Latest())
		}
		return v
	}
	for _, a := range w.core.Archetypes.List {
		if a.Table.Sig.Has(info.ID) {
			v = table.Later(v, a.Table.Metadata.Latest())
		}
	}
	return v
}

// Advance starts a new change version and returns it: later writes count as changed since every
// earlier version. The version wraps after 2^32 calls, skipping 0; comparisons are correct within
// half of that range. Advance panics while the world is lent.
func (w *World) Advance() uint32 { return w.inner().Advance() }

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
	return query.NewAt(&s.Binding.Archetype.Table.Metadata, p.Slot(), s.Pos, s.First+i, since)
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
	if p.Flags()&(world.MayWrite|world.BarrierWrite) == 0 {
		rows.core.Refuse(h.t, op)
	}
	s := rows.core.Scan
	s.Binding.Archetype.Touch(s.Borrow.LeaseOrNil(), p.Slot(), s.Pos, s.First+i, 1)
}

// ChangedSince reports whether e is alive, has the component, and the component may have changed
// after the given version: in e's row, if the type is registered with TrackRows, else in any row of
// e's chunk. For version 0 it reports whether e has the component.
func (h handle) ChangedSince(e Entity, since uint32) bool {
	return query.ChangedSince(h.t.OwnerLookup(), "Component.ChangedSince", entity.ID(e), since)
}
