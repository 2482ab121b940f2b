package snapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
	"quarry/internal/debug"
)

func TestRun(t *testing.T) {
	calls := 0
	plain, ours, err := Run(Options{Large: 3000, Small: 1700, Rounds: 120}, func(done, total int) {
		calls++
		require.Equal(t, calls, done)
		require.Equal(t, warm+120, total)
	})
	require.NoError(t, err)
	require.Equal(t, warm+120, calls)
	for _, s := range []workload.Side{plain, ours} {
		require.True(t, s.OK, s.Detail)
		require.Equal(t, 120, s.Ops)
		for _, figure := range []string{"take_ns", "some_ns", "restore_ns", "all_ns"} {
			require.Positive(t, s.Figures[figure], figure)
		}
	}
	require.GreaterOrEqual(t, ours.Figures["kept"], 3000.0*positionSize, "all positions are kept")
	require.Less(t, ours.Figures["kept"], 2*3000.0*40+64*1024, "nothing is kept twice")
	if !debug.On {
		require.Less(t, ours.Figures["allocs"], 1.0)
	}
	require.Len(t, ours.Lines, 5)
}

// TestCheckSeesAWrongPlace: a move that was not undone is found.
func TestCheckSeesAWrongPlace(t *testing.T) {
	r, err := newRows(1000)
	require.NoError(t, err)
	s := r.world.Snapshot()
	r.moveSome(300, 100)
	require.NoError(t, r.world.Restore(s))
	still := func(int) int { return 0 }
	require.NoError(t, check(1000, r.place, still))
	r.moveSome(300, 100)
	require.EqualError(t, check(1000, r.place, still), "row 300 is at {0.109375 -0.03125}, want {0 -0}")
	r.moveList(300, 100)
	require.NoError(t, check(1000, r.place, func(i int) int {
		if i >= 300 && i < 400 {
			return 2
		}
		return 0
	}))
	require.NoError(t, r.world.Close())
}

func TestWanted(t *testing.T) {
	require.Equal(t, "50µs holds", wanted(20*time.Microsecond, wantTake))
	require.Equal(t, "50µs **missed**", wanted(51*time.Microsecond, wantTake))
	require.Equal(t, "1 **missed**", wanted(1.01, wantAll))
}

// BenchmarkSnapshot has the rows of Run for benchstat.
func BenchmarkSnapshot(b *testing.B) {
	large, err := newRows(1_000_000)
	require.NoError(b, err)
	small, err := newRows(100_000)
	require.NoError(b, err)
	b.Run("take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			large.world.Snapshot().Close()
		}
	})
	for name, move := range map[string]func(first, n int){"slices": small.moveSome, "entities": small.moveList} {
		b.Run("some/by="+name+"/saved=no", func(b *testing.B) {
			for b.Loop() {
				move(5000, 1000)
			}
		})
		b.Run("some/by="+name+"/saved=yes", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := small.world.Snapshot()
				move(5000, 1000)
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
		b.Run("some/by="+name+"/restore", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				s := small.world.Snapshot()
				move(5000, 1000)
				b.StartTimer()
				require.NoError(b, small.world.Restore(s))
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
	}
	for _, saved := range []bool{false, true} {
		b.Run(map[bool]string{false: "all/saved=no", true: "all/saved=yes"}[saved], func(b *testing.B) {
			for b.Loop() {
				if saved {
					s := large.world.Snapshot()
					large.moveAll()
					b.StopTimer()
					s.Close()
					b.StartTimer()
				} else {
					large.moveAll()
				}
			}
		})
	}
	require.NoError(b, large.world.Close())
	require.NoError(b, small.world.Close())
}
