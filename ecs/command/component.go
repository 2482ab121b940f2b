package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// Commands with the value of a component. Add keeps an existing value, Put replaces it, and Set
// requires one.

// Add records that the target's entities get the component with value v, unless they already have
// it.
func Add[T any, G Target](r Recorder, to G, c ecs.Component[T], v T) {
	if e, ok := any(to).(ecs.Entity); ok {
		recordOne(writerOf(r), "Add", add, e, c, &v)
		return
	}
	recordMany(writerOf(r), "Add", add, to, c, &v)
}

// Put records that the target's entities get the component with value v; an existing value is
// replaced.
func Put[T any, G Target](r Recorder, to G, c ecs.Component[T], v T) {
	if e, ok := any(to).(ecs.Entity); ok {
		recordOne(writerOf(r), "Put", put, e, c, &v)
		return
	}
	recordMany(writerOf(r), "Put", put, to, c, &v)
}

// Set records that the component of the target's entities becomes v. A single entity, and each
// entity of a list, must have the component when the command is played; of a query's matches, those
// that have it are set.
func Set[T any, G Target](r Recorder, to G, c ecs.Component[T], v T) {
	if e, ok := any(to).(ecs.Entity); ok {
		recordOne(writerOf(r), "Set", set, e, c, &v)
		return
	}
	recordMany(writerOf(r), "Set", set, to, c, &v)
}

// recordMany records a command about a list or a query.
func recordMany[T any, G Target](w *Writer, name string, k commandKind, to G, c ecs.Component[T], v *T) {
	list, q := severalOf(to)
	one, number := w.several(name, k, list, q, c)
	if number == 0 {
		number = w.noteSeveral(one, newColumn(c))
	}
	w.write(number-1, list, q, valueOf(v))
}

// recordOne records a command about one entity.
func recordOne[T any](w *Writer, name string, k commandKind, e ecs.Entity, c ecs.Component[T], v *T) {
	if w != nil && w.stream != nil && w.stream.quick > 0 && e == w.stream.newest && e != ecs.Null {
		s := w.stream // as below, where all has been checked before
		if index := door.ComponentIndex(s.b.w, c); index >= 0 {
			if number := s.noted(k, index); number != 0 {
				if r := s.next1(number-1, e, recordSize+roundUp(int(unsafe.Sizeof(*v)))); r != nil {
					*(*T)(r.after(recordSize)) = *v // Safe because next1 gave that many bytes behind the record.
					if len(s.links[number-1]) > 0 {
						w.noteLinks(r, s.links[number-1], r.after(recordSize), 1, 0)
					}
					return
				}
			}
		}
	}
	if !w.open() || e != w.stream.newest || e == ecs.Null {
		w.check(name)
		w.checkEntity(name, e)
	}
	s := w.stream
	number := s.noted(k, s.indexOf(name, c))
	if number == 0 {
		number = numberOf(w, name, k, c) + 1
	}
	r, _ := w.record1(number-1, e, int(unsafe.Sizeof(*v)))
	keepValue(w, r, number-1, v)
}

// keepValue writes the value of a record.
func keepValue[T any](w *Writer, r *commandRecord, number uint16, v *T) {
	value := r.after(recordSize)
	*(*T)(value) = *v // Safe because the room is a T's, aligned to 8 bytes, and T has no Go pointers.
	if links := w.stream.links[number]; len(links) > 0 {
		w.noteLinks(r, links, value, 1, 0)
	}
}

// numberOf returns the number of the op that writes values of a component.
func numberOf[T any](w *Writer, name string, k commandKind, c ecs.Component[T]) uint16 {
	index := w.stream.indexOf(name, c)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	if k != set {
		checkDying(name, c)
	}
	return w.stream.note(k, c, index, newColumn(c))
}

// columnCodec is the codec of a component.
type columnCodec[T any] struct {
	c  ecs.Component[T]
	at []world.Link
}

func newColumn[T any](c ecs.Component[T]) codec {
	return &columnCodec[T]{c, door.FactsOf(c).Links}
}

func (c *columnCodec[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *columnCodec[T]) links() []world.Link { return c.at }

func (c *columnCodec[T]) fills() bool { return true }

func (c *columnCodec[T]) counted() bool { return false }

func (c *columnCodec[T]) fill(_ commandKind, rows ecs.Rows, from source, _ *unfitRows) {
	to := c.c.Slice(rows)
	for i := range to {
		to[i] = *(*T)(from.value(i)) // Safe because a record of the type's op holds a T there.
	}
}

func (c *columnCodec[T]) spread(_ commandKind, list []ecs.Entity, from source) (int, error) {
	for i, e := range list {
		*c.c.Mut(e) = *(*T)(from.value(i)) // Safe because a record of the type's op holds a T there.
	}
	return len(list), nil
}

func (c *columnCodec[T]) patch(e ecs.Entity, made []ecs.Entity) {
	name(c.at, unsafe.Pointer(c.c.Mut(e)), 1, 0, made) // Safe because the value lives as long as the call.
}

func (c *columnCodec[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }
