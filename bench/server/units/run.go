package units

import (
	"fmt"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. Zero values are the full sizes.
type Options struct{ Units, Frames int }

const unitsFull, framesFull = 1_000_000, 240

// Usual and Quick are options for a short run and a very short one.
var (
	Usual = Options{Units: 200_000, Frames: 240}
	Quick = Options{Units: MinUnits, Frames: 60}
)

// Run plays the same frames in plain Go and on Quarry, by commands and direct, alone and beside a
// reader of states. An op is a unit in a frame. Time is that of the frames alone; Quarry's is by
// commands. Figures: frame_p50_ns and frame_p99_ns, reader_p50_ns and reader_p99_ns of the frames
// beside a reader, state_ns of taking a state, build_ns of the first units; Quarry's direct_p50_ns,
// direct_p99_ns, direct_reader_p50_ns and direct_reader_p99_ns are those of the other way.
func Run(o Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	if o.Units == 0 {
		o.Units = unitsFull
	}
	if o.Frames == 0 {
		o.Frames = framesFull
	}
	if o.Units < MinUnits || o.Frames < StateEach {
		return plain, ours, fmt.Errorf("server: %d units, %d frames; expected %d and %d at least",
			o.Units, o.Frames, MinUnits, StateEach)
	}
	var found [3][2]Sample // by side and mode
	sides, modes := []string{PlainSide, CommandsSide, DirectSide}, []Mode{Alone, Observed}
	for m, mode := range modes {
		for s, side := range sides {
			found[s][m], err = Spec{Side: side, Mode: mode, Units: o.Units, Frames: o.Frames}.Measure()
			if err != nil {
				return plain, ours, err
			}
			if progress != nil {
				progress(m*len(sides)+s+1, len(modes)*len(sides))
			}
		}
	}
	for s, side := range []*workload.Side{&plain, &ours} {
		alone := found[s][0]
		side.OK, side.Ops = true, o.Units*o.Frames
		side.Time = time.Duration(alone.Mean) * time.Duration(o.Frames)
		side.Heap, side.Committed = alone.Heap, alone.OffHeap
		side.Figures = map[string]float64{
			"state_ns": float64(found[s][1].State), "build_ns": float64(alone.Build),
		}
		side.Detail = fmt.Sprintf("%d units at the end, %d died", alone.Full.Units, alone.Deaths)
		add(side, "", "", found[s])
	}
	add(&ours, "direct_", "by direct calls: ", found[2])
	for s, side := range sides {
		for m, mode := range modes {
			if got, want := found[s][m].Outcome(), found[0][m].Outcome(); got != want {
				ours.Fail(fmt.Sprintf("%s, %s: %+v, want %+v", side, mode, got, want))
			}
		}
	}
	return plain, ours, nil
}

// add notes the frames of a way, alone and beside a reader.
func add(s *workload.Side, prefix, way string, found [2]Sample) {
	alone, read := found[0], found[1]
	for name, ns := range map[string]int64{
		"frame_p50_ns": alone.P50, "frame_p99_ns": alone.P99, "reader_p50_ns": read.P50, "reader_p99_ns": read.P99,
	} {
		s.Figures[prefix+name] = float64(ns)
	}
	s.Lines = append(s.Lines, fmt.Sprintf(
		"%sframes p50 %v, p99 %v; beside a reader %v, %v; a state %v, the first units %v",
		way, time.Duration(alone.P50), time.Duration(alone.P99), time.Duration(read.P50), time.Duration(read.P99),
		time.Duration(read.State), time.Duration(alone.Build)))
}

// outcome is what all sides must have in common.
type outcome struct {
	Last, Full, States sum
	Deaths             int
}

// Outcome returns what the frames did; it is the same for all sides.
func (s Sample) Outcome() outcome { return outcome{s.Last, s.Full, s.States, s.Deaths} }
