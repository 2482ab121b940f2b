package main

import (
	"runtime"
	"runtime/debug"

	"quarry/bench/trace"
)

// footprint replays a trace once with every byte of every block written, and
// notes what the process has grown by where most is live:
//
//	utilisation = bytes live at the peak / growth of resident memory by then
//
// It must be the first work of its process. Garbage of reading the trace is
// returned to the system before, so that no block of the Go heap comes to lie
// on pages that count as resident already. What the allocator keeps in Go
// memory counts as growth; the table of the replay does not, for it is written
// before.
func footprint(e *env, t *trace.Trace) error {
	r := newReplay(t, e.m)
	for i := range r.blocks {
		r.blocks[i] = live{align: 1} // written, so resident
	}
	clear(r.blocks)
	runtime.GC() // pools keep what they hold for one collection more
	debug.FreeOSMemory()
	base := residentBytes()
	var grown int64
	err := r.run(nil, true, func() {
		grown = residentBytes() - base
		e.out.CommittedPeak = e.m.committed()
	})
	if err != nil {
		return err
	}
	if base >= 0 && grown > 0 {
		e.out.More["utilisation"] = float64(r.peak) / float64(grown)
		e.out.More["grown"] = float64(grown)
	}
	e.out.More["peak_live_bytes"] = float64(r.peak)
	return r.drain()
}
