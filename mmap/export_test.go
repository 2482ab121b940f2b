package mmap

import (
	"errors"
	"os"
	"unsafe"
)

// Tests live outside the package; this is their way to the layer below.

type (
	Backing = backing
	Space   = space
)

func NewSpace(sys Backing) *Space                  { return newSpace(sys) }
func (s *space) Reserve(size int) (*Region, error) { return s.reserve(size) }
func (s *space) Parked() (regions, bytes int)      { return s.count() }
func (s *space) Backing() Backing                  { return s.sys }
func (s *space) Faults() bool                      { return !s.sys.traits().lazy }
func (s *space) Align() int                        { return s.sys.traits().align }
func (s *space) Guards() GuardKind                 { return s.sys.traits().guards }
func (s *space) Guarded(f func()) error            { return s.guarded(f) }

func (s *space) RegionAt(p unsafe.Pointer) (*Region, int, bool) { return s.regionAt(p) }

func (s *space) ReserveUpTo(size, least int) (*Region, error) { return s.reserveUpTo(size, least) }

// Runs is what the process pays for: runs of ready granules in all regions.
func (s *space) Runs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// Unmap ends a space that has no open region: its ranges go back to the system, which regions
// never do. It is for tests that make many spaces: an emulator keeps what it has mapped resident.
func (s *space) Unmap() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.parked.pieces {
		err = errors.Join(err, unmap(&s.parked.pieces[i]))
	}
	s.parked = park{}
	return err
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

// Locked reports whether granule g is locked, IsFine whether it is fine, Hints which hints are on.
func (r *Region) Locked(g int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.locked.has(g)
}

func (r *Region) IsFine(g int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fine.has(g)
}

// FiledRuns is what granules that may show a file cost.
func (r *Region) FiledRuns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, runs := r.filed.count()
	return runs
}

func (r *Region) Hints() Hint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hints
}

// GuardRuns are the guarded runs, as offsets and sizes.
func (r *Region) GuardRuns() (all [][2]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.guards.runsIn(0, r.memory.size/PageSize()) {
		all = append(all, [2]int{s.offset(), s.size()})
	}
	return all
}

// Backings are the constructors of the backings of this build, by name.
func Backings() map[string]func() Backing {
	all := map[string]func() Backing{"goheap": func() Backing { return goHeap{} }}
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
	"I5 open":  func(r *Region) { r.space.parked.add(r.memory) },
	"I5 ended": func(r *Region) { r.memory.base = nil },
	"I6 where": func(r *Region) { r.guards.bits = map[int]granules{1: newGranules(pagesPerGranule())} },
	"I6 runs":  func(r *Region) { r.guards.runs, r.runs = 1, r.runs+guardRuns(r) },
	"I7":       func(r *Region) { r.locked.clear(0, 1); r.locked.set(1, 2); r.runs = 2 },
	"I9":       func(r *Region) { r.fine.set(0, 1); r.hints |= SmallPages; r.runs++ },
	"I10":      func(r *Region) { r.filed.set(1, 2); r.runs++ },
	"I8": func(r *Region) {
		if r.memory.object == nil {
			r.space.tenants = nil
		} else {
			r.memory.object = nil
		}
	},
}

// guardRuns is what one run of guards costs the region in runs.
func guardRuns(r *Region) int {
	if r.space.sys.traits().guards == GuardAccess {
		return 1
	}
	return 0
}

// ErrFlaky is the errno of a step that Flaky fails.
var ErrFlaky = errors.New("injected failure")

// Flaky is a backing whose steps [At, At+Burst) and Also fail. A failing step on granules
// is done for its first half, a failing deny or unlock for its second, so that
// what one got through is not undone by the other.
type Flaky struct {
	Backing
	At    int // 1 is the first step; 0: none fails
	Burst int
	Also  int      // one more step that fails; 0: none
	Steps int      // steps so far
	Live  int      // ranges the system has handed out
	Trace []string // names of the steps so far
	Fails []string // names of those that failed
	Names []string // that the range was given
}

func (f *Flaky) fails(step string) bool {
	f.Steps++
	f.Trace = append(f.Trace, step)
	fails := f.At > 0 && (f.At <= f.Steps && f.Steps < f.At+f.Burst || f.Steps == f.Also)
	if fails {
		f.Fails = append(f.Fails, step)
	}
	return fails
}

func (f *Flaky) reserve(size int) (memory, error) {
	if f.fails("reserve") {
		return memory{}, ErrFlaky
	}
	f.Live++
	return f.Backing.reserve(size)
}

func (f *Flaky) name(m *memory, text string) {
	f.Names = append(f.Names, text)
	f.Backing.name(m, text)
}

func (f *Flaky) room(size int) error {
	if f.fails("room") {
		return ErrFlaky
	}
	return f.Backing.room(size)
}

func (f *Flaky) step(name string, do func(*memory, int, int) error, m *memory, off, n int) error {
	if !f.fails(name) {
		return do(m, off, n)
	}
	if half := n / 2 / PageSize() * PageSize(); half > 0 {
		if name == "deny" || name == "unlock" {
			off += n - half
		}
		if err := do(m, off, half); err != nil {
			return err
		}
	}
	return ErrFlaky
}

func (f *Flaky) allow(m *memory, off, n int) error {
	return f.step("allow", f.Backing.allow, m, off, n)
}
func (f *Flaky) deny(m *memory, off, n int) error { return f.step("deny", f.Backing.deny, m, off, n) }
func (f *Flaky) drop(m *memory, off, n int) error { return f.step("drop", f.Backing.drop, m, off, n) }
func (f *Flaky) guard(m *memory, off, n int) error {
	return f.step("guard", f.Backing.guard, m, off, n)
}
func (f *Flaky) lock(m *memory, off, n int) error { return f.step("lock", f.Backing.lock, m, off, n) }

func (f *Flaky) discard(m *memory, off, n int) error {
	return f.step("discard", f.Backing.discard, m, off, n)
}

func (f *Flaky) attach(m *memory, off, n int, file *os.File, at int64) error {
	return f.step("attach", func(m *memory, off, n int) error { return f.Backing.attach(m, off, n, file, at) }, m, off,
		n)
}

func (f *Flaky) renew(m *memory, off, n int) error {
	return f.step("renew", f.Backing.renew, m, off, n)
}

func (f *Flaky) unguard(m *memory, off, n int) error {
	return f.step("unguard", f.Backing.unguard, m, off, n)
}

func (f *Flaky) unlock(m *memory, off, n int) error {
	return f.step("unlock", f.Backing.unlock, m, off, n)
}

func (f *Flaky) populate(m *memory, off, n int) error {
	return f.step("populate", f.Backing.populate, m, off, n)
}

func (f *Flaky) resident(m *memory, off, n int) (int, error) {
	if f.fails("resident") {
		return 0, ErrFlaky
	}
	return f.Backing.resident(m, off, n)
}

func (f *Flaky) hint(m *memory, h Hint, on bool) error {
	if f.fails("hint") {
		return ErrFlaky
	}
	return f.Backing.hint(m, h, on)
}

func (f *Flaky) fine(m *memory, off, n int, on bool) error {
	do := func(m *memory, off, n int) error { return f.Backing.fine(m, off, n, on) }
	return f.step("fine", do, m, off, n)
}

func (f *Flaky) advise(m *memory, off, n int, a Advice) error {
	if f.fails("advise") {
		return ErrFlaky
	}
	return f.Backing.advise(m, off, n, a)
}

// Frugal is a backing whose process can afford Limit separate ready ranges.
type Frugal struct {
	Backing
	Limit int
}

func (f Frugal) traits() traits {
	t := f.Backing.traits()
	t.mostRuns = f.Limit
	return t
}

func (f Frugal) mapped() int { return 0 }

// Narrow is a backing whose ranges come to Most bytes together at most.
type Narrow struct {
	Backing
	Most int
}

func (n Narrow) traits() traits {
	t := n.Backing.traits()
	t.most = n.Most
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

// Pages is pageSet for the test of its own.
type Pages struct{ set pageSet }

func (s *Pages) Add(lo, hi int)                   { s.set.add(lo, hi) }
func (s *Pages) Remove(lo, hi int)                { s.set.remove(lo, hi) }
func (s *Pages) Next(lo, hi int, member bool) int { return s.set.next(lo, hi, member) }
func (s *Pages) Runs() int                        { return s.set.runs }
func (s *Pages) Granules() int                    { return len(s.set.bits) }
func (s *Pages) RunsIn(lo, hi int) (all [][2]int) {
	for _, one := range s.set.runsIn(lo, hi) {
		all = append(all, [2]int{one.lo, one.hi})
	}
	return all
}

// CutPaste cuts the granules [lo, hi), returns the rest, and pastes them back.
func (s *Pages) CutPaste(lo, hi int) (left [][2]int) {
	out := s.set.cut(granuleRange{lo, hi})
	left = s.RunsIn(0, 1<<20)
	s.set.paste(out, granuleRange{lo, hi})
	return left
}

// Label is label.
func Label(text string) string { return label(text) }

func (s Set) RunsIn(lo, hi int) (all [][2]int) {
	for _, one := range s.runsIn(lo, hi) {
		all = append(all, [2]int{one.lo, one.hi})
	}
	return all
}

// Capped is a backing that has no range of more than Limit bytes.
type Capped struct {
	Backing
	Limit int
}

func (c Capped) reserve(size int) (memory, error) {
	if size > c.Limit {
		return memory{}, ErrFlaky
	}
	return c.Backing.reserve(size)
}

func (c Capped) room(size int) error {
	if size > c.Limit {
		return ErrFlaky
	}
	return nil
}
