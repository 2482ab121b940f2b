package wrap

import (
	"runtime"
	"unsafe"
)

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

// SameHash counts blocks whose size or stack is not the same, but whose hash is, each twice, and
// returns how often each was counted.
func (p *Profile) SameHash() (counts []int64) {
	fold := func(h, pc uint64) uint64 { return (h ^ h>>32 ^ pc) * hashFactor }
	one, two := fold(7, 1), fold(7, 2)
	stacks := []struct {
		size  int
		stack []uintptr
	}{
		{1, []uintptr{2}}, {2, []uintptr{1}},
		{7, []uintptr{1, 5}}, {7, []uintptr{2, uintptr(one ^ one>>32 ^ 5 ^ two ^ two>>32)}},
	}
	for range 2 {
		for _, s := range stacks {
			p.count("a", s.size, s.stack)
		}
	}
	if len(p.byHash) != 2 {
		panic("the hashes differ")
	}
	for _, b := range p.list {
		counts = append(counts, b.allocs.Load())
	}
	return counts
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

// Innermost returns the innermost functions of the stacks that allocated blocks of a size.
func (p *Profile) Innermost(size int) (functions []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.list {
		if b.size == size {
			f, _ := runtime.CallersFrames(b.stack).Next()
			functions = append(functions, f.Function)
		}
	}
	return functions
}
