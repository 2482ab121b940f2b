package main

import (
	"errors"
	"runtime"
	"slices"
	"time"
)

// Measuring. A round gives every entrant of a workload its turn: a garbage collection, a first pass
// that is not counted, then samples until the budget is used up. A sample is one pass, or so many
// short ones that reading the clock does not matter. The figure of a round is its total time over
// its total number of entities; the printed figure is the median of the rounds. The memory that a
// trial holds is measured once, after its first pass.

// budget is the time for the samples of one entrant in one round: timed is their own time, wall
// includes the untimed work between them.
type budget struct {
	timed, wall time.Duration
}

var (
	wholeBudget = budget{20 * time.Millisecond, 100 * time.Millisecond}
	quickBudget = budget{2 * time.Millisecond, 10 * time.Millisecond}
)

const (
	sampleTime = 20 * time.Microsecond // least time of a sample: the clock takes 0.05
	cheapBuild = 60 * time.Millisecond // a trial that takes longer is built once, not in every round
	longPass   = time.Second / 2       // a first pass this long counts, or a round would never end
)

// contender is an entrant on a workload with n entities, and its figures so far.
type contender struct {
	way *way
	n   int

	t      trial
	keep   bool // t is used in all rounds
	per    int  // entities that a pass handles
	passes int  // of t
	times  int  // passes in a sample; 0: not known yet

	rounds  []float64 // ns per entity, or another figure of the workload, by round
	samples []float64 // ns per entity of each sample of all rounds
	tails   []float64 // workloads of single steps: p99.99 in ns, by round
	means   []float64 // the same: ns per step
	ns      []uint32  // the same: of the current round, made before the collector runs
	garbage []collection
	allocs  float64 // on the Go heap, in the pass that has the fewest
	bytes   float64 // in that pass
	wrong   string  // the first wrong result, in words
	out     string  // why it was left out, in words

	before  int64 // live bytes on the Go heap before t was built
	held    int64 // bytes that t holds, on the Go heap and off it
	off     int64 // the part of held that is off the Go heap
	weighed bool
	room    int64 // what a kept trial may hold

	building  time.Duration // of t
	isCounted bool          // allocs and bytes are known
}

// idle reports whether there is nothing more to measure.
func (c *contender) idle() bool { return c.wrong != "" || c.out != "" }

// round builds the trial if need be, then measures and checks it.
func (c *contender) round(b budget) error {
	if c.idle() {
		return nil
	}
	err := c.begin()
	if _, each := c.t.(stepwise); each && err == nil {
		err = backing(c.n)
	}
	if err == nil {
		runtime.GC()
		err = c.measure(b)
	}
	if err == nil {
		err = c.t.check(c.passes)
	}
	if err == nil && !c.keep {
		err = c.end()
	}
	if errors.Is(err, errWrong) {
		c.wrong, err = err.Error(), nil
	}
	return err
}

// begin builds the trial if there is none.
func (c *contender) begin() error {
	if c.t != nil {
		return nil
	}
	if !c.weighed {
		c.before = liveBytes()
	}
	start := time.Now()
	t, err := c.way.build(c.n)
	if err != nil {
		return err
	}
	c.t, c.passes, c.per = t, 0, c.n
	if t, ok := t.(partial); ok {
		c.per = t.handled()
	}
	_, each := t.(stepwise)
	if each && c.ns == nil {
		c.ns = make([]uint32, c.n)
		c.before += int64(4 * c.n) // the list is not part of what t holds
	}
	c.building = time.Since(start)
	c.keep = c.building > cheapBuild && !each
	return nil
}

// end closes the trial.
func (c *contender) end() error {
	if c.t == nil {
		return nil
	}
	t := c.t
	c.t = nil
	return t.close()
}

func (c *contender) measure(b budget) error {
	switch t := c.t.(type) {
	case repeated:
		c.measureRepeated(t, b)
		return nil
	case restored:
		return c.measureRestored(t, b)
	case stepwise:
		c.measureSteps(t)
		return nil
	case holding:
		c.passes++
		c.weigh()
		return nil
	}
	return errors.New("a trial of no known kind")
}

func (c *contender) measureRepeated(t repeated, b budget) {
	run := func(times int) time.Duration {
		start := time.Now()
		t.pass(times)
		took := time.Since(start)
		c.passes += times
		return took
	}
	if c.times == 0 {
		c.times = 1
		run(1) // work that happens only once
		c.weigh()
		for range 3 {
			c.counted(func() { run(1) })
		}
		for run(c.times) < sampleTime {
			c.times *= 2
		}
	}
	run(c.times)
	total, entities := time.Duration(0), 0
	for total < b.timed {
		took := run(c.times)
		total += took
		entities += c.times * c.per
		c.samples = append(c.samples, perEntity(took, c.times*c.per))
	}
	c.rounds = append(c.rounds, perEntity(total, entities))
}

func (c *contender) measureRestored(t restored, b budget) error {
	run := func() (time.Duration, error) {
		if c.passes > 0 {
			if err := t.restore(); err != nil {
				return 0, err
			}
		}
		c.passes++
		return c.counted(t.once), nil
	}
	took, err := run()
	if err != nil {
		return err
	}
	c.times = 1
	c.weigh()
	total, entities := time.Duration(0), 0
	sample := func() {
		total += took
		entities += c.n
		c.samples = append(c.samples, perEntity(took, c.n))
	}
	if took >= longPass {
		sample()
	}
	for end := time.Now().Add(b.wall); total < b.timed && (entities == 0 || time.Now().Before(end)); {
		if took, err = run(); err != nil {
			return err
		}
		sample()
	}
	c.rounds = append(c.rounds, perEntity(total, entities))
	return nil
}

// measureSteps takes the slowest step as the round's figure.
func (c *contender) measureSteps(t stepwise) {
	ns := c.ns
	c.counted(func() { t.steps(ns) })
	c.passes++
	sum := 0.0
	for _, v := range ns {
		sum += float64(v)
	}
	slices.Sort(ns)
	c.means = append(c.means, sum/float64(c.n))
	c.rounds = append(c.rounds, float64(ns[len(ns)-1]))
	c.tails = append(c.tails, float64(ns[rank(len(ns), 0.9999)]))
	c.samples = append(c.samples, float64(ns[rank(len(ns), 0.99)]))
	c.weigh()
}

// counted times f and keeps the fewest allocations on the Go heap that any call of f made, because
// the runtime allocates now and then too. Reading the statistics stops the world, as the timer of
// testing.B does: a process that has just waited is rarely made to wait in the timed part. Without
// it, on a machine with ten other busy processes, passes timed alone took 1.9 to 3.1 times as long
// as with testing.B; with it, 0.8 to 1.1 times.
func (c *contender) counted(f func()) time.Duration {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	allocs, bytes := float64(after.Mallocs-before.Mallocs), float64(after.TotalAlloc-before.TotalAlloc)
	if !c.isCounted || allocs < c.allocs {
		c.isCounted, c.allocs, c.bytes = true, allocs, bytes
	}
	return took
}

// nanos is the time since start, capped at what a uint32 holds.
func nanos(start time.Time) uint32 { return uint32(min(time.Since(start).Nanoseconds(), 1<<32-1)) }

func perEntity(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / float64(n) }

// rank is the index of a quantile in a sorted list of n.
func rank(n int, q float64) int { return min(int(float64(n)*q), n-1) }

// median returns the middle of a list, or the lower of the two in the middle; 0 for an empty list.
func median(list []float64) float64 { return quantile(list, 0.5) }

func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	if q == 0.5 {
		return sorted[(len(sorted)-1)/2]
	}
	return sorted[rank(len(sorted), q)]
}
