package command

import (
	"quarry/ecs"
	"quarry/internal/seam"
)

// Commands with shared values. Values are kept as Go values in the writer, equal ones once.

// AddShared records that e gets the value, unless it has one of the type.
func AddShared[T comparable](r Recorder, e ecs.Entity, c ecs.Shared[T], v T) {
	recordShared(writerOf(r), "AddShared", add, e, c, v)
}

// PutShared records that e gets the value, in place of the one that it may have.
func PutShared[T comparable](r Recorder, e ecs.Entity, c ecs.Shared[T], v T) {
	recordShared(writerOf(r), "PutShared", put, e, c, v)
}

// SetShared records that e gets the value in place of the one that it has. It must have one
// when the command is played.
func SetShared[T comparable](r Recorder, e ecs.Entity, c ecs.Shared[T], v T) {
	recordShared(writerOf(r), "SetShared", set, e, c, v)
}

// AddSharedList records AddShared of one value for the entities of a list.
func AddSharedList[T comparable](r Recorder, list []ecs.Entity, c ecs.Shared[T], v T) {
	recordSharedList(writerOf(r), "AddSharedList", add, list, c, v)
}

// PutSharedList records PutShared of one value for the entities of a list.
func PutSharedList[T comparable](r Recorder, list []ecs.Entity, c ecs.Shared[T], v T) {
	recordSharedList(writerOf(r), "PutSharedList", put, list, c, v)
}

// SetSharedList records SetShared of one value for the entities of a list.
func SetSharedList[T comparable](r Recorder, list []ecs.Entity, c ecs.Shared[T], v T) {
	recordSharedList(writerOf(r), "SetSharedList", set, list, c, v)
}

// AddSharedQuery records AddShared of one value for the entities that match q when the command is
// played.
func AddSharedQuery[T comparable](r Recorder, q *ecs.Query, c ecs.Shared[T], v T) {
	recordSharedQuery(writerOf(r), "AddSharedQuery", add, q, c, v)
}

// PutSharedQuery records PutShared of one value for the entities that match q when the command is
// played.
func PutSharedQuery[T comparable](r Recorder, q *ecs.Query, c ecs.Shared[T], v T) {
	recordSharedQuery(writerOf(r), "PutSharedQuery", put, q, c, v)
}

// SetSharedQuery records SetShared of one value for the entities that match q when the command is
// played and have one of the type.
func SetSharedQuery[T comparable](r Recorder, q *ecs.Query, c ecs.Shared[T], v T) {
	recordSharedQuery(writerOf(r), "SetSharedQuery", set, q, c, v)
}

func recordShared[T comparable](w *Writer, name string, k kind, e ecs.Entity, c ecs.Shared[T], v T) {
	w.check(name)
	w.checkEntity(name, e)
	keepShared(w, numberOfShared(w, k, c), e, nil, v)
}

func recordSharedList[T comparable](w *Writer, name string, k kind, list []ecs.Entity, c ecs.Shared[T], v T) {
	w.check(name)
	for _, e := range list {
		w.checkEntity(name, e)
	}
	number := numberOfShared(w, k, c)
	for len(list) > 0 {
		n := min(len(list), longestList)
		keepShared(w, number, ecs.Null, list[:n], v)
		list = list[n:]
	}
}

func recordSharedQuery[T comparable](w *Writer, name string, k kind, q *ecs.Query, c ecs.Shared[T], v T) {
	q = w.checkQuery(name, q)
	seam.TypeIndex(w.stream.b.w, c) // panics for one of another world
	keepShared(w, w.stream.find(op{kind: k, t: c, query: q, shared: true, valued: true}, &values[T]{c}), ecs.Null, nil, v)
}

// numberOfShared returns the number of the op that gives values of a shared type.
func numberOfShared[T comparable](w *Writer, k kind, c ecs.Shared[T]) uint16 {
	index := seam.TypeIndex(w.stream.b.w, c)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	return w.stream.note(k, c, index, &values[T]{c})
}

// keepShared records a value for an entity or a list.
func keepShared[T comparable](w *Writer, number uint16, e ecs.Entity, list []ecs.Entity, v T) {
	value, flags := w.stream.goValue(v), uint16(0)
	if list != nil {
		flags = listed
	}
	_, at := w.record(number, e, flags, list, 8)
	*(*uint64)(at) = value // Safe because the room has 8 bytes.
}

// values is the codec of a shared type.
type values[T comparable] struct{ c ecs.Shared[T] }

func (c *values[T]) size() uintptr { return 0 }

func (c *values[T]) links() []seam.Link { return nil }

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
