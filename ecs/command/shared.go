package command

import "quarry/ecs"

// Commands with shared values. Values are kept as Go values in the writer, equal ones once.

// AddShared records that e gets the value, unless it has one of the type.
func AddShared[T comparable](r Recorder, e ecs.Entity, c ecs.Shared[T], v T) {
	recordShared(r.writer(), "AddShared", add, e, c, v)
}

// PutShared records that e gets the value, in place of the one that it may have.
func PutShared[T comparable](r Recorder, e ecs.Entity, c ecs.Shared[T], v T) {
	recordShared(r.writer(), "PutShared", put, e, c, v)
}

// SetShared records that e gets the value in place of the one that it has. It must have one
// when the command is played.
func SetShared[T comparable](r Recorder, e ecs.Entity, c ecs.Shared[T], v T) {
	recordShared(r.writer(), "SetShared", set, e, c, v)
}

// PutSharedQuery records that the entities that match q when the command is played get the
// value.
func PutSharedQuery[T comparable](r Recorder, q *ecs.Query, c ecs.Shared[T], v T) {
	w := r.writer()
	q = w.checkQuery("PutSharedQuery", q)
	w.stream.b.w.TypeIndex(c)
	number := w.stream.find(op{kind: put, t: c, query: q, shared: true, valued: true}, &values[T]{c})
	keepShared(w, number, ecs.Null, v)
}

func recordShared[T comparable](w *Writer, name string, k kind, e ecs.Entity, c ecs.Shared[T], v T) {
	w.check(name)
	w.checkEntity(name, e)
	index := w.stream.b.w.TypeIndex(c)
	n := w.stream.noted(k, index)
	if n == 0 {
		n = w.stream.note(k, c, index, &values[T]{c}) + 1
	}
	keepShared(w, n-1, e, v)
}

func keepShared[T comparable](w *Writer, number uint16, e ecs.Entity, v T) {
	value := w.stream.goValue(v)
	_, at := w.record(number, e, 0, nil, 8)
	*(*uint64)(at) = value // Safe because the room has 8 bytes.
}

// values is the codec of a shared type.
type values[T comparable] struct{ c ecs.Shared[T] }

func (c *values[T]) size() uintptr { return 0 }

func (c *values[T]) links() []uintptr { return nil }

func (c *values[T]) fills() bool { return false }

func (c *values[T]) fill(ecs.Rows, source) {}

func (c *values[T]) spread(_ kind, list []ecs.Entity, _ source) (int, error) {
	return len(list), nil
}

func (c *values[T]) patch(ecs.Entity, []ecs.Entity) {}

func (c *values[T]) shared(v any) ecs.SharedValue {
	x, _ := v.(T) // the nil of an interface type is no T in an any
	return c.c.Of(x)
}
