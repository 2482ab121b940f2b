package dashboard

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"quarry/bench/workload"
)

// Options are the options of Run. Zero values are the usual sizes.
type Options struct {
	Accounts int // at first
	Frames   int
}

const (
	accountsUsual = 1_000_000
	framesUsual   = 300
)

// Quick are options for a short run.
var Quick = Options{Accounts: 100_000, Frames: 100}

// costs are what a side took.
type costs struct {
	frames, publishes, reports []time.Duration
	unread                     []time.Duration // frames while there is no state that was published
}

// Run runs both sides one after the other, each first without a reader and then with one. Figures
// of each side: frame_ns while states are read, unread_frame_ns of frames without a reader,
// publish_ns (what the owner waits for a state), report_ns and reports. Times are medians. An op is
// a frame with a reader.
func Run(o Options, progress workload.Progress) (plainSide, ours workload.Side, err error) {
	if o.Accounts == 0 {
		o.Accounts = accountsUsual
	}
	if o.Frames == 0 {
		o.Frames = framesUsual
	}
	done := 0
	tick := func() {
		if done++; progress != nil {
			progress(done, 4*o.Frames)
		}
	}
	before := workload.LiveHeap()
	p := newPlain(o.Accounts)
	if err := run(&plainSide, p, o, tick); err != nil {
		return plainSide, ours, err
	}
	plainSide.Heap = workload.LiveHeap() - before
	w, err := newWorld(o.Accounts)
	if err != nil {
		return plainSide, ours, err
	}
	err = run(&ours, w, o, tick)
	ours.Heap = workload.LiveHeap() - before - plainSide.Heap
	ours.Committed = int64(w.w.Universe().Stats().Committed)
	return plainSide, ours, errors.Join(err, w.close(), p.close())
}

// run runs a side and notes what it took.
func run(s *workload.Side, b bank, o Options, tick func()) error {
	var c costs
	for frame := range o.Frames {
		start := time.Now()
		if err := b.step(frame); err != nil {
			return err
		}
		c.unread = append(c.unread, time.Since(start))
		tick()
	}
	wrong, err := c.play(b, o, tick)
	if err != nil {
		return err
	}
	s.OK, s.Ops = true, o.Frames
	s.Detail = fmt.Sprintf("%d reports, each of one moment", len(c.reports))
	s.Fail(wrong...)
	for i := range c.frames {
		s.Time += c.frames[i]
	}
	for _, d := range c.publishes {
		s.Time += d
	}
	s.Figures = map[string]float64{
		"frame_ns": float64(middle(c.frames)), "unread_frame_ns": float64(middle(c.unread)), "publish_ns": float64(middle(c.publishes)),
		"report_ns": float64(middle(c.reports)), "reports": float64(len(c.reports)),
	}
	s.Lines = []string{fmt.Sprintf("%d accounts, %d frames: a frame %v, %v without a reader; a state %v, of which there were %d; a report %v",
		o.Accounts, o.Frames, middle(c.frames), middle(c.unread), middle(c.publishes), len(c.reports), middle(c.reports))}
	return nil
}

// report is what the reader says of the state before a frame.
type report struct {
	totals
	frame int
	took  time.Duration
}

// play runs the second half of the frames, with a reader, and returns what its reports had wrong.
func (c *costs) play(b bank, o Options, tick func()) (wrong []string, err error) {
	frames, reports := make(chan int), make(chan report, 1)
	go func() {
		for frame := range frames {
			start := time.Now()
			reports <- report{b.report(), frame, time.Since(start)}
		}
		close(reports)
	}()
	take := func(r report) {
		c.reports = append(c.reports, r.took)
		if err := r.check(o.Accounts, r.frame); err != nil && wrong == nil {
			wrong = append(wrong, err.Error())
		}
	}
	publish := func(frame int) {
		start := time.Now()
		b.publish()
		c.publishes = append(c.publishes, time.Since(start))
		frames <- frame
	}
	publish(o.Frames)
	for frame := o.Frames; frame < 2*o.Frames && err == nil; frame++ {
		start := time.Now()
		err = b.step(frame)
		c.frames = append(c.frames, time.Since(start))
		select {
		case r := <-reports:
			take(r)
			publish(frame + 1)
		default:
		}
		tick()
	}
	close(frames)
	for r := range reports {
		take(r)
	}
	return wrong, err
}

func middle(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
