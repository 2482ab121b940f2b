package city

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. Zero values are the full sizes.
type Options struct {
	Columns, Rows int // blocks of a tile, which have 20 buildings each; 3 at least
	Frames        int // of the flight
	Rate          int // frames a second
}

const (
	columnsFull, rowsFull = 40, 25
	framesFull, rateFull  = 900, 60
)

// Usual and Quick are options for a short run and a very short one. Usual loads as many bytes in a
// second as the full sizes do.
var (
	Usual = Options{Columns: 20, Rows: 25, Frames: 450}
	Quick = Options{Columns: 5, Rows: 4, Frames: 180, Rate: 240}
)

// wantLongest is the bound on the time for loading in a frame, and goalLongest the goal.
const (
	wantLongest = 2 * time.Millisecond
	goalLongest = time.Millisecond
)

// Run bakes a city and flies over it on both sides. Figures of a side: load_max_ns, load_p99_ns and
// load_mean_ns (load, unload and update in a frame), over (frames above 2 ms) and over_preempted
// (those in which the system ran another thread), spin_max_ns, spin_p99_ns and spin_over of the
// control, frame_p99_ns (of the game's own work), sections and wait_p50, wait_max (frames until a
// requested section is there), section_bytes of a file, gc_cycles, gc_pause_ns and allocated
// (bytes) during the flight. On Linux, 0 elsewhere: cpu_max_ns, cpu_p99_ns, cpu_mean_ns and
// cpu_over of the processor time of loading, spin_cpu_max_ns of that of the control, faults, waits
// and preempted (of loading, in all frames). An op is a frame.
func Run(o Options, progress workload.Progress) (plainSide, ours workload.Side, err error) {
	for option, full := range map[*int]int{
		&o.Columns: columnsFull, &o.Rows: rowsFull, &o.Frames: framesFull, &o.Rate: rateFull,
	} {
		if *option == 0 {
			*option = full
		}
	}
	if o.Columns < 3 || o.Rows < 3 || o.Frames < 1 || o.Rate < 1 {
		return plainSide, ours, fmt.Errorf("city: %d x %d blocks, %d frames at %d Hz; expected 3 x 3 and 1 at least",
			o.Columns, o.Rows, o.Frames, o.Rate)
	}
	folder, err := os.MkdirTemp("", "city")
	if err != nil {
		return plainSide, ours, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	p := plan{o.Columns, o.Rows}
	bytes, err := bakeAll(p, folder)
	if err != nil {
		return plainSide, ours, err
	}
	bytesPlain, err := writePlain(p, folder)
	if err != nil {
		return plainSide, ours, err
	}
	done := 0
	tick := func() {
		if done++; progress != nil {
			progress(done, 2*o.Frames)
		}
	}
	want := p.answer(camera(o.Frames-1, o.Frames).near())
	if err := o.run(&plainSide, newPlain(folder), want, bytesPlain, tick); err != nil {
		return plainSide, ours, err
	}
	w, err := newWorld(folder)
	if err != nil {
		return plainSide, ours, err
	}
	if err := o.run(&ours, w, want, bytes, tick); err != nil {
		return plainSide, ours, err
	}
	got, err := allButNear(folder, camera(o.Frames-1, o.Frames).near())
	if err == nil && got != want {
		ours.Fail(fmt.Sprintf("all tiles loaded and all but nine unloaded: %v, want %v", got, want))
	}
	return plainSide, ours, err
}

// run flies over a city and notes what it took.
func (o Options) run(s *workload.Side, c city, want answer, bytes int64, tick func()) (err error) {
	defer func() { err = errors.Join(err, c.close()) }()
	before := workload.LiveHeap()
	f := &flight{city: c, frames: o.Frames, rate: o.Rate}
	if err := f.fly(tick); err != nil {
		return err
	}
	s.Heap = workload.LiveHeap() - before
	if w, ok := c.(*world); ok {
		s.Committed = int64(w.w.Universe().Stats().Committed)
	}
	got, err := c.answer()
	if err != nil {
		return err
	}
	s.OK, s.Ops, s.Detail = true, len(f.loading), got.String()
	if got != want {
		s.Fail(fmt.Sprintf("%v, want %v", got, want))
	}
	f.note(s, bytes)
	return nil
}

// note notes figures and words of a flight.
func (f *flight) note(s *workload.Side, bytes int64) {
	all, at := f.loading.total(), f.loading.longest()
	frames := time.Duration(len(f.loading))
	s.Time = all.took
	clock, processor := f.loading.times()
	spun, spunProcessor := f.control.times()
	over, preempted := f.loading.over(wantLongest)
	spunOver, _ := f.control.over(wantLongest)
	longest, p99, work := clock[at], percentile(clock, 99), percentile(f.working, 99)
	used, usedMost := percentile(processor, 99), percentile(processor, 100)
	wait, waitMost := percentile(f.waits, 50), percentile(f.waits, 100)
	s.Figures = map[string]float64{
		"load_max_ns": float64(longest), "load_p99_ns": float64(p99), "load_mean_ns": float64(all.took / frames),
		"over": float64(over), "over_preempted": float64(preempted),
		"cpu_over":   float64(f.loading.overProcessor(wantLongest)),
		"cpu_p99_ns": float64(used), "cpu_max_ns": float64(usedMost), "cpu_mean_ns": float64(all.processor / frames),
		"faults": float64(all.faults), "waits": float64(all.waits), "preempted": float64(all.preempted),
		"spin_max_ns": float64(percentile(spun, 100)), "spin_p99_ns": float64(percentile(spun, 99)),
		"spin_over":       float64(spunOver),
		"spin_cpu_max_ns": float64(percentile(spunProcessor, 100)),
		"frame_p99_ns":    float64(work), "sections": float64(f.asked), "wait_p50": float64(wait),
		"wait_max":      float64(waitMost),
		"section_bytes": float64(bytes), "gc_cycles": float64(f.cycles), "gc_pause_ns": float64(f.pauses),
		"allocated": float64(f.alloced),
	}
	s.Lines = []string{
		fmt.Sprintf("%d sections of %.2f MB in %d frames at %d Hz, %.1f MB/s: loading takes a frame %v at most by the clock (frame %d), p99 %v, mean %v, %d frames above %v; of processor time %v at most, p99 %v, mean %v, %d frames above; wanted %s, goal %s",
			f.asked, float64(bytes)/1e6, f.frames, f.rate, float64(f.asked)*float64(bytes)/1e6/f.duration.Seconds(),
			longest, at, p99, all.took/frames, over, wantLongest, usedMost, used, all.processor/frames,
			f.loading.overProcessor(wantLongest),
			wanted(longest, wantLongest), wanted(longest, goalLongest)),
		fmt.Sprintf("a loop that reads the clock for %v in each frame, in the same thread, takes %v at most, p99 %v, %d frames above %v, of processor time %v at most; in %d of the %d frames of loading above that another thread ran; in all frames of loading %d page faults, %d waits, and %d times another thread ran",
			budget, percentile(spun, 100), percentile(spun, 99), spunOver, wantLongest, percentile(spunProcessor, 100),
			preempted, over, all.faults, all.waits, all.preempted),
		fmt.Sprintf("a section is there %d frames after it was asked for, %d at most; the game's work p99 %v; %d collections, which stopped all for %v, and %.1f MB of Go allocations",
			wait, waitMost, work, f.cycles, f.pauses, float64(f.alloced)/1e6),
	}
}

// wanted returns the bound that is wanted, and whether it holds.
func wanted(got, most time.Duration) string {
	if got > most {
		return fmt.Sprintf("%v **missed**", most)
	}
	return fmt.Sprintf("%v holds", most)
}

// allButNear loads all tiles into a world, unloads all but some, and returns what is left.
func allButNear(folder string, near []tile) (a answer, err error) {
	c, err := newWorld(folder)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for _, t := range tiles() {
		c.load(t)
	}
	wait := func() {
		for c.update(0) {
			time.Sleep(100 * time.Microsecond)
		}
	}
	wait()
	for _, t := range tiles() {
		if is, err := c.there(t); err != nil || !is {
			return a, fmt.Errorf("city: %s is not there: %w", t.name(), err)
		}
		if !slices.Contains(near, t) {
			c.unload(t)
		}
	}
	wait()
	return c.answer()
}

// percentile returns the least of the values that so many percent do not exceed; 0 of none.
func percentile[T int | time.Duration](list []T, percent int) T {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[max(0, (len(list)*percent+99)/100-1)]
}
