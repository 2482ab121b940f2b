package main

import (
	"runtime"
	"runtime/debug"

	"quarry/bench/trace"
)

// footprint replays a trace once, writes every byte of every block, and records how much the
// process has grown at the peak of live bytes:
//
//	utilisation = bytes live at the peak / growth of resident memory by then
//
// It must be the first work of its process. Garbage from reading the trace is returned to the
// system first, so that no block of the Go heap lies on pages that already count as resident. Go
// memory that the allocator keeps counts as growth; the replay's table does not, because it is
// written before.
func footprint(e *env, t *trace.Trace) error {
	r := newReplay(t, e.m)
	for i := range r.blocks {
		r.blocks[i] = live{align: 1} // written, so resident
	}
	clear(r.blocks)
	runtime.GC() // pools keep their contents for one more collection
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
