package main

import (
	"errors"
	"unsafe"

	modernc "modernc.org/memory"
)

// moderncMemory is modernc.org/memory: shared pages of equal slots below 32 KiB or so, a mapping
// for every larger block. It is for one goroutine and knows no alignment above 16.
type moderncMemory struct {
	a    modernc.Allocator
	live int
}

func newModernc() (memory, error) { return &moderncMemory{}, nil }

// moderncAlign is the alignment that the allocator promises, in bytes.
const moderncAlign = 16

func (m *moderncMemory) alloc(size, align int) (unsafe.Pointer, error) {
	room := max(size, 1) // it returns nil for 0
	if align > moderncAlign {
		room += align
	}
	p, err := m.a.UnsafeMalloc(room)
	if err != nil {
		return nil, err
	}
	m.live++
	if align <= moderncAlign {
		return p, nil
	}
	// Safe because p is a multiple of 16 and align a larger power of two: q lies 16 to align bytes
	// above p, so that the word before it is in the block, and size bytes from it on.
	q := unsafe.Add(p, uintptr(align)-uintptr(p)&uintptr(align-1))
	*wordBefore(q) = uintptr(q) - uintptr(p)
	return q, nil
}

const wordSize = int(unsafe.Sizeof(uintptr(0)))

// wordBefore has, for a block with an alignment of its own, the distance to the block it lies in.
func wordBefore(p unsafe.Pointer) *uintptr {
	// Safe because alloc has left at least 16 bytes before p.
	return (*uintptr)(unsafe.Add(p, -wordSize))
}

func (m *moderncMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	return m.a.UnsafeRealloc(p, max(size, 1))
}

func (m *moderncMemory) free(p unsafe.Pointer, size, align int) {
	if align > moderncAlign {
		// Safe because alloc noted the distance, which leads to the start of the block.
		p = unsafe.Add(p, -int(*wordBefore(p)))
	}
	if err := m.a.UnsafeFree(p); err != nil {
		panic(err)
	}
	m.live--
}

func (m *moderncMemory) trim() error  { return m.a.Trim() }
func (m *moderncMemory) zeroed() bool { return false }
func (m *moderncMemory) fork() (memory, error) {
	return nil, errors.New("modernc is for one goroutine")
}
func (m *moderncMemory) retire() error    { return nil }
func (m *moderncMemory) committed() int64 { return -1 }

func (m *moderncMemory) close() error {
	var err error
	if m.live != 0 {
		err = wrong("%d blocks of modernc are live after all were freed", m.live)
	}
	return errors.Join(err, m.a.Close())
}
