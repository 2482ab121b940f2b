package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"
)

// Commands with elements of a dynamic buffer.

// AddBuffer records that the target's entities get the buffer with elements v, unless they already
// have the buffer.
func AddBuffer[T any, G Target](r Recorder, to G, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "AddBuffer", add, to, b, v)
}

// PutBuffer records that the target's entities get the buffer with elements v; existing elements
// are replaced.
func PutBuffer[T any, G Target](r Recorder, to G, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "PutBuffer", put, to, b, v)
}

// SetBuffer records that the buffer of the target's entities holds the elements v and no others. A
// single entity, and each entity of a list, must have the buffer when the command is played; of a
// query's matches, those that have it are set.
func SetBuffer[T any, G Target](r Recorder, to G, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "SetBuffer", set, to, b, v)
}

// Append records that v is appended to the buffer of the target's entities. The entities must have
// the buffer as for SetBuffer.
func Append[T any, G Target](r Recorder, to G, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "Append", appendTo, to, b, v)
}

func recordElements[T any, G Target](w *Writer, name string, k commandKind, to G, b ecs.Buffer[T], v []T) {
	if e, ok := any(to).(ecs.Entity); ok { // see Target
		if w != nil && w.stream != nil && w.stream.quick > 0 && e == w.stream.newest && e != ecs.Null {
			s := w.stream // as below, where all has been checked before
			if index := door.BufferIndex(s.b.w, b); index >= 0 {
				if n := s.noted(k, index); n != 0 {
					if r := s.next1(n-1, e, recordSize+roundUp(8+len(v)*int(unsafe.Sizeof(*new(T))))); r != nil {
						keepElements(w, r, n-1, r.after(recordSize), v)
						return
					}
				}
			}
		}
		if !w.open() || e != w.stream.newest || e == ecs.Null {
			w.check(name)
			w.checkEntity(name, e)
		}
		number := numberOfElements(w, name, k, b)
		r, value := w.record1(number, e, 8+len(v)*int(unsafe.Sizeof(*new(T))))
		keepElements(w, r, number, value, v)
		return
	}
	list, q := severalOf(to)
	one, number := w.several(name, k, list, q, b)
	if number == 0 {
		number = w.noteSeveral(one, &elements[T]{b, door.FactsOf(b).Links})
	}
	w.write(number-1, list, q, elementsOf(v))
}

// numberOfElements returns the number of the op that writes elements of a buffer.
func numberOfElements[T any](w *Writer, name string, k commandKind, b ecs.Buffer[T]) uint16 {
	index := w.stream.indexOf(name, b)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	return w.stream.note(k, b, index, &elements[T]{b, door.FactsOf(b).Links})
}

// keepElements writes the elements of a record and their number.
func keepElements[T any](w *Writer, r *commandRecord, number uint16, to unsafe.Pointer, v []T) {
	// Safe because the room has 8 bytes and then so many Ts, which hold no Go pointers.
	*(*uint64)(to) = uint64(len(v))
	copy(unsafe.Slice((*T)(unsafe.Add(to, 8)), len(v)), v)
	if links := w.stream.links[number]; len(links) > 0 {
		w.noteLinks(r, links, unsafe.Add(to, 8), len(v), unsafe.Sizeof(*new(T)))
	}
}

// elements is the codec of a buffer.
type elements[T any] struct {
	b  ecs.Buffer[T]
	at []world.Link // of one element
}

func (c *elements[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *elements[T]) links() []world.Link { return c.at }

func (c *elements[T]) counted() bool { return true }

// Elements that name entities are written last, when all placeholders have their entities: see
// spread.
func (c *elements[T]) fills() bool { return len(c.at) == 0 }

// fill writes the elements that fit the chunk. A buffer that is to spill needs a block, which may
// be refused, so it is left to spread.
func (c *elements[T]) fill(k commandKind, rows ecs.Rows, from source, unfit *unfitRows) {
	to := door.BuffersOf(c.b, rows)
	for i := range rows.Len() {
		// Safe because a record of the type's op holds the number of elements there, and after it
		// the elements.
		v := from.value(i)
		n := int(*(*uint64)(v))
		p := to.Inline(i, n, k == appendTo)
		if p == nil || unfit.has(i) {
			unfit.add(i)
			continue
		}
		to.SetLen(i, n, k == appendTo)
		copy(unsafe.Slice((*T)(p), n), unsafe.Slice((*T)(unsafe.Add(v, 8)), n))
	}
}

func (c *elements[T]) spread(k commandKind, list []ecs.Entity, from source) (n int, err error) {
	err = ecs.Try(func() {
		for ; n < len(list); n++ {
			// Safe because a record of the type's op holds the number of elements there, and after
			// it the elements.
			v := unsafe.Slice((*T)(unsafe.Add(from.value(n), 8)), *(*uint64)(from.value(n)))
			d, _ := c.b.Mut(list[n])
			if k == appendTo {
				d.Append(v...)
			} else {
				d.CopyFrom(v)
			}
			if len(c.at) > 0 && len(v) > 0 {
				// Named as they are written: later it would take another pass over all elements of
				// the buffer.
				written := d.Slice()
				// Safe because they live as long as the call.
				name(c.at, unsafe.Pointer(&written[len(written)-len(v)]), len(v), c.size(), from.made)
			}
		}
	})
	return n, err
}

func (c *elements[T]) patch(ecs.Entity, []ecs.Entity) {}

func (c *elements[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }
