package ecs

import (
	"reflect"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/query"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// OpenWorlds returns the number of worlds that are open.
func OpenWorlds() int {
	return world.Tags.Open()
}

// RegisterType registers a type that is known only at run time.
func (w *World) RegisterType(t reflect.Type) Type {
	return handle{w.inner().Register("Register", &world.Type{Go: t, Name: t.String(), Finder: world.Finder{Size: int(t.Size())}, Align: t.Align()})}
}

// DriveBy sets what the loops of a query, and the parts of jobs over it, go through.
func (q *Query) DriveBy(d query.Driver) { q.core.Driver = d }

// SharedValues returns the number of values that the stores know.
func (w *World) SharedValues() (n int) {
	for range w.inner().SharedValues() {
		n++
	}
	return n
}

// SetSlot puts a slot into e's row and returns the one that was there.
func (m Managed[T]) SetSlot(e Entity, n uint32) (old uint32) {
	p, _ := m.t.OwnFinder().LookUp(world.OpManagedGet, entity.ID(e))
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
