package trace

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// heapMemory is the side on the universe: a Local of an alloc.Heap on its own universe, shared with
// nobody. The replaying goroutine is the Local's owner.
type heapMemory struct {
	u    *alloc.Universe
	h    *alloc.Heap
	l    *alloc.Local
	peak int64 // greatest sampled sum of committed granules and direct mappings, in bytes
}

func newHeapMemory() (*heapMemory, error) {
	u, err := alloc.NewUniverse()
	if err != nil {
		return nil, err
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return &heapMemory{u: u, h: h, l: h.NewLocal()}, nil
}

func (m *heapMemory) get(size, align int) ([]byte, error) {
	p, err := m.l.Alloc(size, align)
	if err != nil {
		return nil, err
	}
	return view(p, size), nil
}

func (m *heapMemory) resize(b []byte, size int) ([]byte, error) {
	p, err := m.l.Realloc(start(b), size, 0)
	if err != nil {
		return nil, err
	}
	return view(p, size), nil
}

func (m *heapMemory) drop(b []byte) {
	m.l.Free(start(b))
}

func (m *heapMemory) traits() traits {
	return traits{align: 16}
}

func (m *heapMemory) sample() int64 {
	s := m.h.Stats()
	now := int64(m.u.Stats().Committed) + int64(s.Mapped) + int64(s.Kept)
	m.peak = max(m.peak, now)
	return now
}

// close ends heap and universe. It is an error if the heap counts live blocks or if, after the heap
// is closed, the universe counts live chunks.
func (m *heapMemory) close() error {
	var leak error
	if n := m.h.Stats().LiveBlocks; n != 0 {
		leak = fmt.Errorf("the heap counts %d live blocks after all were freed", n)
	}
	m.l.Close()
	err := m.h.Close()
	if n := m.u.Stats().Live; n != 0 {
		leak = errors.Join(leak, fmt.Errorf("the universe counts %d live bytes after the heap was closed", n))
	}
	return errors.Join(leak, err, m.u.Close())
}

// view is the block at p as a slice over the requested bytes. A block of size 0 gets a capacity of
// one byte, so that its address can be found again.
func view(p unsafe.Pointer, size int) []byte {
	// Safe because the heap returned at least size bytes at p; a block of size 0 has its own
	// address, and its one byte is never touched.
	return unsafe.Slice((*byte)(p), max(size, 1))[:size]
}

// start is the address from which view made b.
func start(b []byte) unsafe.Pointer {
	// Safe because the capacity is never 0, so this is the first byte.
	return unsafe.Pointer(unsafe.SliceData(b))
}
