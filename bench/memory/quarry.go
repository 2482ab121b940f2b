package main

import (
	"errors"
	"unsafe"

	"quarry/alloc"
)

// quarry lists Quarry's own allocators. One more line adds an allocator to every workload.
var quarry = []allocator{
	{name: "universe", ours: true, chunks: func() (memory, error) { return newUniverse() }},
	{name: "heap", ours: true, blocks: func() (memory, error) { return newHeap() }, lean: func() (memory, error) {
		return newHeap(small...)
	}},
	{name: "local", ours: true, blocks: func() (memory, error) { return newLocal() }, lean: func() (memory, error) {
		return newLocal(small...)
	}},
}

// small are the options of a universe for footprints.
var small = []alloc.Option{alloc.SmallPages()}

// universeMemory hands out chunks.
type universeMemory struct {
	u *alloc.Universe
}

func newUniverse(options ...alloc.Option) (*universeMemory, error) {
	u, err := alloc.NewUniverse(options...)
	if err != nil {
		return nil, err
	}
	return &universeMemory{u}, nil
}

func (m *universeMemory) alloc(size, align int) (unsafe.Pointer, error) {
	c, err := m.u.AllocExact(1)
	if err != nil {
		return nil, err
	}
	return m.u.Pointer(c), nil
}

func (m *universeMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	return p, nil // all chunks have the same size
}

func (m *universeMemory) free(p unsafe.Pointer, size, align int) {
	c, _ := m.u.IndexOf(p)
	m.u.Free(c, 1)
}

func (m *universeMemory) zeroed() bool          { return false }
func (m *universeMemory) fork() (memory, error) { return m, nil }
func (m *universeMemory) retire() error         { return nil }
func (m *universeMemory) committed() int64      { return int64(m.u.Stats().Committed) }

func (m *universeMemory) close() error {
	var err error
	if n := m.u.Stats().LiveChunks; n != 0 {
		err = wrong("the universe counts %d live chunks after all were freed", n)
	}
	return errors.Join(err, sound(m.u), m.u.Close())
}

// sound checks the invariants of a universe or a heap: a broken invariant is a wrong answer.
func sound(v interface{ Verify() error }) error {
	if err := v.Verify(); err != nil {
		return wrong("%v", err)
	}
	return nil
}

// heapMemory is a heap on a universe of its own.
type heapMemory struct {
	u *alloc.Universe
	h *alloc.Heap
}

func newHeap(options ...alloc.Option) (*heapMemory, error) {
	u, err := alloc.NewUniverse(options...)
	if err != nil {
		return nil, err
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return &heapMemory{u, h}, nil
}

func (m *heapMemory) alloc(size, align int) (unsafe.Pointer, error) { return m.h.Alloc(size, align) }
func (m *heapMemory) free(p unsafe.Pointer, size, align int)        { m.h.Free(p) }
func (m *heapMemory) zeroed() bool                                  { return false }
func (m *heapMemory) fork() (memory, error)                         { return m, nil }
func (m *heapMemory) retire() error                                 { return nil }

func (m *heapMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	return m.h.Realloc(p, size, 0)
}

// trim gives back what the heap keeps, then the chunks that this freed.
func (m *heapMemory) trim() error {
	err := m.h.Trim()
	_, e := m.u.Trim(0)
	return errors.Join(err, e)
}

func (m *heapMemory) committed() int64 {
	return int64(m.u.Stats().Committed) + int64(m.h.Stats().Mapped+m.h.Stats().Kept)
}

func (m *heapMemory) close() error {
	var err error
	if n := m.h.Stats().LiveBlocks; n != 0 {
		err = wrong("the heap counts %d live blocks after all were freed", n)
	}
	err = errors.Join(err, sound(m.h), m.h.Close())
	if n := m.u.Stats().LiveChunks; n != 0 {
		err = errors.Join(err, wrong("the universe counts %d live chunks after the heap was closed", n))
	}
	return errors.Join(err, sound(m.u), m.u.Close())
}

// localMemory is a heap used through the handle of one goroutine.
type localMemory struct {
	*heapMemory
	l *alloc.Local
}

func newLocal(options ...alloc.Option) (*localMemory, error) {
	m, err := newHeap(options...)
	if err != nil {
		return nil, err
	}
	return &localMemory{m, m.h.NewLocal()}, nil
}

func (m *localMemory) alloc(size, align int) (unsafe.Pointer, error) { return m.l.Alloc(size, align) }
func (m *localMemory) free(p unsafe.Pointer, size, align int)        { m.l.Free(p) }
func (m *localMemory) fork() (memory, error) {
	return &localMemory{m.heapMemory, m.h.NewLocal()}, nil
}

func (m *localMemory) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	return m.l.Realloc(p, size, 0)
}

func (m *localMemory) trim() error {
	m.l.Trim()
	return m.heapMemory.trim()
}

func (m *localMemory) retire() error {
	m.l.Close()
	return nil
}

func (m *localMemory) close() error { return errors.Join(m.retire(), m.heapMemory.close()) }
