package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// SetSlot puts a slot into e's row and returns the one that was there.
func (m Managed[T]) SetSlot(e Entity, n uint32) (old uint32) {
	p, _ := m.t.OwnerLookup().LookUp(world.OpManagedGet, entity.ID(e))
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

// ArchetypeBytes is how many bytes the state of an archetype takes.
const ArchetypeBytes = unsafe.Sizeof(Archetype{})
