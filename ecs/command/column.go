package command

import (
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
	// fill writes one value to each of the rows. It may be called only if fills returns true.
	fill(rows ecs.Rows, from source)
	fills() bool
	// spread writes one value to each of the entities, all of which have the type. It returns the
	// number of entities written, and the error that stopped it.
	spread(k kind, list []ecs.Entity, from source) (int, error)
	// patch replaces the placeholders in the value of an entity, if fills returns true.
	patch(e ecs.Entity, made []ecs.Entity)
	// shared returns v as a value of a shared type.
	shared(v any) ecs.SharedValue
}

// column is the codec of a component.
type column[T any] struct {
	c  ecs.Component[T]
	at []world.Link
}

func newColumn[T any](c ecs.Component[T]) codec {
	return &column[T]{c, door.FactsOf(c).Links}
}

func (c *column[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *column[T]) links() []world.Link { return c.at }

func (c *column[T]) fills() bool { return true }

func (c *column[T]) fill(rows ecs.Rows, from source) {
	to := c.c.Slice(rows)
	for i := range to {
		to[i] = *(*T)(from.value(i)) // Safe because a record of the type's op holds a T there.
	}
}

func (c *column[T]) spread(_ kind, list []ecs.Entity, from source) (int, error) {
	for i, e := range list {
		*c.c.Mut(e) = *(*T)(from.value(i)) // Safe because a record of the type's op holds a T there.
	}
	return len(list), nil
}

func (c *column[T]) patch(e ecs.Entity, made []ecs.Entity) {
	name(c.at, unsafe.Pointer(c.c.Mut(e)), 1, 0, made) // Safe because the value lives as long as the call.
}

func (c *column[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }

// name replaces the placeholders in n values at p, size bytes each, with the entities made for
// them.
func name(links []world.Link, p unsafe.Pointer, n int, size uintptr, made []ecs.Entity) {
	for i := range n {
		for j := range links {
			// Safe because each value has what its links say.
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
