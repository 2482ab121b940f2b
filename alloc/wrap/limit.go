package wrap

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"quarry/alloc"
)

// Limit refuses what would make more bytes live at once than it was given. What it
// counts is the sizes that were asked for. Any goroutine may use it that may use the
// allocator inside. Cost: one atomic addition a call.
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
	return &Limit{from: a, most: int64(bytes)}
}

// Alloc is that of the allocator inside, or an error that wraps alloc.ErrFull and says
// how much is live.
func (l *Limit) Alloc(size, align int) (unsafe.Pointer, error) {
	if err := l.take(size); err != nil {
		return nil, err
	}
	p, err := l.from.Alloc(size, align)
	if err != nil {
		l.live.Add(-int64(size))
	}
	return p, err
}

func (l *Limit) take(n int) error {
	if live := l.live.Add(int64(n)); n > 0 && (live > l.most || live < 0) {
		l.live.Add(-int64(n))
		return fmt.Errorf("wrap: Limit: %d bytes more would be %d of %d: %w", n, live, l.most, alloc.ErrFull)
	}
	return nil
}

// ResizeSized is that of the allocator inside, within the limit.
func (l *Limit) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	if to > size && l.take(to-size) != nil {
		return false
	}
	ok := l.from.ResizeSized(p, size, align, to)
	if ok && to < size || !ok && to > size {
		l.live.Add(-max(int64(size)-int64(to), int64(to)-int64(size)))
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
