package command

import (
	"unsafe"

	"quarry/ecs"
)

// codec writes the recorded values of one type to a world. Each method is called for many
// entities at once.
type codec interface {
	// links returns where a value has entities.
	links() []uintptr
	// size returns the bytes of a value, or of an element.
	size() uintptr
	// fill writes one value to each of the rows, if fills says that it can.
	fill(rows ecs.Rows, from source)
	fills() bool
	// spread writes one value to each of the entities, which have the type. It returns how
	// many it could write, and why no more.
	spread(k kind, list []ecs.Entity, from source) (int, error)
	// patch replaces the placeholders in the value of an entity, if fills.
	patch(e ecs.Entity, made []ecs.Entity)
	// shared returns a value of a shared type.
	shared(v any) ecs.SharedValue
}

// column is the codec of a component.
type column[T any] struct {
	c  ecs.Component[T]
	at []uintptr // links
}

func newColumn[T any](c ecs.Component[T]) codec {
	return &column[T]{c, ecs.FactsOf(c).Links}
}

func (c *column[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *column[T]) links() []uintptr { return c.at }

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
	p := unsafe.Pointer(c.c.Mut(e)) // Safe because it lives as long as the call.
	for _, at := range c.at {
		replace(p, at, made)
	}
}

func (c *column[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }

// replace makes a link that is a placeholder the entity that was made for it.
func replace(p unsafe.Pointer, at uintptr, made []ecs.Entity) {
	e := (*ecs.Entity)(unsafe.Add(p, at)) // Safe because the value has an entity there.
	if e.IsPlaceholder() {
		n, _ := e.Placeholder()
		*e = made[n]
	}
}
