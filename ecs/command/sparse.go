package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// Commands with the value of a sparse type. They move no rows, so they have no part in the outcome
// of a program: all of them are made in their order, after the rows of the run have moved
// (player.spread). Room for the entries is made before the run changes anything.

// AddSparse records that the target's entities get the sparse type with value v, unless they
// already have it.
func AddSparse[T any, G Target](r Recorder, to G, s ecs.Sparse[T], v T) {
	recordSparse(writerOf(r), "AddSparse", add, to, s, v)
}

// PutSparse records that the target's entities get the sparse type with value v; an existing value
// is replaced.
func PutSparse[T any, G Target](r Recorder, to G, s ecs.Sparse[T], v T) {
	recordSparse(writerOf(r), "PutSparse", put, to, s, v)
}

// SetSparse records that the value of the target's entities becomes v. A single entity, and each
// entity of a list, must have the type when the command is made, or the command fails after others
// were applied: whether it has is not known before. Of a query's matches, those that have it are
// set.
func SetSparse[T any, G Target](r Recorder, to G, s ecs.Sparse[T], v T) {
	recordSparse(writerOf(r), "SetSparse", set, to, s, v)
}

func recordSparse[T any, G Target](w *Writer, name string, k commandKind, to G, s ecs.Sparse[T], v T) {
	if e, ok := any(to).(ecs.Entity); ok { // see Target
		w.check(name)
		w.checkEntity(name, e)
		number := numberOfSparse(w, name, k, s)
		r, value := w.record1(number, e, int(unsafe.Sizeof(v)))
		*(*T)(value) = v // Safe because the room is a T's, aligned to 8 bytes, and T has no Go pointers.
		if links := w.stream.links[number]; len(links) > 0 {
			w.noteLinks(r, links, value, 1, 0)
		}
		return
	}
	list, q := severalOf(to)
	one, number := w.several(name, k, list, q, s)
	if number == 0 {
		number = w.noteSeveral(one, &entries[T]{s, door.FactsOf(s).Links})
	}
	w.write(number-1, list, q, valueOf(&v))
}

// numberOfSparse returns the number of the op that writes values of a sparse type.
func numberOfSparse[T any](w *Writer, name string, k commandKind, s ecs.Sparse[T]) uint16 {
	index := w.stream.indexOf(name, s)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	return w.stream.note(k, s, index, &entries[T]{s, door.FactsOf(s).Links})
}

// entries is the codec of a sparse type.
type entries[T any] struct {
	s  ecs.Sparse[T]
	at []world.Link
}

func (c *entries[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *entries[T]) links() []world.Link { return c.at }

func (c *entries[T]) fills() bool { return false }

func (c *entries[T]) fill(commandKind, ecs.Rows, source, *unfitRows) {}

func (c *entries[T]) counted() bool { return false }

func (c *entries[T]) spread(k commandKind, list []ecs.Entity, from source) (n int, err error) {
	limit := ecs.Try(func() {
		for ; n < len(list); n++ {
			e, v := list[n], *(*T)(from.value(n)) // Safe because a record of the type's op holds a T there.
			if len(c.at) > 0 {
				name(c.at, unsafe.Pointer(&v), 1, 0, from.made) // Safe because the value lives as long as the call.
			}
			switch {
			case k != add && c.s.Set(e, v):
			case k == set:
				err = errLacks
				return
			default:
				c.s.Add(e, v)
			}
		}
	})
	if limit != nil {
		err = limit
	}
	return n, err
}

func (c *entries[T]) patch(ecs.Entity, []ecs.Entity) {}

func (c *entries[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }
