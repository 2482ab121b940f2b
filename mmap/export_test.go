package mmap

import (
	"errors"
	"unsafe"
)

// Tests live outside the package; this is their way to the layer below.

type (
	System = system
	Space  = space
)

func NewSpace(sys System) *Space                   { return newSpace(sys) }
func (s *space) Reserve(size int) (*Region, error) { return s.reserve(size) }
func (s *space) Parked() (regions, bytes int)      { return s.count() }
func (s *space) Faults() bool                      { return !s.sys.traits().lazy }
func (s *space) Align() int                        { return s.sys.traits().align }

// Runs is what the process pays for: runs of ready granules in all regions.
func (s *space) Runs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// Bytes is all memory of the region, whatever its state.
func (r *Region) Bytes() []byte {
	// Safe because the region owns [Base, Base+Size) and keeps it mapped.
	return unsafe.Slice((*byte)(r.Base()), r.Size())
}

// Ready reports whether granule g is ready.
func (r *Region) Ready(g int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready.has(g)
}

// Systems are the constructors of all backings of this build, by name.
func Systems() map[string]func() System {
	all := map[string]func() System{"goheap": func() System { return goHeap{} }}
	addPages(all)
	return all
}

// Corruptions breaks one invariant each, by its name, in an open region whose
// granule 0 is ready and 1 is reserved.
var Corruptions = map[string]func(*Region){
	// Safe because Verify looks at the address and does not follow it.
	"I1 base":  func(r *Region) { r.memory.base = unsafe.Add(r.memory.base, 8) },
	"I1 size":  func(r *Region) { r.memory.size-- },
	"I2 words": func(r *Region) { r.ready = append(r.ready, 0) },
	"I2 bits":  func(r *Region) { r.memory.stale[0] |= 1 << 63 },
	"I3":       func(r *Region) { r.memory.stale.set(0, 1) },
	"I4 bytes": func(r *Region) { r.committed += Granule },
	"I4 runs":  func(r *Region) { r.runs++ },
	"I4 ready": func(r *Region) { r.ready.set(1, 2) },
	"I5 open":  func(r *Region) { r.space.park(r.memory) },
	"I5 ended": func(r *Region) { r.memory.base = nil },
}

// ErrFlaky is the errno of a step that Flaky fails.
var ErrFlaky = errors.New("injected failure")

// Flaky is a system whose steps [At, At+Burst) fail. A failing step on granules
// is done for its first half, a failing deny for its second, so that what one
// got through is not undone by the other.
type Flaky struct {
	System
	At    int // 1 is the first step; 0: none fails
	Burst int
	Steps int      // steps so far
	Live  int      // ranges the system has handed out
	Trace []string // names of the steps so far
}

func (f *Flaky) fails(step string) bool {
	f.Steps++
	f.Trace = append(f.Trace, step)
	return f.At > 0 && f.At <= f.Steps && f.Steps < f.At+f.Burst
}

func (f *Flaky) reserve(size int) (memory, error) {
	if f.fails("reserve") {
		return memory{}, ErrFlaky
	}
	f.Live++
	return f.System.reserve(size)
}

func (f *Flaky) step(name string, do func(*memory, int, int) error, m *memory, off, n int) error {
	if !f.fails(name) {
		return do(m, off, n)
	}
	if half := n / 2 / Granule * Granule; half > 0 {
		if name == "deny" {
			off += n - half
		}
		if err := do(m, off, half); err != nil {
			return err
		}
	}
	return ErrFlaky
}

func (f *Flaky) allow(m *memory, off, n int) error { return f.step("allow", f.System.allow, m, off, n) }
func (f *Flaky) deny(m *memory, off, n int) error  { return f.step("deny", f.System.deny, m, off, n) }
func (f *Flaky) drop(m *memory, off, n int) error  { return f.step("drop", f.System.drop, m, off, n) }

// Frugal is a system whose process can afford Limit separate ready ranges.
type Frugal struct {
	System
	Limit int
}

func (f Frugal) traits() traits {
	t := f.System.traits()
	t.mappings = f.Limit
	return t
}

// Set is granules for the test of its own.
type Set struct{ granules }

func NewSet(n int) Set                         { return Set{newGranules(n)} }
func (s Set) Add(lo, hi int)                   { s.set(lo, hi) }
func (s Set) Remove(lo, hi int)                { s.clear(lo, hi) }
func (s Set) Has(g int) bool                   { return s.has(g) }
func (s Set) Next(lo, hi int, member bool) int { return s.next(lo, hi, member) }
func (s Set) Count() (members, runs int)       { return s.count() }
func (s Set) Spans(lo, hi int) (all [][2]int) {
	for _, one := range s.spans(lo, hi) {
		all = append(all, [2]int{one.lo, one.hi})
	}
	return all
}
