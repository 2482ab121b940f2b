package command

import (
	"errors"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// codec writes the recorded values of one type to a world. Each call covers many entities.
type codec interface {
	// links returns the places of entities in a value.
	links() []world.Link
	// size returns the bytes of a value, or of an element of a buffer.
	size() uintptr
	// fill writes one value to each of the rows, except for those that it adds to unfit. It may be
	// called only if fills returns true.
	fill(k commandKind, rows ecs.Rows, from source, unfit *unfitRows)
	fills() bool
	// counted reports whether values are elements behind their number, so that sizes differ.
	counted() bool
	// spread writes one value to each of the entities, all of which have the type. It returns the
	// number of entities written, and the error that stopped it.
	spread(k commandKind, list []ecs.Entity, from source) (int, error)
	// patch replaces the placeholders in the value of an entity, if fills returns true.
	patch(e ecs.Entity, made []ecs.Entity)
	// shared returns v as a value of a shared type.
	shared(v any) ecs.SharedValue
}

// name replaces the placeholders in n values at p, size bytes each, with the entities made for
// them.
func name(links []world.Link, p unsafe.Pointer, n int, size uintptr, made []ecs.Entity) {
	for i := range n {
		for j := range links {
			// Safe because each value has entities at its links.
			l, at := &links[j], unsafe.Add(p, uintptr(i)*size+links[j].Offset)
			if l.Count > 0 {
				name(l.Each, at, l.Count, l.Size, made)
			} else if e := (*ecs.Entity)(at); e.IsPlaceholder() {
				number, _ := door.Number(*e)
				*e = made[number]
			}
		}
	}
}

// source is a list of recorded values, one for each entity or row to be written.
type source struct {
	base unsafe.Pointer // of the universe, or what some positions count from
	at   []int32        // position of each value, in units of 8 bytes from base
	made []ecs.Entity   // by number of placeholder; replaces placeholders in elements as they are written
}

// value returns where the i'th value is.
func (s source) value(i int) unsafe.Pointer {
	return unsafe.Add(s.base, int(s.at[i])*8) // Safe because a record's value lies there.
}

// from returns the values from the i'th on.
func (s source) from(i int) source { return source{s.base, s.at[i:], s.made} }

// errLacks is the error of an entity without the value to set or toggle.
var errLacks = errors.New("command: the entity does not have the sparse type")
