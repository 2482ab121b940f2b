package main

import (
	"math/bits"
	"runtime/debug"
	"sync"
	"unsafe"
)

// makeMemory is the Go heap: every block is a make of bytes, cleared by the runtime and left to the
// garbage collector when it is freed.
type makeMemory struct{}

func newMake() (memory, error) { return makeMemory{}, nil }

func (makeMemory) alloc(size, align int) (unsafe.Pointer, error) { return made(size, align), nil }

// made is a new block of the Go heap. For an alignment above 8 it does what a Go program has to: it
// makes more bytes and takes the first address that fits.
func made(size, align int) unsafe.Pointer {
	if align <= 8 {
		return unsafe.Pointer(unsafe.SliceData(make([]byte, max(size, 1))))
	}
	p := unsafe.Pointer(unsafe.SliceData(make([]byte, size+align)))
	// Safe because fewer than align bytes are skipped of size + align.
	return unsafe.Add(p, -uintptr(p)&uintptr(align-1))
}

func (makeMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	if size <= old && size >= old/2 {
		return p, nil
	}
	q := made(size, 0)
	move(q, p, min(old, size))
	return q, nil
}

// move copies n bytes.
func move(to, from unsafe.Pointer, n int) {
	// Safe because both blocks are live and have at least n bytes.
	copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
}

func (makeMemory) trim() error {
	debug.FreeOSMemory()
	return nil
}

func (makeMemory) free(unsafe.Pointer, int, int) {}
func (makeMemory) zeroed() bool                  { return true }
func (m makeMemory) fork() (memory, error)       { return m, nil }
func (makeMemory) retire() error                 { return nil }
func (makeMemory) committed() int64              { return -1 }
func (makeMemory) close() error                  { return nil }

// Blocks of the pool and of the null allocator have powers of two as sizes.
const (
	classes      = 40 // sizes up to 2^39
	alignClasses = 21 // alignments up to 1 MiB
)

// place returns the class of a block: log2 of its size and of its alignment, where 0 stands for 16
// and less.
func place(size, align int) (class, alignClass int) {
	class = bits.Len(uint(max(size, 16) - 1))
	if align > 16 {
		alignClass = bits.Len(uint(align - 1))
	}
	return class, alignClass
}

// poolMemory has one sync.Pool per power of two.
type poolMemory struct {
	pools [alignClasses][classes]sync.Pool
}

func newPool() (memory, error) { return &poolMemory{}, nil }

func (m *poolMemory) alloc(size, align int) (unsafe.Pointer, error) {
	class, alignClass := place(size, align)
	if p, ok := m.pools[alignClass][class].Get().(unsafe.Pointer); ok {
		return p, nil
	}
	return made(1<<class, align), nil
}

func (m *poolMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	return remake(m, p, old, size)
}

// remake is realloc for blocks of powers of two.
func remake(m memory, p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	was, _ := place(old, 0)
	if is, _ := place(size, 0); was == is {
		return p, nil
	}
	q, err := m.alloc(size, 0)
	if err != nil {
		return nil, err
	}
	move(q, p, min(old, size))
	m.free(p, old, 0)
	return q, nil
}

func (m *poolMemory) free(p unsafe.Pointer, size, align int) {
	class, alignClass := place(size, align)
	m.pools[alignClass][class].Put(p)
}

func (m *poolMemory) zeroed() bool          { return false }
func (m *poolMemory) fork() (memory, error) { return m, nil }
func (m *poolMemory) retire() error         { return nil }
func (m *poolMemory) committed() int64      { return -1 }
func (m *poolMemory) close() error          { return nil }
