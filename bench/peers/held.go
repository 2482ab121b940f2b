package main

import (
	"fmt"
	"runtime"
)

// offHeap is a trial that holds memory which the Go heap does not count. Ours
// all are.
type offHeap interface {
	committed() int64 // bytes
}

// liveBytes is what the Go heap holds after a collection.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// weigh notes what the trial holds, once.
func (c *contender) weigh() {
	if c.weighed {
		return
	}
	c.weighed = true
	c.held = max(0, liveBytes()-c.before)
	if t, ok := c.t.(offHeap); ok {
		c.off = t.committed()
		c.held += c.off
	}
	c.keep = c.keep && c.held <= c.room
}

const (
	// heldShare is the part of the memory that is free which all trials may hold
	// together between their turns: what they hold slows every collection.
	heldShare = 4
	// peakFactor is how much more than it holds in the end a Go heap takes while
	// it grows: a column that doubles is there twice, and garbage lies about.
	peakFactor = 3
	// probeSize is how many entities are built to judge what many more take.
	probeSize = 1 << 16
	// freeUnknown stands for the memory that is free where the system does not tell.
	freeUnknown = 4 << 30
)

// leaveOut finds the entrants that would need more memory than there is, from
// what few entities take. An error says that no entrant of the workload fits; one
// that runs over all sizes has words for those that are too large.
func (r *result) leaveOut(free int64) error {
	if r.n <= million || free == 0 {
		return nil
	}
	in, most := 0, 0
	for _, c := range r.list {
		each, err := c.perEntity()
		if err != nil {
			return err
		}
		need := int64(each * float64(r.n))
		if fits := int(float64(free) / each); need > free {
			most = max(most, fits)
			c.out = fmt.Sprintf("needs about %.1f GB and %.1f GB are free; try -n %d", gb(need), gb(free), fits)
			continue
		}
		in++
	}
	if in == 0 && !r.w.alone {
		return fmt.Errorf("no entrant fits into the %.1f GB that are free: try -n %d, or free memory", gb(free), most)
	}
	return nil
}

func gb(n int64) float64 { return float64(n) / 1e9 }

// perEntity is about how many bytes an entity takes at the peak.
func (c *contender) perEntity() (float64, error) {
	probe := &contender{way: c.way, n: probeSize}
	if workloadNamed(c.way.workload).child {
		err := probe.roundInChild(budget{1, 1})
		return max(1, median(probe.rounds)/probeSize), err
	}
	err := probe.round(budget{1, 1})
	return max(1, float64(peakFactor*(probe.held-probe.off)+probe.off)/probeSize), err
}
