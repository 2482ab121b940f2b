package trace

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"quarry/alloc"
	"quarry/bench/workload"
)

// maxLive and maxAlign bound what Run replays, in bytes: a Go program cannot survive a failed
// allocation on the plain side, so a larger trace must not be tried.
const (
	maxLive  = 4 << 30
	maxAlign = 1 << 20
)

// Options is what Run replays.
type Options struct {
	File string // a trace in one of the three forms; "" is the built-in one
}

// subject is the trace of a run with its answer.
type subject struct {
	t      *Trace
	stats  Stats
	want   Answer
	source string   // where want comes from, in words
	wrong  []string // what the books themselves disagree on
}

// Run replays one trace on the Go heap (plain) and then through a Local of a heap on a universe
// (ours), twice by the clock and once more to check every byte. The known answer is built in for
// the built-in trace. For a file it is the row of ../STATS.csv or, if there is none, books kept the
// slow way from the text. Refused memory is an error, not a wrong answer. progress may be nil; it
// is called about every 65,536 operations with the operations of both sides so far. The error is
// about the trace (missing, ErrFormat, ErrLimit) or refused memory; any other fault of a side is
// noted in the side.
//
// Figures: peak_live_bytes, peak_live_blocks, end_live_bytes, end_live_blocks, ns_per_op,
// warm_ns_per_op (a second replay on memory used before); plain has peak_heap_bytes, the greatest
// sampled growth of objects on the Go heap, including dead ones that are not swept yet; ours has
// utilisation, peak_live_bytes / Committed.
func Run(opts Options, progress workload.Progress) (plain, ours workload.Side, err error) {
	s, err := load(opts.File)
	if err != nil {
		return workload.Side{}, workload.Side{}, err
	}
	total := 2 * len(s.t.Ops)
	from := func(before int) func(done int) {
		if progress == nil {
			return nil
		}
		return func(done int) { progress(before+done, total) }
	}
	plain, before := s.plain(from(0))
	ours, after, err := s.ours(from(len(s.t.Ops)))
	if err == nil {
		ours.Drawings = []workload.Drawing{drawing(before, after)}
	}
	return plain, ours, err
}

// load reads the trace of a run and looks for its answer.
func load(path string) (*subject, error) {
	s := &subject{}
	if path == "" {
		s.t = Demo()
		s.stats = s.t.Stats()
		s.want, s.source = demoAnswer, "the known answer"
		return s, nil
	}
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, src, err := parse(path, f, size, most)
	if err != nil {
		return nil, err
	}
	s.t, s.stats = t, t.Stats()
	if s.stats.PeakLiveBytes > maxLive {
		return nil, fmt.Errorf("%w: %s: expected at most %d bytes live at once, got %d",
			ErrLimit, path, int64(maxLive), s.stats.PeakLiveBytes)
	}
	if s.stats.MaxAlign > maxAlign {
		return nil, fmt.Errorf("%w: %s: expected alignments of at most %d bytes, got %d",
			ErrLimit, path, maxAlign, s.stats.MaxAlign)
	}
	row, ok := knownRow(path)
	want, source := row.Stats, "STATS.csv"
	if !ok {
		source = "a slow count from the text"
		if want, err = statsRef(t, src); err != nil {
			return nil, err
		}
	}
	s.want, s.source = want.Answer, source
	if s.stats != want {
		s.wrong = append(s.wrong, fmt.Sprintf("the books of the trace are %+v, %s says %+v", s.stats, source, want))
	}
	return s, nil
}

// plain replays on the Go heap.
func (s *subject) plain(progress func(done int)) (workload.Side, *usage) {
	base := workload.LiveHeap()
	m := newGoMemory()
	r := newReplay(s.t, m)
	r.bare = true
	err := r.run(progress)
	side := s.side(r, err)
	side.Heap = max(workload.LiveHeap()-base-s.tableBytes(), 0)
	runtime.KeepAlive(r) // the blocks are measured while they are held
	r.drain()
	side.Figures["peak_heap_bytes"] = float64(m.peak)
	side.Lines = append(side.Lines, s.describe()...)
	side.Lines = append(side.Lines, fmt.Sprintf("Go heap: %s bytes of objects at the peak, %s live at the end",
		grouped(m.peak), grouped(side.Heap)))
	s.again(&side, m)
	return side, r.usage
}

// ours replays on a heap on a universe, frees the remaining blocks and closes both.
func (s *subject) ours(progress func(done int)) (workload.Side, *usage, error) {
	base := workload.LiveHeap()
	m, err := newHeapMemory()
	if err != nil {
		return workload.Side{}, nil, fmt.Errorf("trace: %w", err)
	}
	r := newReplay(s.t, m)
	r.bare = true
	err = r.run(progress)
	if refused(err) {
		r.drain()
		return workload.Side{}, nil,
			errors.Join(fmt.Errorf("trace: the replay ran out of memory, which says nothing of its answer: %w",
				err), m.close())
	}
	side := s.side(r, err)
	side.Heap = max(workload.LiveHeap()-base-s.tableBytes(), 0)
	runtime.KeepAlive(r)
	r.drain()
	side.Committed = m.peak
	s.again(&side, m)
	if err := m.close(); err != nil {
		side.Fail(err.Error())
	}
	if side.Committed > 0 {
		side.Figures["utilisation"] = float64(s.stats.PeakLiveBytes) / float64(side.Committed)
	}
	side.Lines = append(side.Lines, fmt.Sprintf("universe: %s bytes committed at the peak, %s of books on the Go heap",
		grouped(side.Committed), grouped(side.Heap)))
	return side, r.usage, nil
}

// again replays on a memory that has already done the trace: warm, where the first replay was cold.
// Then it replays once more, not timed, and checks every byte of every block.
func (s *subject) again(side *workload.Side, m memory) {
	warm := float64(s.repeat(side, m, true, "the second time").Nanoseconds()) / float64(max(side.Ops, 1))
	s.repeat(side, m, false, "the third time")
	side.Figures["warm_ns_per_op"] = warm
	side.Lines = append(side.Lines,
		fmt.Sprintf("the same again, on memory that was used before: %.0f ns a call (%.0f the first time)",
			warm, side.NsPerOp()))
}

// repeat replays on a memory once more and returns what it took.
func (s *subject) repeat(side *workload.Side, m memory, bare bool, when string) time.Duration {
	r := newReplay(s.t, m)
	r.bare = bare
	err := r.run(nil)
	r.drain()
	switch got := r.ledger.answer(); {
	case err != nil:
		side.Fail(when + ": " + err.Error())
	case r.faults > 0:
		side.Fail(fmt.Sprintf("%s %d checks failed: %s", when, r.faults, strings.Join(r.told, "; ")))
	default:
		side.Fail(got.differences(s.want)...)
	}
	return r.clock
}

// refused reports whether err means that the system or a limit refused memory, not a fault of the
// heap.
func refused(err error) bool {
	return errors.Is(err, alloc.ErrFull) || errors.Is(err, alloc.ErrCommit) || errors.Is(err, alloc.ErrReserve)
}

// tableBytes is the size of the replay's own tables on the Go heap, which is the same for both
// sides and not part of either's memory.
func (s *subject) tableBytes() int64 {
	return int64(s.t.Slots)*blockBytes + usageBytes
}

// side turns a finished replay into words and figures.
func (s *subject) side(r *replay, err error) workload.Side {
	got := r.ledger.answer()
	side := workload.Side{OK: true, Time: r.clock, Ops: s.t.Calls()}
	side.Figures = map[string]float64{
		"peak_live_bytes":  float64(got.PeakLiveBytes),
		"peak_live_blocks": float64(got.PeakLiveBlocks),
		"end_live_bytes":   float64(got.EndLiveBytes),
		"end_live_blocks":  float64(got.EndLiveBlocks),
		"ns_per_op":        float64(r.clock.Nanoseconds()) / float64(max(side.Ops, 1)),
	}
	side.Detail = fmt.Sprintf("peak %s bytes, %s blocks, at the end %s, %s, as %s says; every byte was as written",
		grouped(got.PeakLiveBytes), grouped(int64(got.PeakLiveBlocks)),
		grouped(got.EndLiveBytes), grouped(int64(got.EndLiveBlocks)), s.source)
	if err != nil {
		side.Fail(err.Error())
	}
	if r.faults > 0 {
		side.Fail(fmt.Sprintf("%d checks failed: %s", r.faults, strings.Join(r.told, "; ")))
	}
	if err == nil {
		side.Fail(got.differences(s.want)...)
	}
	side.Fail(s.wrong...)
	return side
}

// describe describes the trace.
func (s *subject) describe() []string {
	t, st := s.t, &s.stats
	name := t.Name
	if t.Member != "" {
		name += "(" + t.Member + ")"
	}
	return []string{
		fmt.Sprintf("trace %s, %s form: %s calls of %d threads, %s bytes asked for",
			name, t.Form, grouped(int64(t.Calls())), st.Threads, grouped(st.TotalBytes)),
		fmt.Sprintf("malloc %s, calloc %s, memalign %s, realloc %s, free %s (of NULL %s), failed %s, size 0 %s",
			grouped(int64(st.Malloc)), grouped(int64(st.Calloc)), grouped(int64(st.Memalign)),
			grouped(int64(st.Realloc)),
			grouped(int64(st.Free)), grouped(int64(st.FreeNull)), grouped(int64(st.Failed)),
			grouped(int64(st.ZeroSize))),
		fmt.Sprintf("sizes: half up to %s, nine tenths up to %s, greatest %s bytes",
			grouped(st.P50), grouped(st.P90), grouped(st.MaxRequest)),
	}
}

// grouped prints n with commas between the thousands.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}
