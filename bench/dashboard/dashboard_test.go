package dashboard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
)

func TestRun(t *testing.T) {
	o := Options{Accounts: 20_001, Frames: 150}
	calls := 0
	plain, ours, err := Run(o, func(done, total int) {
		calls++
		require.Equal(t, calls, done)
		require.Equal(t, 4*o.Frames, total)
	})
	require.NoError(t, err)
	require.Equal(t, 4*o.Frames, calls)
	for _, s := range []workload.Side{plain, ours} {
		require.True(t, s.OK, s.Detail)
		require.Equal(t, o.Frames, s.Ops)
		for _, figure := range []string{"frame_ns", "unread_frame_ns", "publish_ns", "report_ns", "reports"} {
			require.Positive(t, s.Figures[figure], figure)
		}
	}
	require.Positive(t, ours.Committed)
}

// TestReportsWhileStepping: a state is read again and again while several frames write, and its
// reports are all the same.
func TestReportsWhileStepping(t *testing.T) {
	const n = 5000
	b, err := newWorld(n)
	require.NoError(t, err)
	for frame := range 20 {
		b.publish()
		got := make(chan totals)
		go func() {
			for range 5 {
				got <- b.report()
			}
			close(got)
		}()
		require.NoError(t, b.step(frame))
		for r := range got {
			require.NoError(t, r.check(n, frame))
		}
	}
	require.NoError(t, b.close())
}

// torn gives reports of which the second half is of a later frame.
type torn struct{ *plain }

func (p torn) publish() {}
func (p torn) report() (t totals) {
	t.add(p.accounts)
	t.frames += int64(t.accounts / 2)
	return t
}

func TestTornReportIsNoticed(t *testing.T) {
	var s workload.Side
	p := newPlain(1000)
	for frame := range 3 {
		require.NoError(t, p.step(frame))
	}
	require.NoError(t, p.publishAndReport().check(1000, 3))
	require.ErrorContains(t, p.publishAndReport().check(1000, 4), "want 1032 with 1032000 and 4128")
	require.ErrorContains(t, torn{p}.report().check(1000, 3), "the report before frame 3")
	var c costs
	wrong, err := c.play(torn{newPlain(0)}, Options{Accounts: 10, Frames: 0}, func() {})
	require.NoError(t, err)
	require.Len(t, wrong, 1)
	s.Fail(wrong...)
	require.False(t, s.OK)
}

func (p *plain) publishAndReport() totals {
	p.publish()
	return p.report()
}

// BenchmarkReport: reports of a state that nobody writes, and of one that a frame has written
// since.
func BenchmarkReport(b *testing.B) {
	w, err := newWorld(accountsUsual)
	require.NoError(b, err)
	for name, written := range map[string]bool{"written=no": false, "written=yes": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for frame := 0; b.Loop(); frame++ {
				b.StopTimer()
				w.publish()
				if written {
					require.NoError(b, w.step(frame))
				}
				b.StartTimer()
				w.report()
			}
		})
	}
	require.NoError(b, w.close())
}
