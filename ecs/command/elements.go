package command

import (
	"unsafe"

	"quarry/ecs"
)

// Commands with elements of a dynamic buffer.

// AddBuffer records that e gets the buffer with some elements, unless it has it already.
func AddBuffer[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(r.writer(), "AddBuffer", add, e, b, v)
}

// PutBuffer records that e gets the buffer with some elements, in place of those that it may
// have.
func PutBuffer[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(r.writer(), "PutBuffer", put, e, b, v)
}

// SetBuffer records that e's buffer holds some elements and nothing else. It must have it when
// the command is played.
func SetBuffer[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(r.writer(), "SetBuffer", set, e, b, v)
}

// Append records that elements are added at the end of e's buffer. It must have it when the
// command is played.
func Append[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(r.writer(), "Append", appendTo, e, b, v)
}

func recordElements[T any](w *Writer, name string, k kind, e ecs.Entity, b ecs.Buffer[T], v []T) {
	w.check(name)
	w.checkEntity(name, e)
	index := w.stream.b.w.TypeIndex(b)
	n := w.stream.noted(k, index)
	if n == 0 {
		n = w.stream.note(k, b, index, &elements[T]{b, ecs.FactsOf(b).Links}) + 1
	}
	var one T
	r, value := w.record(n-1, e, 0, nil, 8+len(v)*int(unsafe.Sizeof(one)))
	// Safe because the room has 8 bytes and then so many Ts, which hold no Go pointers.
	*(*uint64)(value) = uint64(len(v))
	copy(unsafe.Slice((*T)(unsafe.Add(value, 8)), len(v)), v)
	if links := w.stream.codecs[n-1].links(); len(links) > 0 {
		w.noteLinks(r, links, unsafe.Add(value, 8), len(v), unsafe.Sizeof(one))
	}
}

// elements is the codec of a buffer.
type elements[T any] struct {
	b  ecs.Buffer[T]
	at []uintptr // links of an element
}

func (c *elements[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *elements[T]) links() []uintptr { return c.at }

func (c *elements[T]) fills() bool { return false }

func (c *elements[T]) fill(ecs.Rows, source) {}

func (c *elements[T]) spread(k kind, list []ecs.Entity, from source) (int, error) {
	for i, e := range list {
		// Safe because a record of the type's op holds the number of elements there, and behind
		// it the elements.
		v := unsafe.Slice((*T)(unsafe.Add(from.value(i), 8)), *(*uint64)(from.value(i)))
		d, _ := c.b.Mut(e)
		var err error
		if k == appendTo {
			err = d.TryAppend(v...)
		} else {
			err = d.TryCopyFrom(v)
		}
		if err != nil {
			return i, err
		}
		if len(c.at) > 0 && len(v) > 0 {
			written := d.Slice()
			c.name(written[len(written)-len(v):], from.made)
		}
	}
	return len(list), nil
}

// name replaces the placeholders in elements by the entities made for them. It is done as they are
// written: later it would be once more for all elements that there are.
func (c *elements[T]) name(v []T, made []ecs.Entity) {
	for i := range v {
		for _, at := range c.at {
			replace(unsafe.Pointer(&v[i]), at, made) // Safe because v lives as long as the call.
		}
	}
}

func (c *elements[T]) patch(ecs.Entity, []ecs.Entity) {}

func (c *elements[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }
