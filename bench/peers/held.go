package main

import (
	"fmt"
	"runtime"
)

// offHeap is a trial that holds memory off the Go heap, as all of ours do.
type offHeap interface {
	committed() int64 // bytes
}

// liveBytes is the number of bytes on the Go heap after a collection.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// weigh records what the trial holds, once.
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
	// heldShare: all trials together may hold 1/heldShare of the free memory between their
	// turns: held memory slows every collection.
	heldShare = 4
	// peakFactor is the ratio of a Go heap's peak while it grows to what it holds in the end: a
	// column that doubles is there twice, and there is garbage.
	peakFactor = 3
	// probeSize is the number of entities built to estimate the memory of many more.
	probeSize = 1 << 16
	// freeUnknown stands for the free memory if the system does not report it.
	freeUnknown = 4 << 30
)

// leaveOut leaves out the entrants that would need more memory than is free, estimated from a few
// entities. It is an error if no entrant of the workload fits, but not in workloads over all sizes,
// which report each entrant that is too large.
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

// perEntity estimates the bytes per entity at the peak.
func (c *contender) perEntity() (float64, error) {
	probe := &contender{way: c.way, n: probeSize}
	if workloadNamed(c.way.workload).child {
		err := probe.roundInChild(budget{1, 1})
		return max(1, median(probe.rounds)/probeSize), err
	}
	err := probe.round(budget{1, 1})
	return max(1, float64(peakFactor*(probe.held-probe.off)+probe.off)/probeSize), err
}
