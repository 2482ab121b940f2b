package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
)

func TestRun(t *testing.T) {
	o := Options{Accounts: 20_001, Blocks: 2, Frames: 40, Rate: 240}
	calls, total := 0, 6*o.Blocks*(settling+o.Frames)
	plain, ours, err := Run(o, func(done, of int) {
		calls++
		require.Equal(t, calls, done)
		require.Equal(t, total, of)
	})
	require.NoError(t, err)
	require.Equal(t, total, calls)
	for _, s := range []workload.Side{plain, *plain.Other, ours} {
		require.True(t, s.OK, s.Detail)
		require.Equal(t, o.Blocks*o.Frames, s.Ops)
		for _, figure := range []string{"frame_p50_ns", "frame_p99_ns", "unread_p50_ns", "unread_p99_ns", "p50_ratio",
			"p99_ratio", "publish_ns", "read_ns"} {
			require.Positive(t, s.Figures[figure], figure)
		}
		require.GreaterOrEqual(t, s.Figures["frame_p99_ns"], s.Figures["frame_p50_ns"])
		require.GreaterOrEqual(t, s.Figures["reads"], float64(o.Blocks*readers))
		require.GreaterOrEqual(t, s.Figures["reads"], s.Figures["published"])
		require.Positive(t, s.Figures["published"])
	}
	require.Positive(t, ours.Committed)
}

// TestFramesBeginInTime: a late frame moves no other one, and none is left out.
func TestFramesBeginInTime(t *testing.T) {
	const frames, rate, late = 20, 100, 3
	b := &slow{plain: newPlain(10), at: late, by: 4 * time.Second / rate}
	g := &game{bank: b, states: newPublisher(b), o: Options{Accounts: 10, Frames: frames, Rate: rate}, tick: func() {}}
	start := time.Now()
	require.NoError(t, g.play(false))
	require.Len(t, b.begun, settling+frames)
	for i, at := range b.begun {
		require.GreaterOrEqual(t, at.Sub(start), time.Duration(1+i)*time.Second/rate, "frame %d", i)
	}
	require.Len(t, g.unread, frames)
	require.Empty(t, g.frames)
}

// slow has one frame that takes long, and notes when frames begin.
type slow struct {
	*plain
	at    int
	by    time.Duration
	begun []time.Time
}

func (s *slow) step(frame int) error {
	s.begun = append(s.begun, time.Now())
	if frame == s.at {
		time.Sleep(s.by)
	}
	return s.plain.step(frame)
}

// TestStatesStay: states are read again and again while several frames write, and their reports are
// all the same.
func TestStatesStay(t *testing.T) {
	const n = 5000
	w, err := newWorld(n)
	require.NoError(t, err)
	for _, b := range []bank{w, newPlain(n)} {
		var older state
		for frame := range 20 {
			s := b.publish()
			got := make(chan totals)
			go func() {
				for range 5 {
					got <- s.report()
				}
				close(got)
			}()
			require.NoError(t, b.step(frame))
			for r := range got {
				require.NoError(t, r.check(n, frame, frame))
			}
			if older != nil {
				r := older.report()
				require.NoError(t, r.check(n, frame-1, frame-1))
				b.retire(older)
			}
			older = s
		}
		b.retire(older)
		require.NoError(t, b.close())
	}
}

// TestOneStateForAllThatAsk: readers that request one during a frame share a state, which is
// retired at the end of the first frame after the last of them is done.
func TestOneStateForAllThatAsk(t *testing.T) {
	b := &counting{plain: newPlain(10)}
	p := newPublisher(b)
	require.Zero(t, p.publish(), "nobody asks")
	got := make(chan *release)
	for range 2 {
		go func() { got <- p.take() }()
	}
	require.Eventually(t, func() bool { return len(p.asked) == 2 }, time.Minute, time.Millisecond)
	require.Positive(t, p.publish())
	first, second := <-got, <-got
	require.Same(t, first, second)
	first.done()
	p.publish()
	require.Zero(t, b.retired)
	second.done()
	require.Zero(t, p.publish())
	require.Equal(t, 1, b.retired)
	require.Equal(t, 1, b.published)
}

type counting struct {
	*plain
	published, retired int
}

func (c *counting) publish() state { c.published++; return c.plain.publish() }
func (c *counting) retire(s state) { c.retired++; c.plain.retire(s) }

// torn gives states of which the second half is of a later frame.
type torn struct{ *plain }

func (p torn) publish() state {
	s := p.plain.publish().(*copied)
	for i := len(s.accounts) / 2; i < len(s.accounts); i++ {
		s.accounts[i].Frames++
	}
	return s
}

// stale gives the first state again and again.
type stale struct {
	*plain
	first state
}

func (p stale) publish() state { return p.first }
func (p stale) retire(state)   {}

func TestWrongReportIsNoticed(t *testing.T) {
	const n = 1000
	p := newPlain(n)
	first := p.publish()
	for frame := range 3 {
		require.NoError(t, p.step(frame))
	}
	right, early, late := p.publish().report(), first.report(), torn{p}.publish().report()
	require.NoError(t, right.check(n, 2, 4))
	require.NoError(t, early.check(n, 0, 3))
	require.ErrorContains(t, early.check(n, 1, 3), "as before frame 0, want one of before frames 1 to 3")
	require.ErrorContains(t, right.check(n, 0, 2), "as before frame 3, want one of before frames 0 to 2")
	require.ErrorContains(t, late.check(n, 3, 3), "512 of them not as the first, want 1024 with 1024000 and 3072")
	o := Options{Accounts: n, Blocks: 1, Frames: 20, Rate: 500}
	for _, b := range []bank{torn{newPlain(n)}, stale{newPlain(n), first}} {
		var s workload.Side
		require.NoError(t, run(&s, b, o, func() {}))
		require.False(t, s.OK)
		require.Contains(t, s.Detail, "the report ")
	}
}

func TestPercentile(t *testing.T) {
	var list []time.Duration
	require.Zero(t, percentile(nil, 99))
	for i := range 200 {
		list = append(list, time.Duration(200-i))
	}
	require.Equal(t, time.Duration(100), percentile(list, 50))
	require.Equal(t, time.Duration(198), percentile(list, 99))
	require.Equal(t, time.Duration(7), percentile([]time.Duration{7}, 99))
}

// BenchmarkReport: reports of a state that nobody writes, and of one that a frame has written
// since.
func BenchmarkReport(b *testing.B) {
	w, err := newWorld(accountsFull)
	require.NoError(b, err)
	for name, written := range map[string]bool{"written=no": false, "written=yes": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for frame := 0; b.Loop(); frame++ {
				b.StopTimer()
				s := w.publish()
				if written {
					require.NoError(b, w.step(frame))
				}
				b.StartTimer()
				s.report()
				b.StopTimer()
				w.retire(s)
				b.StartTimer()
			}
		})
	}
	require.NoError(b, w.close())
}
