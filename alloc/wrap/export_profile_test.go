package wrap

import "unsafe"

// NewProfileSeeded is NewProfile with one countdown an allocator, drawn from a seed,
// so that one goroutine's samples are the same each time.
func NewProfileSeeded(rate int, seed uint64) *Profile { return newProfile(rate, seed, 1) }

// Known returns how many live blocks s has sampled.
func (s *Sampled) Known() int {
	s.blocks.mu.Lock()
	defer s.blocks.mu.Unlock()
	return len(s.blocks.live)
}

// Asks reports whether a free of p takes the lock.
func (s *Sampled) Asks(p unsafe.Pointer) bool { return s.blocks.may(p) }

// Hits returns how many of the filter's counts are not zero, and how many there are.
func (s *Sampled) Hits() (set, all int) {
	f := s.blocks.filter.Load()
	for i := range f.counts {
		if f.counts[i].Load() != 0 {
			set++
		}
	}
	return set, len(f.counts)
}

// Message makes a protobuf message by calls of number, text, inner and numbers.
func Message() []byte {
	var m, in message
	m.number(1, 150)
	m.number(2, 0)
	m.text(2, "testing")
	m.text(2, "")
	in.number(1, 150)
	m.inner(3, in)
	m.numbers(6, []uint64{3, 270, 86942})
	m.number(16, 1<<64-1)
	m.inner(4, message{make([]byte, 200)})
	return m.bytes
}
