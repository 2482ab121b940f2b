package world

import "quarry/ecs/internal/entity"

// Direct returns the look-ups of a component type as they are now, for reading.
func (t *Type) Direct(op string) entity.Direct {
	t.WorldOrNil().CheckHandle(op)
	t.CheckLent(op, MayRead)
	return t.LookupTable.Direct()
}

// DirectMut returns the look-ups of a component type as they are now, for writing: all values are
// kept for snapshots and marked changed, so that each write needs neither.
func (t *Type) DirectMut(op string) entity.Direct {
	t.WorldOrNil().CheckHandle(op)
	t.CheckLent(op, MayWrite)
	for _, a := range t.World.Archetypes.List {
		if !a.Table.Sig.Has(t.ID) || a.Table.Store.Len() == 0 {
			continue
		}
		for pos := range a.Table.Store.Chunks() {
			a.Open(nil, t, pos, 0, a.Table.Store.RowsOf(pos)) // N4
		}
	}
	return t.LookupTable.Direct()
}
