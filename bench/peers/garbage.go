package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"quarry/alloc"
	"quarry/bench/process"
)

// garbageWorkloads measure the collector with many entities in memory.
var garbageWorkloads = []workload{
	{name: "gc", what: "1 KiB of garbage made for each entity, 4 GB at most, beside n of them",
		sizes: []int{4 * million}, garbage: true},
}

var garbageWays = []way{
	{"gc", goSlices, buildSlicesHold},
	{"gc", goBoxes, buildBoxesHold},
	{"gc", quarryBatch, buildQuarryMemoryN},
	{"gc", quarryBudget, withinBudget(buildQuarryMemoryN)},
	{"gc", arkBatch, buildArkMemoryBatch},
	{"gc", arkBudget, withinBudget(buildArkMemoryBatch)},
	{"gc", archeBatch, buildArcheMemory(true)},
	{"gc", volt, buildVoltMemory},
	{"gc", donburi, buildDonburiMemory},
	{"gc", uot, buildUotMemory},
}

const (
	garbageBlock  = 4 << 10     // bytes
	garbageBlocks = million     // at most
	garbageKept   = 64          // blocks that are live at a time
	fullRounds    = 8           // most full collections that are timed
	fullTime      = time.Second // for all of them; the last may go beyond
)

// collection is the collector's cost in one process. Times are in ns.
type collection struct {
	Build   int64 `json:"build"`
	Full    int64 `json:"full"`  // a collection while nothing else runs: the median
	Least   int64 `json:"least"` // the same: the least
	Cycles  int64 `json:"cycles"`
	CPU     int64 `json:"cpu"`  // of the collector, while garbage is made
	Wall    int64 `json:"wall"` // of making garbage
	Resides int64 `json:"resides"`
}

// collect builds the trial, runs some full collections, and makes garbage.
func collect(w *way, n int) (t trial, g *collection, err error) {
	g = &collection{}
	debug.FreeOSMemory()
	resident := process.Resident()
	start := time.Now()
	if t, err = w.build(n); err != nil {
		return nil, nil, err
	}
	g.Build = time.Since(start).Nanoseconds()
	g.Full, g.Least = fullCollections()
	cycles, cpu := collector()
	start = time.Now()
	err = litter(max(1, min(garbageBlocks, n*1024/garbageBlock)))
	g.Wall = time.Since(start).Nanoseconds()
	after, cpuAfter := collector()
	g.Cycles, g.CPU = after-cycles, cpuAfter-cpu
	g.Resides = process.Peak() - resident
	return t, g, err
}

// fullCollections returns the median and the least time of full collections while nothing else
// runs.
func fullCollections() (mid, least int64) {
	var list []float64
	for start := time.Now(); len(list) < fullRounds && time.Since(start) < fullTime; {
		began := time.Now()
		runtime.GC()
		list = append(list, float64(time.Since(began).Nanoseconds()))
	}
	return int64(median(list)), int64(quantile(list, 0))
}

// collector returns how many cycles the collector has done, and its processor time in ns up to the
// last of them.
func collector() (cycles, cpu int64) {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), int64(s[1].Value.Float64() * 1e9)
}

// litter makes blocks of garbage, each live until garbageKept more are made.
func litter(blocks int) error {
	var kept [garbageKept][]byte
	sum := 0
	for i := range blocks {
		k := i % garbageKept
		if kept[k] != nil {
			sum += int(kept[k][0])
		}
		kept[k] = make([]byte, garbageBlock)
		kept[k][0] = 1
	}
	return wantCount("blocks that were garbage", sum, max(0, blocks-garbageKept))
}

// budgetOf is the memory budget of a process with n entities of 32 bytes: 576 MB for 4 M, a sixth
// more than ark's process takes without a budget.
func budgetOf(n int) int64 { return max(512*million, 144*int64(n)) }

// budgeted is a trial whose process has a memory budget.
type budgeted struct {
	holding
	off    int64    // bytes that are not on the Go heap
	before alloc.GC // the setting before the trial
}

// withinBudget builds the trial, and gives the collector the rest of the budget.
func withinBudget(build func(int) (trial, error)) func(int) (trial, error) {
	return func(n int) (trial, error) {
		t, err := build(n)
		if err != nil {
			return nil, err
		}
		s := &budgeted{holding: t.(holding)}
		if t, ok := t.(offHeap); ok {
			s.off = t.committed()
		}
		gc, err := alloc.GCFor(budgetOf(n), s.off)
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		s.before = gc.Apply()
		return s, nil
	}
}

func (s *budgeted) committed() int64 { return s.off }

func (s *budgeted) close() error {
	s.before.Apply()
	return s.holding.close()
}

// The printed figures of collections, each the median of the rounds.
func cpuTime(g *collection) float64  { return float64(g.CPU) / 1e6 }
func peak(g *collection) float64     { return float64(g.Resides) }
func cycles(g *collection) float64   { return float64(g.Cycles) }
func litterMS(g *collection) float64 { return float64(g.Wall) / 1e6 }
func buildMS(g *collection) float64  { return float64(g.Build) / 1e6 }
func fullMS(g *collection) float64   { return float64(g.Full) / 1e6 }
func leastMS(g *collection) float64  { return float64(g.Least) / 1e6 }

func (c *contender) collected(figure func(*collection) float64) float64 {
	var list []float64
	for i := range c.garbage {
		list = append(list, figure(&c.garbage[i]))
	}
	return median(list)
}

// CollectorEntry has the keys that -json adds for the collector. It is exported because package
// encoding/json cannot decode into an embedded pointer to an unexported struct.
type CollectorEntry struct {
	Build     float64 `json:"build_ms"`
	Full      float64 `json:"full_gc_ms"`
	FullLeast float64 `json:"full_gc_least_ms"`
	Cycles    float64 `json:"gc_cycles"`
	CPU       float64 `json:"gc_cpu_ms"`
	Garbage   float64 `json:"garbage_ms"`
}

func (c *contender) collectorEntry() *CollectorEntry {
	return &CollectorEntry{
		Build: c.collected(buildMS), Full: c.collected(fullMS), FullLeast: c.collected(leastMS),
		Cycles: c.collected(cycles), CPU: c.collected(cpuTime), Garbage: c.collected(litterMS),
	}
}

const collectorHeading = "GC cpu ms\tleast\tmost\tcycles\tgarbage ms\tfull GC ms\tbest\tbuild ms\tpeak MB\tB/entity"

func (c *contender) collectorLine() string {
	return fmt.Sprintf("%s\t%s\t%s\t%.0f\t%.0f\t%.3f\t%.3f\t%.0f\t%.1f", figure(median(c.rounds)),
		figure(quantile(c.rounds, 0)), figure(quantile(c.rounds, 1)), c.collected(cycles), c.collected(litterMS),
		c.collected(fullMS), c.collected(leastMS), c.collected(buildMS), c.collected(peak)/1e6)
}
