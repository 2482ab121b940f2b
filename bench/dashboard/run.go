package dashboard

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. Zero values are the full sizes.
type Options struct {
	Accounts int // at first
	Blocks   int // of frames with readers, and as many of frames without
	Frames   int // in a block
	Rate     int // frames a second; a reader reads once in 12 frames
}

const (
	accountsFull  = 1_000_000
	blocksFull    = 5
	framesFull    = 120
	rateFull      = 60
	readers       = 4
	framesPerRead = 12
	settling      = 4 // frames at the start of a block that do not count: states of the block before end
)

// Usual and Quick are options for a short run and a very short one.
var (
	Usual = Options{Blocks: 2, Frames: 60}
	Quick = Options{Accounts: 100_000, Blocks: 2, Frames: 14}
)

// costs are what a side took.
type costs struct {
	frames, unread []time.Duration // with readers, publication included, and without
	publishes      []time.Duration
	reads          []time.Duration
}

// game is a side that is played.
type game struct {
	costs
	bank   bank
	states *publisher
	o      Options
	frame  int // that comes next
	wrong  error
	tick   func()
}

// Run runs the sides one after the other: plain Go whose states are copies, as its Other plain Go
// whose readers lock what the owner writes, and a world. Figures of each side: frame_p50_ns and
// frame_p99_ns of frames with readers, unread_p50_ns and unread_p99_ns of frames without, p50_ratio
// and p99_ratio of the former to the latter; publish_ns (what the owner waits for a state),
// published, read_ns and reads, the times being medians. An op is a frame with readers.
func Run(o Options, progress workload.Progress) (plainSide, ours workload.Side, err error) {
	for option, full := range map[*int]int{
		&o.Accounts: accountsFull, &o.Blocks: blocksFull, &o.Frames: framesFull, &o.Rate: rateFull,
	} {
		if *option == 0 {
			*option = full
		}
	}
	done := 0
	tick := func() {
		if done++; progress != nil {
			progress(done, 6*o.Blocks*(settling+o.Frames))
		}
	}
	before := workload.LiveHeap()
	p := newPlain(o.Accounts)
	if err := run(&plainSide, p, o, tick); err != nil {
		return plainSide, ours, err
	}
	plainSide.Heap = workload.LiveHeap() - before
	l, locked := newLocked(o.Accounts), new(workload.Side)
	if err := run(locked, l, o, tick); err != nil {
		return plainSide, ours, err
	}
	locked.Heap = workload.LiveHeap() - before - plainSide.Heap
	plainSide.Other, plainSide.OtherName = locked, "locked"
	w, err := newWorld(o.Accounts)
	if err != nil {
		return plainSide, ours, err
	}
	err = run(&ours, w, o, tick)
	ours.Heap = workload.LiveHeap() - before - plainSide.Heap - locked.Heap
	ours.Committed = int64(w.w.Universe().Stats().Committed)
	return plainSide, ours, errors.Join(err, w.close(), l.close(), p.close())
}

// run runs a side and notes what it took.
func run(s *workload.Side, b bank, o Options, tick func()) error {
	g := &game{bank: b, states: newPublisher(b), o: o, tick: tick}
	for block := range 2 * o.Blocks {
		if err := g.play((block+1)/2%2 == 0); err != nil { // with, without, without, with, with ...
			return err
		}
	}
	s.OK, s.Ops = true, len(g.frames)
	s.Detail = fmt.Sprintf("%d reports, each of one moment", len(g.reads))
	if g.wrong != nil {
		s.Fail(g.wrong.Error())
	}
	for _, d := range g.frames {
		s.Time += d
	}
	p50 := percentile(g.frames, 50)
	p99 := percentile(g.frames, 99)
	unread50 := percentile(g.unread, 50)
	unread99 := percentile(g.unread, 99)
	publish, read := percentile(g.publishes, 50), percentile(g.reads, 50)
	s.Figures = map[string]float64{
		"frame_p50_ns": float64(p50), "frame_p99_ns": float64(p99), "unread_p50_ns": float64(unread50),
		"unread_p99_ns": float64(unread99),
		"p50_ratio":     float64(p50) / float64(unread50), "p99_ratio": float64(p99) / float64(unread99),
		"publish_ns": float64(publish), "published": float64(len(g.publishes)), "read_ns": float64(read),
		"reads": float64(len(g.reads)),
	}
	s.Lines = []string{fmt.Sprintf("%d accounts, %d frames at %d Hz with %d readers: p50 %v, p99 %v; without: %v, %v, ratio %.2f, %.2f; %d states of %v, %d reports of %v",
		o.Accounts, len(g.frames), o.Rate, readers, p50, p99, unread50, unread99, s.Figures["p50_ratio"],
		s.Figures["p99_ratio"],
		len(g.publishes), publish, len(g.reads), read)}
	return nil
}

// play runs a block of frames, with or without readers.
func (g *game) play(read bool) (err error) {
	period := time.Second / time.Duration(g.o.Rate)
	begin := time.Now().Add(period)
	finish := func() {}
	if read {
		finish = g.read(begin, period)
	}
	for i := 0; i < settling+g.o.Frames && err == nil; i++ {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * period)))
		start := time.Now()
		g.states.retire()
		g.states.begun.Store(int64(g.frame + 1)) // locked shows what a step has done before it returns
		err = g.bank.step(g.frame)
		g.frame++
		g.states.frame.Store(int64(g.frame))
		published := g.states.publish()
		took := time.Since(start)
		if published > 0 {
			g.publishes = append(g.publishes, published)
		}
		switch {
		case i < settling:
		case read:
			g.frames = append(g.frames, took)
		default:
			g.unread = append(g.unread, took)
		}
		g.tick()
	}
	finish()
	return err
}

// read starts the readers, their first reads spread over the time between two of one. The function
// that it returns ends them.
func (g *game) read(begin time.Time, period time.Duration) (finish func()) {
	var mu sync.Mutex
	var all sync.WaitGroup
	stop := make(chan struct{})
	for i := range readers {
		all.Go(func() {
			every := framesPerRead * period
			for at := begin.Add(every * time.Duration(i) / readers); ; at = at.Add(every) {
				select {
				case <-stop:
					return
				case <-time.After(time.Until(at)):
				}
				took, err := g.reportOnce()
				mu.Lock()
				g.reads = append(g.reads, took)
				if g.wrong == nil {
					g.wrong = err
				}
				mu.Unlock()
			}
		})
	}
	return func() {
		close(stop)
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		for {
			g.states.publish() // for those who wait
			select {
			case <-ended:
				g.states.publish()
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// reportOnce makes a report of the state at the end of a frame, checks it, and returns what it
// took.
func (g *game) reportOnce() (time.Duration, error) {
	first := g.states.frame.Load()
	s := g.states.take()
	defer s.done()
	start := time.Now()
	t := s.report()
	took := time.Since(start)
	return took, t.check(g.o.Accounts, int(first), int(g.states.begun.Load()))
}

// percentile returns the least of the times that so many percent do not exceed.
func percentile(list []time.Duration, percent int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[max(0, (len(list)*percent+99)/100-1)]
}
