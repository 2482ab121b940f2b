package container

import (
	"fmt"
	"iter"

	"quarry/alloc"
)

// The list.
//
// Elements are slots of a pool, and name their neighbors by reference, so an element never moves:
//
//	first                                             last
//	  |    +------+------+---+     +------+------+---+  |
//	  +--->| prev | next | T |<--->| prev | next | T |<-+
//	       +------+------+---+     +------+------+---+
//	        8 B    8 B
//
// Invariants, checked by Verify:
//
//	L1 The pool is sound and open.
//	L2 From the first element on, each one's next has it as prev, up to the last, and these are all.

// List is a doubly linked list off the heap, as container/list: an order of use or of arrival, from
// whose middle elements go. Make one with NewList. An element is named by a reference, which may be
// stored off the heap, and which names nothing once the element was removed; pointers to elements
// are valid until then. A list on an arena gets all of its memory back at once, with the arena.
//
// Cost: an element has 16 B beside its value, and 4 B of Go memory without pointers.
type List[T any] struct {
	source
	pool        *alloc.Pool[listed[T]]
	first, last alloc.Ref[listed[T]]
	changes     uint64 // calls that write it, read by those that read: the race detector sees both
}

// listed is an element.
type listed[T any] struct {
	prev, next alloc.Ref[listed[T]]
	value      T
}

// NewList returns an empty list. An error is a *layout.PointerError if T holds Go pointers.
func NewList[T any](from alloc.Allocator) (*List[T], error) {
	s := newSource("NewList", from)
	if err := pointerFree[T]("NewList"); err != nil {
		return nil, err
	}
	pool, err := alloc.NewPool[listed[T]](from)
	if err != nil {
		return nil, err
	}
	return &List[T]{source: s, pool: pool}, nil
}

// PushFront puts a value before all others. An error is the allocator's.
func (l *List[T]) PushFront(value T) (alloc.Ref[T], error) {
	return l.push("List.PushFront", value, alloc.Ref[listed[T]]{}, l.first)
}

// PushBack puts a value after all others. An error is the allocator's.
func (l *List[T]) PushBack(value T) (alloc.Ref[T], error) {
	return l.push("List.PushBack", value, l.last, alloc.Ref[listed[T]]{})
}

func (l *List[T]) push(name string, value T, prev, next alloc.Ref[listed[T]]) (alloc.Ref[T], error) {
	l.check(name)
	l.changes++
	room := l.pool.Cap()
	e, err := l.pool.New()
	if err != nil {
		return alloc.Ref[T]{}, err
	}
	if l.pool.Cap() != room { // else the list has what it had, and an arena's end is others'
		l.hold.Renew()
	}
	e.value = value
	r := l.pool.Ref(e)
	l.link(r, e, prev, next)
	return alloc.Ref[T](r), nil
}

// Get returns an element's value, or nil if the element was removed.
func (l *List[T]) Get(r alloc.Ref[T]) *T {
	l.check("List.Get")
	if e := l.pool.Get(alloc.Ref[listed[T]](r)); l.changes != 0 && e != nil {
		return &e.value
	}
	return nil
}

// Front returns the first element, the zero Ref if there is none.
func (l *List[T]) Front() alloc.Ref[T] {
	l.check("List.Front")
	if l.changes == 0 {
		return alloc.Ref[T]{}
	}
	return alloc.Ref[T](l.first)
}

// Back returns the last element, the zero Ref if there is none.
func (l *List[T]) Back() alloc.Ref[T] {
	l.check("List.Back")
	if l.changes == 0 {
		return alloc.Ref[T]{}
	}
	return alloc.Ref[T](l.last)
}

// Next returns the element behind another. It panics if that was removed.
func (l *List[T]) Next(r alloc.Ref[T]) alloc.Ref[T] {
	return alloc.Ref[T](l.element("List.Next", r).next)
}

// Prev returns the element before another. It panics if that was removed.
func (l *List[T]) Prev(r alloc.Ref[T]) alloc.Ref[T] {
	return alloc.Ref[T](l.element("List.Prev", r).prev)
}

// MoveToFront moves an element before all others. It panics if the element was removed.
func (l *List[T]) MoveToFront(r alloc.Ref[T]) {
	e, at := l.element("List.MoveToFront", r), alloc.Ref[listed[T]](r)
	l.changes++
	if at != l.first {
		l.unlink(e)
		l.link(at, e, alloc.Ref[listed[T]]{}, l.first)
	}
}

// MoveToBack moves an element after all others. It panics if the element was removed.
func (l *List[T]) MoveToBack(r alloc.Ref[T]) {
	e, at := l.element("List.MoveToBack", r), alloc.Ref[listed[T]](r)
	l.changes++
	if at != l.last {
		l.unlink(e)
		l.link(at, e, l.last, alloc.Ref[listed[T]]{})
	}
}

// Remove removes an element and returns its value. The zero Ref does nothing. It panics if the
// element was removed before.
func (l *List[T]) Remove(r alloc.Ref[T]) (value T) {
	if r == (alloc.Ref[T]{}) {
		return value
	}
	e := l.element("List.Remove", r)
	l.changes++
	value = e.value
	l.unlink(e)
	l.pool.Free(e)
	return value
}

// element returns an element, or panics.
func (l *List[T]) element(name string, r alloc.Ref[T]) *listed[T] {
	l.check(name)
	e := l.pool.Get(alloc.Ref[listed[T]](r))
	if l.changes == 0 || e == nil {
		panic(fmt.Sprintf("container: %s: the reference {%d %d} names no element (removed before?)",
			name, r.Slot, r.Generation))
	}
	return e
}

// link puts an element between two neighbors, of which the zero Ref stands for an end.
func (l *List[T]) link(r alloc.Ref[listed[T]], e *listed[T], prev, next alloc.Ref[listed[T]]) {
	e.prev, e.next = prev, next
	l.join(prev, r)
	l.join(r, next)
}

// unlink takes an element out of the order.
func (l *List[T]) unlink(e *listed[T]) { l.join(e.prev, e.next) }

// join makes two elements neighbors, of which the zero Ref stands for an end.
func (l *List[T]) join(prev, next alloc.Ref[listed[T]]) {
	if e := l.pool.Get(prev); e != nil {
		e.next = next
	} else {
		l.first = next
	}
	if e := l.pool.Get(next); e != nil {
		e.prev = prev
	} else {
		l.last = prev
	}
}

// Len returns the number of elements.
func (l *List[T]) Len() int {
	l.check("List.Len")
	return l.pool.Len()
}

// All iterates from the first element to the last. The loop may remove or move the element that it
// is at, and add others: it goes on with the element that was the next before, and visits those
// behind it, also ones that were moved there. Removing the next one ends it with a panic.
func (l *List[T]) All() iter.Seq2[alloc.Ref[T], *T] {
	return func(yield func(alloc.Ref[T], *T) bool) {
		l.check("List.All")
		for r := l.Front(); r != (alloc.Ref[T]{}); {
			e := l.element("List.All", r)
			next := alloc.Ref[T](e.next)
			if !yield(r, &e.value) {
				return
			}
			r = next
		}
	}
}

// Clear removes all elements. Memory stays for others; Trim gives it back.
func (l *List[T]) Clear() {
	l.check("List.Clear")
	for l.Len() > 0 {
		l.Remove(l.Front())
	}
}

// Trim gives memory back that no element needs.
func (l *List[T]) Trim() {
	l.check("List.Trim")
	l.changes++
	l.pool.Trim()
	l.hold.Freed()
}

// Close removes all elements and gives all memory back. A second call does nothing, and neither
// does one after the allocator was closed or has given the blocks up.
func (l *List[T]) Close() {
	if l.closed || l.from == nil {
		return
	}
	if !l.hold.Lost() {
		l.Clear()
		_ = l.pool.Close() // nothing is live
	}
	l.closed = true
	l.first, l.last = alloc.Ref[listed[T]]{}, alloc.Ref[listed[T]]{}
}

// Verify checks the numbered invariants and returns an error that names one that does not hold.
func (l *List[T]) Verify() error {
	if l.closed {
		return nil
	}
	if err := l.pool.Verify(); err != nil {
		return fmt.Errorf("container: list: L1: %w", err)
	}
	n, prev := 0, alloc.Ref[listed[T]]{}
	for r := l.first; r != (alloc.Ref[listed[T]]{}); n++ {
		e := l.pool.Get(r)
		if e == nil || e.prev != prev || n >= l.Len() {
			return fmt.Errorf("container: list: L2: element %d is {%d %d}, of %d, and does not follow {%d %d}",
				n, r.Slot, r.Generation, l.Len(), prev.Slot, prev.Generation)
		}
		prev, r = r, e.next
	}
	if n != l.Len() || l.last != prev {
		return fmt.Errorf(
			"container: list: L2: %d of %d elements are in the order, the last is {%d %d}, noted as {%d %d}",
			n, l.Len(), prev.Slot, prev.Generation, l.last.Slot, l.last.Generation)
	}
	return nil
}
