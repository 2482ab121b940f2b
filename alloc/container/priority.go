package container

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"unsafe"

	"quarry/alloc"
)

// The priority queue.
//
// A heap of four children a node, in one block: entry i has the children 4i+1 to 4i+4. Three
// entries of nothing stand before the root, so the children of a node begin at a multiple of four,
// which for entries of 16 bytes is a cache line:
//
//	entries   . . .  0 | 1 2 3 4 | 5 6 7 8 | ...
//
// Priorities are compared as cmp.Less does, in code that is compiled for their type.
//
// Invariants:
//
//	P1 No entry has a priority less than that of its parent.
//	P2 The block has room for the entries, and is there unless room is 0.

const (
	aryPad      = 3  // entries before the root
	firstAryRun = 13 // entries of the first block, with those before the root 16
)

// entry is a value with its priority.
type entry[P cmp.Ordered, T any] struct {
	p P
	v T
}

// PriorityQueue is a queue of values of which the one with the smallest priority comes first;
// values of equal priority come in any order. A floating-point NaN comes before all numbers. Use
// NewPriorityQueue.
type PriorityQueue[P cmp.Ordered, T any] struct {
	source
	block   unsafe.Pointer
	count   int
	room    int    // entries that fit
	changes uint32 // calls that added or removed
}

// NewPriorityQueue returns an empty priority queue, which has no block yet. An error is a
// *layout.PointerError when P or T holds Go pointers, as a string does.
func NewPriorityQueue[P cmp.Ordered, T any](from alloc.Allocator) (*PriorityQueue[P, T], error) {
	s := newSource("NewPriorityQueue", from)
	if err := pointerFree[P]("NewPriorityQueue"); err != nil {
		return nil, err
	}
	if err := pointerFree[T]("NewPriorityQueue"); err != nil {
		return nil, err
	}
	return &PriorityQueue[P, T]{source: s}, nil
}

// sizeAlign returns the bytes of an entry and the alignment of the block.
func (q *PriorityQueue[P, T]) sizeAlign() (size, align int) {
	var e *entry[P, T] // not an entry, which would be in the Go heap when it is large
	size, align = int(unsafe.Sizeof(*e)), int(unsafe.Alignof(*e))
	if size&(size-1) == 0 {
		align = max(align, min(4*size, 64))
	}
	return size, align
}

// entries returns the entries in use.
func (q *PriorityQueue[P, T]) entries() []entry[P, T] {
	if q.count == 0 {
		return nil
	}
	size, _ := q.sizeAlign()
	// Safe because the block has room for aryPad + room entries, and count is at most room (P2).
	return unsafe.Slice((*entry[P, T])(unsafe.Add(q.block, aryPad*size)), q.count)
}

// Push adds a value. An error is the allocator's; the queue is unchanged then.
func (q *PriorityQueue[P, T]) Push(p P, v T) error {
	q.check("PriorityQueue.Push")
	if q.count == q.room {
		if err := q.reserve(q.count + 1); err != nil {
			return fmt.Errorf("container: PriorityQueue.Push: %w", err)
		}
	}
	q.count++
	q.changes++
	s := q.entries()
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !cmp.Less(p, s[up].p) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = entry[P, T]{p, v}
	return nil
}

// Pop removes the value of the smallest priority and returns both; false: there is none.
func (q *PriorityQueue[P, T]) Pop() (p P, v T, ok bool) {
	q.check("PriorityQueue.Pop")
	s := q.entries()
	if len(s) == 0 {
		return p, v, false
	}
	first, last := s[0], s[len(s)-1]
	q.count--
	q.changes++
	if q.count > 0 {
		siftDown(s[:len(s)-1], 0, last)
	}
	return first.p, first.v, true
}

// siftDown puts an entry at i or below, in a heap where all but i is in order.
func siftDown[P cmp.Ordered, T any](s []entry[P, T], i int, e entry[P, T]) {
	for {
		child := 4*i + 1
		if child >= len(s) {
			break
		}
		least, p := child, s[child].p
		for c := child + 1; c < min(child+4, len(s)); c++ {
			if cmp.Less(s[c].p, p) {
				least, p = c, s[c].p
			}
		}
		if !cmp.Less(p, e.p) {
			break
		}
		s[i] = s[least]
		i = least
	}
	s[i] = e
}

// Replace removes the value of the smallest priority, as Pop does, and adds another, in one pass
// and without the allocator. In an empty queue it changes nothing and returns false.
func (q *PriorityQueue[P, T]) Replace(p P, v T) (oldP P, oldV T, ok bool) {
	q.check("PriorityQueue.Replace")
	s := q.entries()
	if len(s) == 0 {
		return oldP, oldV, false
	}
	first := s[0]
	q.changes++
	siftDown(s, 0, entry[P, T]{p, v})
	return first.p, first.v, true
}

// Peek returns the smallest priority and a pointer to its value, which is valid until the next
// change; false: there is none.
func (q *PriorityQueue[P, T]) Peek() (p P, v *T, ok bool) {
	q.check("PriorityQueue.Peek")
	s := q.entries()
	if len(s) == 0 {
		return p, nil, false
	}
	return s[0].p, &s[0].v, true
}

// All yields all priorities and values, in no order. The loop must not add or remove: All panics
// then.
func (q *PriorityQueue[P, T]) All() iter.Seq2[P, *T] {
	return func(yield func(P, *T) bool) {
		q.check("PriorityQueue.All")
		changes, s := q.changes, q.entries()
		for i := range s {
			if !yield(s[i].p, &s[i].v) {
				return
			}
			q.check("PriorityQueue.All")
			if q.changes != changes {
				panic("container: PriorityQueue.All: the queue changed during the loop")
			}
		}
	}
}

// Len returns the number of values.
func (q *PriorityQueue[P, T]) Len() int {
	q.check("PriorityQueue.Len")
	return q.count
}

// Cap returns the number of values that fit the block.
func (q *PriorityQueue[P, T]) Cap() int {
	q.check("PriorityQueue.Cap")
	return q.room
}

// Reserve makes room for n more values. An error is the allocator's; nothing has changed then. It
// panics when n is negative.
func (q *PriorityQueue[P, T]) Reserve(n int) error {
	q.check("PriorityQueue.Reserve")
	if n < 0 {
		panic(fmt.Sprintf("container: PriorityQueue.Reserve: n=%d is negative", n))
	}
	if n <= q.room-q.count {
		return nil
	}
	q.changes++
	if err := q.reserve(q.count + min(n, math.MaxInt/2-q.count)); err != nil {
		return fmt.Errorf("container: PriorityQueue.Reserve: %d values: %w", n, err)
	}
	return nil
}

// reserve gives the block room for need values: twice what it has, or no more than need when that
// is refused.
func (q *PriorityQueue[P, T]) reserve(need int) error {
	room := alloc.Doubling().Next(q.room+aryPad, max(need, firstAryRun)+aryPad) - aryPad
	err := q.setRoom(room)
	if err != nil && room > need {
		err = q.setRoom(need)
	}
	return err
}

// setRoom gives the block another room, at least count.
func (q *PriorityQueue[P, T]) setRoom(room int) error {
	size, align := q.sizeAlign()
	if room > math.MaxInt/2/size-aryPad {
		return fmt.Errorf("%d values of %d bytes: %w", room, size, alloc.ErrTooBig)
	}
	p, err := q.realloc(q.block, q.blockBytes(q.room), align, q.blockBytes(room))
	if err != nil {
		return err
	}
	q.block, q.room = p, room
	return nil
}

// blockBytes returns the size of a block for room values; room 0 has no block.
func (q *PriorityQueue[P, T]) blockBytes(room int) int {
	size, _ := q.sizeAlign()
	return (aryPad + room) * size
}

// Clear removes all values and keeps the block.
func (q *PriorityQueue[P, T]) Clear() {
	q.check("PriorityQueue.Clear")
	q.count = 0
	q.changes++
}

// Trim gives back what the values do not need; without values, the block. A block that cannot be
// replaced by a smaller one stays.
func (q *PriorityQueue[P, T]) Trim() {
	q.check("PriorityQueue.Trim")
	q.changes++
	if q.count == 0 {
		q.freeBlock()
	} else if q.count < q.room {
		_ = q.setRoom(q.count) // a refusal leaves the block as it is
	}
}

func (q *PriorityQueue[P, T]) freeBlock() {
	if p := q.block; p != nil {
		_, align := q.sizeAlign()
		bytes := q.blockBytes(q.room)
		q.block, q.room = nil, 0
		q.free(p, bytes, align)
	}
}

// Close frees the block. The queue must not be used afterwards; a second Close does nothing, and so
// does the Close of a queue whose allocator has given up the block.
func (q *PriorityQueue[P, T]) Close() {
	if q.from == nil || q.closed {
		return
	}
	if !q.hold.Lost() {
		q.freeBlock()
	}
	q.closed, q.block, q.room, q.count = true, nil, 0, 0
}

// Verify checks P1 and P2 and returns an error that names the first violation.
func (q *PriorityQueue[P, T]) Verify() error {
	q.check("PriorityQueue.Verify")
	if q.count < 0 || q.count > q.room || (q.block != nil) != (q.room > 0) {
		return fmt.Errorf("container: P2: %d values, room for %d, block %p", q.count, q.room, q.block)
	}
	s := q.entries()
	for i := 1; i < len(s); i++ {
		if up := (i - 1) / 4; cmp.Less(s[i].p, s[up].p) {
			return fmt.Errorf("container: P1: entry %d has priority %v, its parent %d has %v", i, s[i].p, up, s[up].p)
		}
	}
	return nil
}
