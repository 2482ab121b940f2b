package container

import (
	"fmt"
	"iter"
	"math/bits"
	"unsafe"

	"quarry/alloc"
)

// The queue.
//
// A short queue is one block, a ring. Its room doubles until it has 16 KiB; from then on the queue
// is a ring of segments of 16 KiB, and no push moves elements:
//
//	ring       | c d . . . . a b |        head 6, count 4, room 8
//
//	segments   dir   | 0 | 1 | 2 | 3 |    head in segment 1, the last element in segment 3
//	                       |   |   |
//	                 . . a b   |   . = no element
//	                     c d e f   |
//	                         g h . .
//
// A position counts elements over all segments of the directory: segment = position / room, and
// the position after the last of the directory is 0. A segment that pops have emptied is kept for
// the next push (spare), any further one is freed. A queue that becomes empty is a ring again, of
// its last segment.
//
// The directory lies in Go memory, 8 bytes for each 16 KiB.
//
// Invariants:
//
//	Q1 room is 0 or a power of two up to per; with more than one segment in the directory it is per.
//	Q2 The directory's length is a power of two, and mask is the last position.
//	Q3 A ring has its block unless room is 0, and at most room elements.
//	Q4 With segments: count is not 0, and the directory has exactly the segments of the positions
//	   head to head+count-1, each once.
//	Q5 spare has no segment twice, and none that the directory has.

const (
	segmentBytes  = 16 << 10 // a chunk, the unit of a universe
	firstRoom     = 4        // elements
	mostEmptyRoom = 1 << 40  // elements of no bytes in a block
)

// segments are the blocks of a Queue, without the type of the elements.
type segments struct {
	source
	dir   []unsafe.Pointer
	spare []unsafe.Pointer
	head  int // position of the first element
	count int // elements
	mask  int // last position
	room  int // elements of a block
	shift int // room is 1 << shift
	per   int // room of a segment
	keep  int // segments that pops leave in spare
	size  int // bytes of an element
	align int
}

// Queue is a queue with two ends. No push copies more than 16 KiB of elements, at any length; one
// in each 16 KiB may call the allocator, and when the directory doubles, 8 bytes for each 16 KiB
// are copied. Use NewQueue.
type Queue[T any] struct{ s segments }

// NewQueue returns an empty queue, which has no block yet. An error is a *layout.PointerError when
// T holds Go pointers.
func NewQueue[T any](from alloc.Allocator) (*Queue[T], error) {
	s := newSource("NewQueue", from)
	if err := pointerFree[T]("NewQueue"); err != nil {
		return nil, err
	}
	var t *T // not a T, which would be in the Go heap when it is large
	size, align := int(unsafe.Sizeof(*t)), int(unsafe.Alignof(*t))
	per := mostEmptyRoom
	if size > 0 {
		per = 1 << (bits.Len(uint(max(segmentBytes/size, 1))) - 1)
	}
	return &Queue[T]{segments{
		source: s, dir: make([]unsafe.Pointer, 1), mask: -1, per: per, keep: 1, size: size, align: align,
	}}, nil
}

// at returns the address of element i.
func (s *segments) at(i int) unsafe.Pointer {
	pos := (s.head + i) & s.mask
	// Safe because the directory has a segment for each position that holds an element, or is about
	// to (Q3, Q4).
	return unsafe.Add(s.dir[pos>>s.shift], (pos&(s.room-1))*s.size)
}

// PushBack adds an element behind the last. An error is the allocator's; the queue is unchanged
// then.
func (q *Queue[T]) PushBack(v T) error {
	s := &q.s
	s.check("Queue.PushBack")
	if s.backFull() {
		if err := s.growBack(); err != nil {
			return fmt.Errorf("container: Queue.PushBack: %w", err)
		}
	}
	// Safe because the position has a segment now, of elements of T.
	*(*T)(s.at(s.count)) = v
	s.count++
	return nil
}

// PushFront adds an element before the first. An error is the allocator's; the queue is unchanged
// then.
func (q *Queue[T]) PushFront(v T) error {
	s := &q.s
	s.check("Queue.PushFront")
	if s.frontFull() {
		if err := s.growFront(); err != nil {
			return fmt.Errorf("container: Queue.PushFront: %w", err)
		}
	}
	// Safe because the position has a segment now, of elements of T.
	*(*T)(s.at(-1)) = v
	s.head = (s.head - 1) & s.mask
	s.count++
	return nil
}

// PopFront removes the first element and returns it; false: there is none.
func (q *Queue[T]) PopFront() (v T, ok bool) {
	s := &q.s
	s.check("Queue.PopFront")
	if s.count == 0 {
		return v, false
	}
	// Safe because the position holds an element.
	v = *(*T)(s.at(0))
	s.dropFront(1)
	return v, true
}

// PopBack removes the last element and returns it; false: there is none.
func (q *Queue[T]) PopBack() (v T, ok bool) {
	s := &q.s
	s.check("Queue.PopBack")
	if s.count == 0 {
		return v, false
	}
	// Safe because the position holds an element.
	v = *(*T)(s.at(s.count - 1))
	s.dropBack()
	return v, true
}

// Front returns a pointer to the first element, or nil.
func (q *Queue[T]) Front() *T {
	q.s.check("Queue.Front")
	if q.s.count == 0 {
		return nil
	}
	// Safe because the position holds an element.
	return (*T)(q.s.at(0))
}

// Back returns a pointer to the last element, or nil.
func (q *Queue[T]) Back() *T {
	q.s.check("Queue.Back")
	if q.s.count == 0 {
		return nil
	}
	// Safe because the position holds an element.
	return (*T)(q.s.at(q.s.count - 1))
}

// At returns a pointer to element i, counted from the front. It panics unless i is in 0..Len-1.
func (q *Queue[T]) At(i int) *T {
	q.s.check("Queue.At")
	if uint(i) >= uint(q.s.count) {
		q.s.panicIndex(i)
	}
	// Safe because the position holds an element.
	return (*T)(q.s.at(i))
}

//go:noinline
func (s *segments) panicIndex(i int) {
	panic(fmt.Sprintf("container: Queue.At: i=%d of %d elements", i, s.count))
}

// PushSlice adds the values behind the last element, or none of them: it copies once for each
// segment. The values may lie in the queue itself. An error is the allocator's.
func (q *Queue[T]) PushSlice(values []T) error {
	s := &q.s
	s.check("Queue.PushSlice")
	old, oldRoom, err := s.reserve(len(values))
	if err != nil {
		return fmt.Errorf("container: Queue.PushSlice: %d elements: %w", len(values), err)
	}
	for len(values) > 0 {
		if s.backFull() {
			if err := s.growBack(); err != nil {
				panic("container: Queue.PushSlice: reserved room is missing: " + err.Error())
			}
		}
		pos := (s.head + s.count) & s.mask
		n := min(s.room-pos&(s.room-1), len(values))
		if len(s.dir) == 1 {
			n = min(n, s.room-s.count)
		}
		// Safe because the positions up to the end of the segment have no elements.
		copy(unsafe.Slice((*T)(s.at(s.count)), n), values[:n])
		s.count += n
		values = values[n:]
	}
	s.freeBlock(old, oldRoom)
	return nil
}

// PopSlice removes up to len(to) elements from the front into to, and returns how many.
func (q *Queue[T]) PopSlice(to []T) int {
	s := &q.s
	s.check("Queue.PopSlice")
	done := 0
	for done < len(to) && s.count > 0 {
		n := min(s.part(0), len(to)-done)
		// Safe because the elements lie one behind the other in a segment.
		copy(to[done:], unsafe.Slice((*T)(s.at(0)), n))
		s.dropFront(n)
		done += n
	}
	return done
}

// Parts yields the elements in order, as the slices in which they lie: at most two of a ring, one
// of each segment. It reads the queue anew for each, so after changes it goes on at the position
// where it was.
func (q *Queue[T]) Parts() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		q.s.check("Queue.Parts")
		for i := 0; i < q.s.count; {
			n := q.s.part(i)
			// Safe because the elements lie one behind the other in a segment.
			if !yield(unsafe.Slice((*T)(q.s.at(i)), n)) {
				return
			}
			q.s.check("Queue.Parts")
			i += n
		}
	}
}

// All yields the elements in order, with their positions. It goes by position: an element that is
// pushed at the back meanwhile is shown, and a pop at the front makes it skip one.
func (q *Queue[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		q.s.check("Queue.All")
		for i := 0; i < q.s.count; i++ {
			// Safe because the position holds an element.
			if !yield(i, (*T)(q.s.at(i))) {
				return
			}
			q.s.check("Queue.All")
		}
	}
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int {
	q.s.check("Queue.Len")
	return q.s.count
}

// Cap returns the number of elements that the queue holds before a push at the back calls the
// allocator.
func (q *Queue[T]) Cap() int {
	q.s.check("Queue.Cap")
	return q.s.count + q.s.free()
}

// Reserve makes room for n more elements at the back. Pops then keep as much memory, until Trim. An
// error is the allocator's; the elements are unchanged then. It panics when n is negative.
func (q *Queue[T]) Reserve(n int) error {
	q.s.check("Queue.Reserve")
	if n < 0 {
		panic(fmt.Sprintf("container: Queue.Reserve: n=%d is negative", n))
	}
	old, oldRoom, err := q.s.reserve(n)
	if err != nil {
		return fmt.Errorf("container: Queue.Reserve: %d elements: %w", n, err)
	}
	q.s.freeBlock(old, oldRoom)
	q.s.keep = max(q.s.keep, len(q.s.spare))
	return nil
}

// Clear removes all elements and keeps one block, and what Reserve wants kept.
func (q *Queue[T]) Clear() {
	q.s.check("Queue.Clear")
	q.s.clear()
}

// Trim frees what the elements do not need. A block that cannot be replaced by a smaller one stays.
func (q *Queue[T]) Trim() {
	q.s.check("Queue.Trim")
	q.s.trim()
}

// Close frees the blocks. The queue must not be used afterwards; a second Close does nothing, and
// so does the Close of a queue whose allocator has given up the blocks.
func (q *Queue[T]) Close() { q.s.close() }

// Verify checks Q1 to Q5 and returns an error that names the first violation.
func (q *Queue[T]) Verify() error {
	q.s.check("Queue.Verify")
	return q.s.verify()
}
