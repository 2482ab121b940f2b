package wrap

import (
	"bufio"
	"io"
	"strconv"
	"sync"
	"unsafe"

	"quarry/alloc"
)

// Trace logs each call that goes through it, as text in the format in which Android records the
// heaps of programs, one line per call:
//
//	1: malloc 0x7f0000010000 64
//	1: memalign 0x7f0000020000 64 4096
//	1: realloc 0x7f0000010000 0x7f0000010000 48
//	1: realloc 0x0 0x7f0000010000 1000000
//	1: realloc 0x7f0000030000 0x7f0000010000 500000
//	1: free 0x7f0000030000
//
// memalign is for alignments above 16, and calloc, of 1 times the size, for zeroed blocks. The
// first realloc is a resize in place, the second one that was refused, the third a block that
// moved. A refused resize to 0 has no line, since the format would take it for a free. A name is
// the block's address. The thread is always 1, since Go has no numbers for goroutines. go run
// ./bench -only trace -trace FILE replays such a file.
//
// The text is well formed whatever the program does. For a block that an allocator took back
// without a free, as an Arena does by Reset, a free is logged when its address recurs. The free of
// a block from elsewhere has no line. A free that panics has one.
//
// Any goroutine that may use the allocator inside may use a Trace. The calls are logged in some
// order in which they could have been made. Cost: 50 ns a call, under a lock that is not held while
// the allocator inside works, and 24 to 40 bytes of Go memory per live block.
type Trace struct {
	inside

	mu     sync.Mutex
	out    *bufio.Writer        // keeps the first error of the underlying writer
	line   []byte               // reused buffer
	live   map[uintptr]struct{} // names whose free is not logged yet
	moving map[uintptr]struct{} // those of them whose block is being reallocated
	closed bool
}

// NewTrace returns a Trace that logs the calls of a to w. It calls w once per 64 KiB, under the
// lock, so w must not use the Trace.
func NewTrace(a alloc.Allocator, w io.Writer) *Trace {
	in := insideOf("NewTrace", a)
	if w == nil {
		panic("wrap: NewTrace: the writer is nil")
	}
	return &Trace{
		inside: in,
		out:    bufio.NewWriterSize(w, 64<<10),
		live:   map[uintptr]struct{}{},
		moving: map[uintptr]struct{}{},
	}
}

// Alloc allocates from the allocator inside.
func (t *Trace) Alloc(size, align int) (unsafe.Pointer, error) {
	p, err := t.from.Alloc(size, align)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made(p, size, align, false)
	return p, err
}

// AllocZeroed is Alloc of a zeroed block.
func (t *Trace) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	p, err := t.more.AllocZeroed(size, align)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made(p, size, align, true)
	return p, err
}

// made logs a new block, or the failure of a request when p is nil. mu is held.
func (t *Trace) made(p unsafe.Pointer, size, align int, zeroed bool) {
	if t.closed {
		return
	}
	name := uintptr(p)
	if p != nil {
		t.drop(name)
		t.live[name] = struct{}{}
	}
	switch {
	case align > 16:
		t.write("memalign", []uintptr{name}, align, size)
	case zeroed:
		t.write("calloc", []uintptr{name}, 1, size)
	default:
		t.write("malloc", []uintptr{name}, size)
	}
}

// ResizeSized resizes by the allocator inside.
func (t *Trace) ResizeSized(p unsafe.Pointer, size, align, to int) bool {
	ok := t.from.ResizeSized(p, size, align, to)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resized(p, to, ok)
	return ok
}

// resized logs a resize, done or refused. mu is held.
func (t *Trace) resized(p unsafe.Pointer, to int, ok bool) {
	name := uintptr(p)
	_, known := t.live[name]
	switch {
	case t.closed:
	case ok && known:
		t.write("realloc", []uintptr{name, name}, to)
	case ok:
		t.live[name] = struct{}{}
		t.write("realloc", []uintptr{name, 0}, to)
	case known && to > 0:
		t.write("realloc", []uintptr{0, name}, to)
	}
}

// ReallocSized reallocates by the allocator inside.
func (t *Trace) ReallocSized(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return t.moved(p, size, align, to, false)
}

// ReallocZeroed is ReallocSized with added bytes zero.
func (t *Trace) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	return t.moved(p, size, align, to, true)
}

// moved reallocates. While the allocator inside works, another goroutine may get the address of the
// old block; its line then frees the name, and the line of this call is one of a new block.
func (t *Trace) moved(p unsafe.Pointer, size, align, to int, zeroed bool) (unsafe.Pointer, error) {
	name := uintptr(p)
	t.mu.Lock()
	if _, known := t.live[name]; known && !t.closed {
		t.moving[name] = struct{}{}
	}
	t.mu.Unlock()
	var q unsafe.Pointer
	var err error
	returned := false
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		_, ours := t.moving[name]
		delete(t.moving, name)
		switch {
		case !returned: // it panics, and nothing has changed
		case p != nil && (err != nil || q == p):
			t.resized(p, to, err == nil)
		case ours && to > 0:
			t.drop(uintptr(q))
			delete(t.live, name)
			t.live[uintptr(q)] = struct{}{}
			t.write("realloc", []uintptr{uintptr(q), name}, to)
		default:
			if ours {
				t.drop(name) // a realloc to nothing is a free, in this format
			}
			t.made(q, to, align, zeroed)
		}
	}()
	q, err = t.realloc(p, size, align, to, zeroed)
	returned = true
	return q, err
}

// FreeSized frees through the allocator inside.
func (t *Trace) FreeSized(p unsafe.Pointer, size, align int) {
	t.free(p) // before another goroutine can get the address
	t.from.FreeSized(p, size, align)
}

func (t *Trace) free(p unsafe.Pointer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
	case p == nil:
		t.write("free", []uintptr{0})
	default:
		t.drop(uintptr(p))
	}
}

// drop logs the free of a live name.
func (t *Trace) drop(name uintptr) {
	if _, known := t.live[name]; known {
		delete(t.live, name)
		delete(t.moving, name)
		t.write("free", []uintptr{name})
	}
}

// write appends a line; the caller holds the lock. The writer keeps an error.
func (t *Trace) write(call string, names []uintptr, numbers ...int) {
	b := append(append(t.line[:0], "1: "...), call...)
	for _, name := range names {
		b = strconv.AppendUint(append(b, " 0x"...), uint64(name), 16)
	}
	for _, n := range numbers {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	t.line = append(b, '\n')
	t.out.Write(t.line)
}

// Flush writes out the buffer and returns the first error of the writer since NewTrace. After an
// error nothing more is written.
func (t *Trace) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Flush()
}

// Close is Flush, and stops logging. Later calls still go to the allocator inside.
func (t *Trace) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.live, t.moving = nil, nil
	return t.out.Flush()
}
