package main

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// spy is a memory that keeps its own books of another memory and can have a defect. All its handles
// share them.
type spy struct {
	memory
	defect string // "": none

	mu    sync.Mutex
	live  map[unsafe.Pointer]int // sizes of the live blocks
	count int                    // blocks handed out
	last  unsafe.Pointer         // the latest block
	bad   []string               // what callers did wrong
	open  atomic.Int32           // handles forked but not retired
}

func newSpy(m memory, defect string) *spy {
	return &spy{memory: m, defect: defect, live: map[unsafe.Pointer]int{}}
}

func (s *spy) alloc(size, align int) (unsafe.Pointer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := size
	if s.defect == "crooked" {
		room += 16
	}
	p, err := s.memory.alloc(room, align)
	if err != nil {
		return nil, err
	}
	if s.count++; s.count%7 == 0 {
		if _, ok := s.live[s.last]; ok && s.defect == "flip" {
			*(*byte)(s.last) ^= 1
		}
	}
	if s.defect == "crooked" {
		p = unsafe.Add(p, 8)
	}
	if _, ok := s.live[p]; ok {
		s.bad = append(s.bad, "the allocator handed out a live block")
	}
	s.live[p], s.last = size, p
	return p, nil
}

func (s *spy) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	q, err := s.alloc(size, 0)
	if err != nil {
		return nil, err
	}
	if s.defect != "forgets" {
		move(q, p, min(old, size))
	}
	s.free(p, old, 0)
	return q, nil
}

func (s *spy) free(p unsafe.Pointer, size, align int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.live[p]; !ok || have != size {
		s.bad = append(s.bad, "a block was freed that is not live, or with another size")
	}
	delete(s.live, p)
	if s.defect == "crooked" {
		p, size = unsafe.Add(p, -8), size+16
	}
	s.memory.free(p, size, align)
}

func (s *spy) fork() (memory, error) {
	s.open.Add(1)
	return s, nil
}

func (s *spy) retire() error {
	s.open.Add(-1)
	return nil
}

// twice hands out each block twice: to one caller, and to the next.
type twice struct {
	makeMemory
	p    unsafe.Pointer
	odd  bool
	size int
}

func (m *twice) alloc(size, align int) (unsafe.Pointer, error) {
	if m.odd = !m.odd; m.odd || m.size != size {
		m.p, m.size = made(size, align), size
	}
	return m.p, nil
}
