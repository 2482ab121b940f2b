package query

import (
	"fmt"

	"quarry/ecs/internal/world"
)

// Enable bits by rows: of one row that a loop yields. Package world has them by entity and by query
// (enable.go there).

// ToggleAt toggles the component of the i'th row of rows.
func ToggleAt(t *world.Type, op string, rows Rows, i int, on bool) {
	p := rows.BitAt(t, op, i)
	if p.Flags()&(world.MayWrite|world.BarrierWrite) == 0 {
		rows.Refuse(t, op)
	}
	s := rows.Scan
	t.ToggleRow(s.Borrow.LeaseOrNil(), s.Binding.Archetype, s.Pos, s.First+i, on)
}

// BitAt returns the place of the type whose enable bit in the i'th row is wanted. It panics if
// there is no such bit.
func (r Rows) BitAt(t *world.Type, op string, i int) world.Place {
	t.CheckEnableable(op)
	p, ok := r.bitsOf(t, op)
	if !ok {
		panic(fmt.Sprintf("ecs: %s: %v has no %s: ask Component.In first", op, r.Scan.Binding.Archetype, t.Name))
	}
	r.CheckRow(op, i)
	return p
}

// bitsOf is PlaceOf, but for types too whose bits alone may be asked for.
func (r Rows) bitsOf(t *world.Type, op string) (p world.Place, ok bool) {
	if s := r.Scan; s != nil && r.serial() == s.Serial && s.World == t.World {
		if p = s.Binding.ColumnOf(t.ID); p.Flags()&world.MaySee != 0 {
			return p, true
		}
	}
	return r.PlaceOf(t, op)
}
