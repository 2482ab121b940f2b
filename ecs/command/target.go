package command

import (
	"fmt"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
)

// Target is what a command with a value applies to: an entity, a list of entities, or a query. A
// list stands for one command per entity, in order. A query selects its matches when the command is
// played; Set and Append then apply to the matches that have the component. Recording panics for a
// query with Changed or Ordered terms, since commands played earlier would count as changes; record
// the list q.Entities(nil) instead.
//
// Code that asks which of the three a target is converts it to any once per question: an entity in
// an any that may also hold a query, which the buffer keeps, would escape to the heap.
type Target interface {
	ecs.Entity | []ecs.Entity | *ecs.Query
}

// payload is what a record about several entities has after its list: n values of size bytes each.
// The caller owns them until they are copied.
type payload struct {
	values  unsafe.Pointer
	n       int
	size    uintptr // bytes of one value
	counted bool    // n precedes the values, in 8 bytes: they are elements of a buffer
}

// valueOf returns the payload of a component.
//
// checkptr level 2 moves to the heap whatever an unsafe.Pointer is made from, so valueOf and
// elementsOf are excluded from it: otherwise the value of a command about one entity would escape.
// The copy in writePart is still checked.
//
//go:nocheckptr
func valueOf[T any](v *T) payload {
	return payload{unsafe.Pointer(v), 1, unsafe.Sizeof(*v), false} // Safe because v is read while the caller holds it.
}

// elementsOf returns the payload of a buffer.
//
//go:nocheckptr
func elementsOf[T any](v []T) payload {
	// Safe because v is read while the caller holds it.
	return payload{unsafe.Pointer(unsafe.SliceData(v)), len(v), unsafe.Sizeof(*new(T)), true}
}

// severalOf returns the list or the query of a target.
func severalOf[G Target](to G) (list []ecs.Entity, q *ecs.Query) {
	if list, ok := any(to).([]ecs.Entity); ok {
		return list, noQuery
	}
	q, _ = any(to).(*ecs.Query)
	return nil, q
}

// noQuery stands for the query of a command about a list. A nil query is the caller's mistake.
var noQuery = new(ecs.Query)

// several checks a command with a value about a list or a query. It returns the op, and the op's
// number + 1, or 0 if the op is new.
func (w *Writer) several(name string, k commandKind, list []ecs.Entity, q *ecs.Query, t ecs.Type) (one op,
	number uint16) {
	if q == noQuery {
		w.check(name)
		for _, e := range list {
			w.checkEntity(name, e)
		}
		q = nil
	} else {
		w.checkQuery(name, q)
	}
	index := w.stream.indexOf(name, t)
	one = op{kind: k, t: t, query: q, shared: isShared(t), sparse: isSparse(t), valued: true}
	if q == nil {
		number = w.stream.noted(k, index)
	} else {
		number = w.stream.others[one]
	}
	if number == 0 && (k == add || k == put) {
		checkDying(name, t)
	}
	return one, number
}

// noteSeveral numbers an op from several and returns the number + 1.
func (w *Writer) noteSeveral(one op, c codec) uint16 {
	if one.query != nil {
		return w.stream.find(one, c) + 1
	}
	return w.stream.note(one.kind, one.t, door.TypeIndex(w.stream.b.w, one.t), c) + 1
}

// checkQuery panics if commands cannot be about q; otherwise it returns q.
func (w *Writer) checkQuery(name string, q *ecs.Query) *ecs.Query {
	w.check(name)
	switch {
	case q == nil || door.WorldOf(q) != w.stream.b.w:
		panic("command: " + name + ": the query is nil, closed or belongs to another world")
	case door.Filters(q):
		panic(fmt.Sprintf(
			"command: %s: %v asks for changes or a range; take the entities now: a list of q.Entities(nil)", name, q))
	}
	return q
}

// longestList is the most entities in one record; longer lists take several records.
const longestList = 1000

// write records a payload for a list, cut into records of longestList entities, or for the op's
// query.
func (w *Writer) write(number uint16, list []ecs.Entity, q *ecs.Query, p payload) {
	if q != noQuery {
		w.writePart(number, 0, nil, p)
		return
	}
	for len(list) > 0 {
		n := min(len(list), longestList)
		w.writePart(number, listed, list[:n], p)
		list = list[n:]
	}
}

func (w *Writer) writePart(number, flags uint16, list []ecs.Entity, p payload) {
	bytes, head := p.n*int(p.size), 0
	if p.counted {
		head = 8
	}
	r, to := w.record(number, ecs.Null, flags, list, head+bytes)
	if p.counted {
		*(*uint64)(to) = uint64(p.n) // Safe because the room has 8 bytes before the values.
		to = unsafe.Add(to, 8)
	}
	if bytes > 0 {
		// Safe because both have so many bytes, and the values hold no Go pointers.
		copy(unsafe.Slice((*byte)(to), bytes), unsafe.Slice((*byte)(p.values), bytes))
	}
	if links := w.stream.links[number]; len(links) > 0 {
		w.noteLinks(r, links, to, p.n, p.size)
	}
}
