package process

import (
	"runtime/metrics"
	"time"
)

// Use is what the process has used since it began. The collector's figures are as of the end of its
// last cycle: call runtime.GC before a Read that others are compared with.
type Use struct {
	CPU    time.Duration // of all threads, in the program and in the system
	GC     time.Duration // of it, the collector's
	Cycles uint64        // of the collector
	pauses *metrics.Float64Histogram
}

// Read returns what has been used until now. It takes some microseconds.
func Read() Use {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(s)
	return Use{CPU: cpu(), GC: seconds(s[0].Value.Float64()), Cycles: s[1].Value.Uint64(),
		pauses: s[2].Value.Float64Histogram()}
}

// Since returns what was used after before was read.
func (u Use) Since(before Use) Use {
	u.CPU -= before.CPU
	u.GC -= before.GC
	u.Cycles -= before.Cycles
	left := &metrics.Float64Histogram{Buckets: u.pauses.Buckets}
	for i, n := range u.pauses.Counts {
		left.Counts = append(left.Counts, n-before.pauses.Counts[i])
	}
	u.pauses = left
	return u
}

// Pause returns the longest pause of the collector, 0 without any. The runtime counts pauses in
// classes whose ends are about a tenth apart: the result is the lower end of the longest one's.
func (u Use) Pause() time.Duration {
	for i := len(u.pauses.Counts) - 1; i >= 0; i-- {
		if u.pauses.Counts[i] > 0 {
			return max(0, seconds(u.pauses.Buckets[i]))
		}
	}
	return 0
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
