package command

import (
	"quarry/ecs"
	"quarry/ecs/internal/world"
)

// Commands with shared values. The writer keeps them as Go values, equal values once.

// AddShared records that the target's entities get the shared value v, unless they already have a
// value of the type.
func AddShared[T comparable, G Target](r Recorder, to G, c ecs.Shared[T], v T) {
	recordShared(writerOf(r), "AddShared", add, to, c, v)
}

// PutShared records that the target's entities get the shared value v; an existing value of the
// type is replaced.
func PutShared[T comparable, G Target](r Recorder, to G, c ecs.Shared[T], v T) {
	recordShared(writerOf(r), "PutShared", put, to, c, v)
}

// SetShared records that v replaces the shared value of the target's entities. A single entity, and
// each entity of a list, must have a value of the type when the command is played; of a query's
// matches, those that have one are set.
func SetShared[T comparable, G Target](r Recorder, to G, c ecs.Shared[T], v T) {
	recordShared(writerOf(r), "SetShared", set, to, c, v)
}

func recordShared[T comparable, G Target](w *Writer, name string, k commandKind, to G, c ecs.Shared[T], v T) {
	if e, ok := any(to).(ecs.Entity); ok { // see Target
		w.check(name)
		w.checkEntity(name, e)
		number := numberOfShared(w, name, k, c)
		value := w.stream.goValue(v)
		_, at := w.record(number, e, 0, nil, 8)
		*(*uint64)(at) = value // Safe because the room has 8 bytes.
		return
	}
	list, q := severalOf(to)
	one, number := w.several(name, k, list, q, c)
	if number == 0 {
		number = w.noteSeveral(one, &values[T]{c})
	}
	value := w.stream.goValue(v)
	w.write(number-1, list, q, valueOf(&value))
}

// numberOfShared returns the number of the op that sets values of a shared type.
func numberOfShared[T comparable](w *Writer, name string, k commandKind, c ecs.Shared[T]) uint16 {
	index := w.stream.indexOf(name, c)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	return w.stream.note(k, c, index, &values[T]{c})
}

// values is the codec of a shared type.
type values[T comparable] struct{ c ecs.Shared[T] }

func (c *values[T]) size() uintptr { return 0 }

func (c *values[T]) links() []world.Link { return nil }

func (c *values[T]) fills() bool { return false }

func (c *values[T]) fill(commandKind, ecs.Rows, source, *unfitRows) {}

func (c *values[T]) counted() bool { return false }

func (c *values[T]) spread(_ commandKind, list []ecs.Entity, _ source) (int, error) {
	return len(list), nil
}

func (c *values[T]) patch(ecs.Entity, []ecs.Entity) {}

func (c *values[T]) shared(v any) ecs.SharedValue {
	x, _ := v.(T) // an any that holds the nil of an interface type is not a T
	return c.c.Of(x)
}
