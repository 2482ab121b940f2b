package wrap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/alloc"
)

// Profile records the stacks of a sample of allocations, of any number of allocators, for go tool
// pprof.
//
//	profile := wrap.NewProfile(0)
//	textures := profile.Wrap(heap, "textures")
//	...
//	profile.WriteProfile(file) // go tool pprof -top -sample_index=inuse_space FILE
//
// Any goroutine may use it at any time. Memory: about 150 bytes, plus 8 per frame, for each stack
// and size ever sampled, and 110 for each sampled block while it is live.
type Profile struct {
	rate int // bytes between samples on average

	mu     sync.Mutex
	random *rand.Rand
	byHash map[uint64]*bucket
	list   []*bucket // in the order of their first samples
	split  int       // countdowns per allocator
}

// defaultRate is the default of runtime.MemProfileRate, in bytes.
const defaultRate = 512 << 10

// deepest is the number of frames kept per stack, as in the Go runtime. It exceeds the number in
// callers, since pprof adds up what callees allocate.
const deepest = 128

// bucket counts the sampled blocks with the same allocator, size and stack. All have one size, so
// the probability of being sampled is known.
type bucket struct {
	name          string    // of the allocator
	size          int       // bytes
	stack         []uintptr // return addresses, the innermost first
	allocs, frees atomic.Int64
	next          *bucket // of the same hash
}

// NewProfile returns a Profile that samples once in rate bytes on average; 0 means 512 KiB, as in
// the Go runtime, and 1 samples every block. Sampling is a Poisson process: where a byte is sampled
// does not depend on earlier samples, so no pattern of allocations escapes it. NewProfile panics
// when rate is less than 0.
func NewProfile(rate int) *Profile {
	return newProfile(rate, rand.Uint64(), countdowns())
}

// countdowns returns the number of countdowns per allocator: so many that goroutines running at the
// same time rarely share one.
func countdowns() int {
	n := 1
	for n < 64*runtime.GOMAXPROCS(0) {
		n *= 2
	}
	return n
}

func newProfile(rate int, seed uint64, split int) *Profile {
	if rate < 0 {
		panic(fmt.Sprintf("wrap: NewProfile: rate=%d is less than 0", rate))
	}
	if rate == 0 {
		rate = defaultRate
	}
	return &Profile{
		rate:   rate,
		random: rand.New(rand.NewPCG(seed, seed)),
		byHash: map[uint64]*bucket{},
		split:  split,
	}
}

// next draws the number of bytes until the next sample.
func (p *Profile) next() int64 {
	if p.rate == 1 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.random.ExpFloat64() * float64(p.rate))
}

// count adds a block to its bucket.
func (p *Profile) count(name string, size int, stack []uintptr) *bucket {
	hash := uint64(size)
	for _, pc := range stack {
		hash = (hash ^ hash>>32 ^ uint64(pc)) * hashFactor
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.byHash[hash]
	for b != nil && (b.size != size || b.name != name || !slices.Equal(b.stack, stack)) {
		b = b.next
	}
	if b == nil {
		b = &bucket{name: name, size: size, stack: slices.Clone(stack), next: p.byHash[hash]}
		p.byHash[hash] = b
		p.list = append(p.list, b)
	}
	b.allocs.Add(1)
	return b
}

// weight returns how many blocks of size bytes one sampled block stands for: one in 1 -
// e^(-size/rate) of them is sampled.
func (p *Profile) weight(size int) float64 {
	if p.rate == 1 {
		return 1
	}
	return -1 / math.Expm1(-float64(max(size, 1))/float64(p.rate))
}

// Wrap returns an allocator around a whose allocations are sampled. In the profile they have the
// label "allocator" with the given name. Several allocators may share a name, and allocators of
// different profiles may wrap one another.
func (p *Profile) Wrap(a alloc.Allocator, name string) *Sampled {
	s := &Sampled{inside: insideOf("Profile.Wrap", a), profile: p, name: name, left: make([]countdown, p.split)}
	s.shift = hashShift(len(s.left))
	for i := range s.left {
		s.left[i].bytes = p.next()
	}
	s.blocks.init()
	return s
}
