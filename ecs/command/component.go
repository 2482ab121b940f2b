package command

import (
	"unsafe"

	"quarry/ecs"
	"quarry/internal/seam"
)

// Commands with the value of a component. Of Add, Put and Set the first keeps a value that is
// there, the second replaces it and the third needs one.

// Add records that e gets the component with value v, unless it has it already.
func Add[T any](r Recorder, e ecs.Entity, c ecs.Component[T], v T) {
	recordOne(writerOf(r), "Add", add, e, c, &v)
}

// Put records that e gets the component with value v, in place of the value that it may have.
func Put[T any](r Recorder, e ecs.Entity, c ecs.Component[T], v T) {
	recordOne(writerOf(r), "Put", put, e, c, &v)
}

// Set records that e's component becomes v. It must have it when the command is played.
func Set[T any](r Recorder, e ecs.Entity, c ecs.Component[T], v T) {
	recordOne(writerOf(r), "Set", set, e, c, &v)
}

// AddList records Add of one value to the entities of a list.
func AddList[T any](r Recorder, list []ecs.Entity, c ecs.Component[T], v T) {
	recordList(writerOf(r), "AddList", add, list, c, &v)
}

// PutList records Put of one value to the entities of a list.
func PutList[T any](r Recorder, list []ecs.Entity, c ecs.Component[T], v T) {
	recordList(writerOf(r), "PutList", put, list, c, &v)
}

// SetList records Set of one value for the entities of a list.
func SetList[T any](r Recorder, list []ecs.Entity, c ecs.Component[T], v T) {
	recordList(writerOf(r), "SetList", set, list, c, &v)
}

// AddQuery records Add of one value to the entities that match q when the command is played.
func AddQuery[T any](r Recorder, q *ecs.Query, c ecs.Component[T], v T) {
	recordQuery(writerOf(r), "AddQuery", add, q, c, &v)
}

// PutQuery records Put of one value to the entities that match q when the command is played.
func PutQuery[T any](r Recorder, q *ecs.Query, c ecs.Component[T], v T) {
	recordQuery(writerOf(r), "PutQuery", put, q, c, &v)
}

// SetQuery records Set of one value for the entities that match q when the command is
// played and have the component.
func SetQuery[T any](r Recorder, q *ecs.Query, c ecs.Component[T], v T) {
	recordQuery(writerOf(r), "SetQuery", set, q, c, &v)
}

// recordOne records a command about one entity.
func recordOne[T any](w *Writer, name string, k kind, e ecs.Entity, c ecs.Component[T], v *T) {
	if !w.open() || e != w.stream.newest || e == ecs.Null {
		w.check(name)
		w.checkEntity(name, e)
	}
	s := w.stream
	number := s.noted(k, seam.TypeIndex(s.b.w, c))
	if number == 0 {
		number = numberOf(w, k, c) + 1
	}
	r, value := w.record1(number-1, e, int(unsafe.Sizeof(*v)))
	*(*T)(value) = *v // Safe because the room is a T's, aligned to 8 bytes, and T has no Go pointers: keep, but for a call.
	if links := s.links[number-1]; len(links) > 0 {
		w.noteLinks(r, links, value, 1, 0)
	}
}

func recordList[T any](w *Writer, name string, k kind, list []ecs.Entity, c ecs.Component[T], v *T) {
	w.check(name)
	for _, e := range list {
		w.checkEntity(name, e)
	}
	number := numberOf(w, k, c)
	for len(list) > 0 {
		n := min(len(list), longestList)
		r, value := w.record(number, ecs.Null, listed, list[:n], int(unsafe.Sizeof(*v)))
		keep(w, r, number, value, v)
		list = list[n:]
	}
}

func recordQuery[T any](w *Writer, name string, k kind, q *ecs.Query, c ecs.Component[T], v *T) {
	q = w.checkQuery(name, q)
	seam.TypeIndex(w.stream.b.w, c) // panics for one of another world
	if k != set {
		checkDying(name, c)
	}
	one := op{kind: k, t: c, query: q, valued: true}
	if _, ok := w.stream.others[one]; !ok {
		w.stream.find(one, newColumn(c))
	}
	number := w.stream.others[one] - 1
	r, value := w.record(number, ecs.Null, 0, nil, int(unsafe.Sizeof(*v)))
	keep(w, r, number, value, v)
}

// numberOf returns the number of the op that gives values of a component.
func numberOf[T any](w *Writer, k kind, c ecs.Component[T]) uint16 {
	index := seam.TypeIndex(w.stream.b.w, c)
	if n := w.stream.noted(k, index); n != 0 {
		return n - 1
	}
	if k != set {
		checkDying("Add", c)
	}
	return w.stream.note(k, c, index, newColumn(c))
}

// keep writes the value of a record.
func keep[T any](w *Writer, r *record, number uint16, to unsafe.Pointer, v *T) {
	*(*T)(to) = *v // Safe because the room is a T's, aligned to 8 bytes, and T has no Go pointers.
	if links := w.stream.links[number]; len(links) > 0 {
		w.noteLinks(r, links, to, 1, 0)
	}
}

// noteLinks flags a record whose n values at p, size bytes each, have placeholders. It
// panics for one of another buffer.
func (w *Writer) noteLinks(r *record, links []seam.Link, p unsafe.Pointer, n int, size uintptr) {
	for i := range n {
		for j := range links {
			// Safe because each value has what its links say.
			l, at := &links[j], unsafe.Add(p, uintptr(i)*size+links[j].Offset)
			if l.Count > 0 {
				w.noteLinks(r, l.Each, at, l.Count, l.Size)
				continue
			}
			e := *(*ecs.Entity)(at)
			if !e.IsPlaceholder() {
				continue
			}
			if number, id := seam.Number(e); id != w.stream.b.id || int64(number) >= w.stream.b.numbers.Load() {
				w.withdraw(r)
				w.checkEntity("a value", e)
			}
			r.flags |= linked
		}
	}
}
