package wrap

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// Limit refuses what would make more bytes live at once than it was given. What it
// counts is the sizes that were asked for. Any goroutine may use it that may use the
// allocator inside. Cost: one compare-and-swap to allocate, an addition to free.
//
// What an allocator takes back as a whole, as an Arena does by a reset, stays counted:
// limit what is below the arena.
type Limit struct {
	from alloc.Allocator
	most int64
	live atomic.Int64 // bytes of live blocks, and of those that are being asked for
}

// NewLimit allows bytes of a's blocks at a time. It panics for less than 0.
func NewLimit(a alloc.Allocator, bytes int) *Limit {
	if bytes < 0 {
		panic(fmt.Sprintf("wrap: NewLimit: bytes=%d is less than 0", bytes))
	}
	checkInside("NewLimit", a)
	return &Limit{from: a, most: int64(bytes)}
}

// Alloc is that of the allocator inside, or an error that wraps alloc.ErrFull and says
// how much is live.
func (l *Limit) Alloc(size, align int) (unsafe.Pointer, error) {
	back := max(size, 0) // which is counted until there is a block: the allocator inside may panic
	if err := l.take(back); err != nil {
		return nil, err
	}
	defer func() { l.live.Add(-int64(back)) }()
	p, err := l.from.Alloc(size, align)
	if err == nil {
		back = 0
	}
	return p, err
}

// take counts n bytes, in one step, so that what is refused is nobody else's refusal.
func (l *Limit) take(n int) error {
	for {
		live := l.live.Load()
		if int64(n) > l.most-live {
			return fmt.Errorf("wrap: Limit: %d bytes more would be %d of %d: %w", n, uint64(live)+uint64(n), l.most, alloc.ErrFull)
		}
		if l.live.CompareAndSwap(live, live+int64(n)) {
			return nil
		}
	}
}

// ResizeSized is that of the allocator inside, within the limit.
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

// FreeSized is that of the allocator inside.
func (l *Limit) FreeSized(p unsafe.Pointer, size, align int) {
	l.from.FreeSized(p, size, align)
	if p != nil {
		l.live.Add(-int64(size))
	}
}

// Live returns the bytes of live blocks.
func (l *Limit) Live() int { return int(l.live.Load()) }

// Unwrap returns the allocator inside.
func (l *Limit) Unwrap() alloc.Allocator { return l.from }
