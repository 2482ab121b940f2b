package main

import "strings"

// The names of the figure: of an allocator as it is, and set up for a small footprint.
const (
	utilisation     = "utilisation"
	leanUtilisation = "utilisation_lean"
)

// footprint replays a trace once, writes every byte of every block, and records how much the
// process has grown at the peak of live bytes:
//
//	utilisation = bytes live at the peak / growth of resident memory by then
//
// and notes that by name. It must be the first work of its process. Garbage from reading the trace
// is returned to the system first, so that no block of the Go heap lies on pages that already count
// as resident. Go memory that the allocator keeps counts as growth; the replay's table does not,
// because it is written before.
func footprint(e *env, r *replay, name string) error {
	for i := range r.blocks {
		r.blocks[i] = live{align: 1} // written, so resident
	}
	clear(r.blocks)
	base := base()
	var grown int64
	err := r.run(nil, true, func() {
		grown = residentBytes() - base
		e.out.CommittedPeak = e.m.committed()
	})
	if err != nil {
		return err
	}
	if base >= 0 && grown > 0 {
		e.out.More[name] = float64(r.peak) / float64(grown)
		e.out.More[strings.Replace(name, utilisation, "grown", 1)] = float64(grown)
	}
	e.out.More["peak_live_bytes"] = float64(r.peak)
	return r.drain()
}
