package main

import (
	"errors"
	"runtime"
	"runtime/debug"
	"time"
)

// scale is how much work a run does.
type scale struct {
	time   time.Duration // of timed passes of a workload
	trace  time.Duration // of timed passes of a trace with rows in REFERENCE.csv, on one of our allocators
	pairs  int           // pairs per pass of a hot pair
	batch  int           // chunks of chunk-batch
	first  int           // chunks of chunk-first and chunk-churn
	small  int           // blocks of heap-batch
	full   int           // megachunks of chunk-search; the universe may have fewer
	slots  int           // live blocks per goroutine in larson
	rounds int           // replacements per slot and goroutine in larson
	loops  int           // of rptest
	loads  int           // batches per producer in xmalloc
	load   int           // blocks of such a batch
	held   heldScale
}

// heldScale is how much the workloads hold that measure resident memory.
type heldScale struct {
	fragment int           // bytes of blocks of fragment
	wait     time.Duration // until fragment looks what the allocator gave back by itself
	large    int           // bytes of live blocks of huge
	many     int           // live blocks of huge/count
	resident int64         // resident bytes at which huge/count stops
	growth   int           // bytes that the buffer of growth grows to
}

var (
	whole = scale{250 * time.Millisecond, time.Second, 4096, 10_000, 100_000, 1000, 16_384, 5000, 10, 1000, 40, 4096,
		heldScale{500e6, 2 * time.Second, 256 << 20, 100_000, 4 << 30, 64 << 20}}
	quick = scale{20 * time.Millisecond, 20 * time.Millisecond, 1024, 1000, 4000, 1000, 16_384, 1000, 2, 200, 4, 4096,
		heldScale{50e6, 50 * time.Millisecond, 16 << 20, 100, 1 << 30, 8 << 20}}
)

// sample is what one child found for one workload and allocator.
type sample struct {
	Library   string  `json:"library,omitempty"` // that malloc came from, for allocators of C
	Wrong     string  `json:"wrong,omitempty"`   // in words; empty: every check held
	NsPerOp   float64 `json:"ns_per_op"`
	P50       float64 `json:"p50_ns"` // of single steps; see sampler.go
	P99       float64 `json:"p99_ns"`
	P999      float64 `json:"p999_ns"`
	SampledBy int     `json:"sampled_by"` // steps a sample is the mean of
	Ops       int     `json:"ops"`        // operations of the timed passes
	// Bytes, of the whole child; here and below -1 is "not known".
	PeakRSS int64 `json:"peak_rss"`
	// After everything was freed, before the allocator is closed.
	EndRSS        int64              `json:"end_rss"`
	CommittedPeak int64              `json:"committed_peak"` // when the workload holds most
	CommittedEnd  int64              `json:"committed_end"`
	MinorFaults   int64              `json:"minor_faults"` // in the timed passes and their set-up, like the next two
	MajorFaults   int64              `json:"major_faults"`
	GoAllocs      int64              `json:"go_allocs"`
	More          map[string]float64 `json:"more,omitempty"` // the workload's own figures
}

// pass runs a workload once and returns the number of operations and the time that they took,
// without set-up and checks.
type pass func(s *sampler) (ops int, took time.Duration, err error)

// env is what a workload runs in: one allocator, and where its figures go.
type env struct {
	scale  scale
	open   func() (memory, error)
	m      memory // open now
	out    sample
	steps  int     // operations of a pass
	stepNs float64 // time of a step in ns, where it differs from ns/op
	second bool    // the workload measures by its second method
	// checking is true in the first pass, which does not count for time: it reads back everything
	// that was written and looks at committed memory.
	checking bool
}

func newEnv(open func() (memory, error), s scale) (*env, error) {
	m, err := open()
	if err != nil {
		return nil, err
	}
	return &env{scale: s, open: open, m: m, out: sample{CommittedPeak: -1, More: map[string]float64{}}}, nil
}

// reopen closes the memory and opens a fresh one, made for n blocks of size bytes.
func (e *env) reopen(size, n int) error {
	err := e.m.close()
	if err != nil {
		return err
	}
	if e.m, err = e.open(); err != nil {
		return err
	}
	if p, ok := e.m.(preparer); ok {
		return p.prepare(size, n)
	}
	return nil
}

// holdsMost is called by a workload at the point where it holds most memory.
func (e *env) holdsMost() {
	if e.checking {
		e.out.CommittedPeak = max(e.out.CommittedPeak, e.m.committed())
	}
}

// maxPasses bounds the passes of one measurement.
const maxPasses = 1 << 20

// measure runs a first pass with checks, then timed passes for the budget, then passes with
// samples.
func (e *env) measure(budget time.Duration, p pass) (best float64, err error) {
	e.checking = true
	if _, _, err = p(nil); err != nil {
		return 0, err
	}
	e.checking = false
	best, err = e.timed(budget, p)
	if err != nil {
		return 0, err
	}
	return best, e.sampled(budget/4, p)
}

// timed runs the passes for ns/op and returns the best pass's.
func (e *env) timed(budget time.Duration, p pass) (best float64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	minor, major := faults()
	var spent time.Duration
	end := time.Now().Add(3 * budget) // for passes with much untimed work
	for i := 0; i < maxPasses && (i == 0 || spent < budget && time.Now().Before(end)); i++ {
		ops, took, err := p(nil)
		if err != nil {
			return 0, err
		}
		if ns := float64(took.Nanoseconds()) / float64(ops); i == 0 || ns < best {
			best = ns
		}
		spent += took
		e.out.Ops += ops
		e.steps = ops
	}
	minorNow, majorNow := faults()
	runtime.ReadMemStats(&after)
	e.out.NsPerOp = float64(spent.Nanoseconds()) / float64(e.out.Ops)
	e.out.MinorFaults, e.out.MajorFaults = minorNow-minor, majorNow-major
	e.out.GoAllocs = int64(after.Mallocs - before.Mallocs)
	return best, nil
}

// minSamples is the least number of samples for p99.9, as far as three times the budget yields
// them.
const minSamples = 4000

func (e *env) sampled(budget time.Duration, p pass) error {
	step := e.stepNs
	if step == 0 {
		step = e.out.NsPerOp
	}
	s := newSampler(step, clockCost(), e.steps)
	begin := time.Now()
	for i := 0; i < maxPasses; i++ {
		if _, _, err := p(s); err != nil {
			return err
		}
		spent := time.Since(begin)
		if spent > 3*budget || spent > budget && s.h.TotalCount() >= minSamples {
			break
		}
	}
	e.out.P50, e.out.P99, e.out.P999 = s.quantile(0.5), s.quantile(0.99), s.quantile(0.999)
	e.out.SampledBy = s.batch
	return nil
}

// base is the resident memory before the workload's blocks, which figures of growth are measured
// from. Garbage goes back to the system first, so that no block lies on a page that counts already.
func base() int64 {
	runtime.GC() // pools keep their contents for one more collection
	debug.FreeOSMemory()
	return residentBytes()
}

// noteGrown notes how much resident memory is above base, in units of bytes, if that is known.
func (e *env) noteGrown(name string, base int64, unit float64) {
	if now := residentBytes(); base >= 0 && now >= 0 {
		e.out.More[name] = float64(now-base) / unit
	}
}

// noteTime records what a workload took that is not measured in passes.
func (e *env) noteTime(ops int, took time.Duration) {
	e.out.Ops = ops
	e.out.NsPerOp = float64(took.Nanoseconds()) / float64(ops)
}

// finish records the memory in use after everything is freed, and closes the memory. A wrong answer
// goes into the sample; any other error is returned.
func (e *env) finish(err error) (sample, error) {
	e.out.EndRSS, e.out.CommittedEnd = residentBytes(), e.m.committed()
	e.out.PeakRSS = peakRSS()
	if err == nil {
		err = e.m.close()
	}
	if errors.Is(err, errWrong) {
		e.out.Wrong, err = err.Error(), nil
	}
	return e.out, err
}
