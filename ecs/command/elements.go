package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/internal/seam"
)

// Commands with elements of a dynamic buffer.

// AddBuffer records that e gets the buffer with some elements, unless it has it already.
func AddBuffer[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "AddBuffer", add, e, b, v)
}

// PutBuffer records that e gets the buffer with some elements, in place of those that it may
// have.
func PutBuffer[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "PutBuffer", put, e, b, v)
}

// SetBuffer records that e's buffer holds some elements and nothing else. It must have it when
// the command is played.
func SetBuffer[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "SetBuffer", set, e, b, v)
}

// Append records that elements are added at the end of e's buffer. It must have it when the
// command is played.
func Append[T any](r Recorder, e ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElements(writerOf(r), "Append", appendTo, e, b, v)
}

// AddBufferList records AddBuffer of the same elements for the entities of a list.
func AddBufferList[T any](r Recorder, list []ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElementsList(writerOf(r), "AddBufferList", add, list, b, v)
}

// PutBufferList records PutBuffer of the same elements for the entities of a list.
func PutBufferList[T any](r Recorder, list []ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElementsList(writerOf(r), "PutBufferList", put, list, b, v)
}

// SetBufferList records SetBuffer of the same elements for the entities of a list.
func SetBufferList[T any](r Recorder, list []ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElementsList(writerOf(r), "SetBufferList", set, list, b, v)
}

// AppendList records Append of the same elements for the entities of a list.
func AppendList[T any](r Recorder, list []ecs.Entity, b ecs.Buffer[T], v ...T) {
	recordElementsList(writerOf(r), "AppendList", appendTo, list, b, v)
}

// AddBufferQuery records AddBuffer of the same elements for the entities that match q when the command is played.
func AddBufferQuery[T any](r Recorder, q *ecs.Query, b ecs.Buffer[T], v ...T) {
	recordElementsQuery(writerOf(r), "AddBufferQuery", add, q, b, v)
}

// PutBufferQuery records PutBuffer of the same elements for the entities that match q when the command is played.
func PutBufferQuery[T any](r Recorder, q *ecs.Query, b ecs.Buffer[T], v ...T) {
	recordElementsQuery(writerOf(r), "PutBufferQuery", put, q, b, v)
}

// SetBufferQuery records SetBuffer of the same elements for the entities that match q when the command is
// played and have the buffer.
func SetBufferQuery[T any](r Recorder, q *ecs.Query, b ecs.Buffer[T], v ...T) {
	recordElementsQuery(writerOf(r), "SetBufferQuery", set, q, b, v)
}

// AppendQuery records Append of the same elements for the entities that match q when the command is
// played and have the buffer.
func AppendQuery[T any](r Recorder, q *ecs.Query, b ecs.Buffer[T], v ...T) {
	recordElementsQuery(writerOf(r), "AppendQuery", appendTo, q, b, v)
}

func recordElements[T any](w *Writer, name string, k kind, e ecs.Entity, b ecs.Buffer[T], v []T) {
	w.check(name)
	w.checkEntity(name, e)
	number := numberOfElements(w, k, b)
	r, value := w.record1(number, e, bytesOf(v))
	keepElements(w, r, number, value, v)
}

func recordElementsList[T any](w *Writer, name string, k kind, list []ecs.Entity, b ecs.Buffer[T], v []T) {
	w.check(name)
	for _, e := range list {
		w.checkEntity(name, e)
	}
	number := numberOfElements(w, k, b)
	for len(list) > 0 {
		n := min(len(list), longestList)
		r, value := w.record(number, ecs.Null, listed, list[:n], bytesOf(v))
		keepElements(w, r, number, value, v)
		list = list[n:]
	}
}

func recordElementsQuery[T any](w *Writer, name string, k kind, q *ecs.Query, b ecs.Buffer[T], v []T) {
	q = w.checkQuery(name, q)
	seam.TypeIndex(w.stream.b.w, b) // panics for one of another world
	one := op{kind: k, t: b, query: q, valued: true}
	if _, ok := w.stream.others[one]; !ok {
		w.stream.find(one, &elements[T]{b, seam.FactsOf(b).Links})
	}
	number := w.stream.others[one] - 1
	r, value := w.record(number, ecs.Null, 0, nil, bytesOf(v))
	keepElements(w, r, number, value, v)
}

// numberOfElements returns the number of the op that gives elements of a buffer.
func numberOfElements[T any](w *Writer, k kind, b ecs.Buffer[T]) uint16 {
	index := seam.TypeIndex(w.stream.b.w, b)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	return w.stream.note(k, b, index, &elements[T]{b, seam.FactsOf(b).Links})
}

// bytesOf returns the bytes of elements and their number.
func bytesOf[T any](v []T) int { return 8 + len(v)*int(unsafe.Sizeof(*new(T))) }

// keepElements writes the elements of a record.
func keepElements[T any](w *Writer, r *record, number uint16, to unsafe.Pointer, v []T) {
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
	at []seam.Link // of an element
}

func (c *elements[T]) size() uintptr { return unsafe.Sizeof(*new(T)) }

func (c *elements[T]) links() []seam.Link { return c.at }

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
			// As they are written: later it would be once more for all elements that there are.
			written := d.Slice()
			name(c.at, unsafe.Pointer(&written[len(written)-len(v)]), len(v), c.size(), from.made) // Safe because they live as long as the call.
		}
	}
	return len(list), nil
}

func (c *elements[T]) patch(ecs.Entity, []ecs.Entity) {}

func (c *elements[T]) shared(any) ecs.SharedValue { return ecs.SharedValue{} }
