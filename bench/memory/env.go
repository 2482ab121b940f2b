package main

import (
	"errors"
	"runtime"
	"time"
)

// scale is how much work a run does.
type scale struct {
	time   time.Duration // of timed passes of a workload
	trace  time.Duration // of timed passes of a trace with rows in REFERENCE.csv, by an allocator of ours
	pairs  int           // pairs a pass of a hot pair
	batch  int           // chunks of chunk-batch
	first  int           // chunks of chunk-first and chunk-churn
	small  int           // blocks of heap-batch
	full   int           // megachunks of chunk-search; the universe may have fewer
	slots  int           // live blocks a goroutine in larson
	rounds int           // replacements a slot and goroutine in larson
	loops  int           // of rptest
	loads  int           // batches a producer in xmalloc
	load   int           // blocks of such a batch
}

var (
	whole = scale{250 * time.Millisecond, time.Second, 4096, 10_000, 100_000, 1000, 16_384, 5000, 10, 1000, 40, 4096}
	quick = scale{20 * time.Millisecond, 20 * time.Millisecond, 1024, 1000, 4000, 1000, 16_384, 1000, 2, 200, 4, 4096}
)

// sample is what one child found for one workload and allocator.
type sample struct {
	Wrong         string             `json:"wrong,omitempty"` // in words; empty: every check held
	NsPerOp       float64            `json:"ns_per_op"`
	P50           float64            `json:"p50_ns"` // of single steps; see sampler.go
	P99           float64            `json:"p99_ns"`
	P999          float64            `json:"p999_ns"`
	SampledBy     int                `json:"sampled_by"`     // steps a sample is the mean of
	Ops           int                `json:"ops"`            // operations of the timed passes
	PeakRSS       int64              `json:"peak_rss"`       // bytes, of the whole child; -1: not known, as below
	EndRSS        int64              `json:"end_rss"`        // after all was freed, before the allocator is closed
	CommittedPeak int64              `json:"committed_peak"` // when the workload holds most
	CommittedEnd  int64              `json:"committed_end"`
	MinorFaults   int64              `json:"minor_faults"` // in the timed passes and what is set up for them, as is what follows
	MajorFaults   int64              `json:"major_faults"`
	GoAllocs      int64              `json:"go_allocs"`
	More          map[string]float64 `json:"more,omitempty"` // the workload's own figures
}

// pass runs a workload once and returns how many operations it did and how long
// they took; what is set up or checked beside them is not in that time.
type pass func(s *sampler) (ops int, took time.Duration, err error)

// env is what a workload runs in: one allocator, and where its figures go.
type env struct {
	scale  scale
	open   func() (memory, error)
	m      memory // open now
	out    sample
	steps  int     // operations of a pass
	stepNs float64 // what a step takes where it is not ns/op, in ns
	// checking is true in the first pass, whose time does not count: there all
	// that was written is read again, and committed memory is looked at.
	checking bool
}

func newEnv(open func() (memory, error), s scale) (*env, error) {
	m, err := open()
	if err != nil {
		return nil, err
	}
	return &env{scale: s, open: open, m: m, out: sample{CommittedPeak: -1, More: map[string]float64{}}}, nil
}

// reopen closes the memory and makes a fresh one, which is told that it will
// hold n blocks of size bytes.
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

// holdsMost is called by a workload when it holds most memory.
func (e *env) holdsMost() {
	if e.checking {
		e.out.CommittedPeak = max(e.out.CommittedPeak, e.m.committed())
	}
}

// maxPasses bounds the passes of one measurement.
const maxPasses = 1 << 20

// measure runs a first pass with checks, then passes for the time of the scale,
// then passes with samples.
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

// timed runs the passes that ns/op comes from and returns that of the best one.
func (e *env) timed(budget time.Duration, p pass) (best float64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	minor, major := faults()
	var spent time.Duration
	end := time.Now().Add(3 * budget) // passes with much work beside
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

// minSamples is the least number of samples that p99.9 is taken from, as far as
// three times the budget yields them.
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

// finish notes what is left when all is freed, and closes the memory. A wrong
// answer goes into the sample, any other error is returned.
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
