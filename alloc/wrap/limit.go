package wrap

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// Limit refuses requests that would make more bytes live at once than its limit. It counts
// requested sizes. Any goroutine that may use the allocator inside may use a Limit. Cost: one
// compare-and-swap to allocate, one addition to free.
//
// A block that moves counts once, with its larger size meanwhile, although the allocator inside has
// both for a moment.
//
// Memory that an allocator takes back as a whole, as an Arena does by Reset, stays counted: put the
// Limit below the arena.
type Limit struct {
	inside
	most int64
	live atomic.Int64 // bytes of live blocks and of pending requests
}

// NewLimit returns a Limit that allows bytes live bytes in blocks of a. It panics when bytes is
// less than 0.
func NewLimit(a alloc.Allocator, bytes int) *Limit {
	if bytes < 0 {
		panic(fmt.Sprintf("wrap: NewLimit: bytes=%d is less than 0", bytes))
	}
	return &Limit{inside: insideOf("NewLimit", a), most: int64(bytes)}
}

// Alloc allocates from the allocator inside, or returns an error that wraps alloc.ErrFull and
// states how much is live.
func (l *Limit) Alloc(size, align int) (unsafe.Pointer, error) { return l.taken(size, align, false) }

// AllocZeroed is Alloc of a zeroed block.
func (l *Limit) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	return l.taken(size, align, true)
}

func (l *Limit) taken(size, align int, zeroed bool) (unsafe.Pointer, error) {
	back := max(size, 0) // which is counted until there is a block: the allocator inside may panic
	if err := l.take(back); err != nil {
		return nil, err
	}
	defer func() { l.live.Add(-int64(back)) }()
	p, err := l.alloc(size, align, zeroed)
	if err == nil {
		back = 0
	}
	return p, err
}

// take counts n bytes in one step, so that a refused request never causes the refusal of another.
func (l *Limit) take(n int) error {
	for {
		live := l.live.Load()
		if int64(n) > l.most-live {
			return fmt.Errorf("wrap: Limit: %d bytes more would be %d of %d: %w",
				n, uint64(live)+uint64(n), l.most, alloc.ErrFull)
		}
		if l.live.CompareAndSwap(live, live+int64(n)) {
			return nil
		}
	}
}

// ResizeSized resizes by the allocator inside, within the limit.
func (l *Limit) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	more := 0
	if size >= 0 && to > size { // else it shrinks, or the allocator inside panics
		if more = to - size; l.take(more) != nil {
			return false
		}
	}
	back := more
	defer func() { l.live.Add(-int64(back)) }()
	ok := l.from.ResizeSized(p, size, align, to)
	if ok {
		back = more - (to - size)
	}
	return ok
}

// ReallocSized reallocates by the allocator inside, within the limit.
func (l *Limit) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.moved(p, size, align, to, false)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (l *Limit) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return l.moved(p, size, align, to, true)
}

func (l *Limit) moved(p unsafe.Pointer, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	if p == nil {
		return l.taken(to, align, zeroed)
	}
	more := 0
	if size >= 0 && to > size { // else it shrinks, or the allocator inside panics
		more = to - size
		if err := l.take(more); err != nil {
			return nil, err
		}
	}
	back := more
	defer func() { l.live.Add(-int64(back)) }()
	q, err := l.realloc(p, size, align, to, zeroed)
	if err == nil {
		back = more - (to - size)
	}
	return q, err
}

// FreeSized frees through the allocator inside.
func (l *Limit) FreeSized(p unsafe.Pointer, size, align int) {
	l.from.FreeSized(p, size, align)
	if p != nil {
		l.live.Add(-int64(size))
	}
}

// Live returns the number of live bytes.
func (l *Limit) Live() int { return int(l.live.Load()) }
