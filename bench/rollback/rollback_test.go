package rollback

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
	"quarry/internal/debug"
)

// small are sizes for tests; Life runs to its answer anyway.
var small = Options{Birds: 1500, Frames: 24, Acorns: 1}

func TestRun(t *testing.T) {
	calls, last := 0, 0
	plain, ours, err := Run(small, func(done, total int) {
		require.Equal(t, small.Frames+generations, total)
		require.Equal(t, last+1, done)
		calls, last = calls+1, done
	})
	require.NoError(t, err)
	require.Equal(t, small.Frames+generations, calls)
	for _, s := range []workload.Side{plain, ours} {
		require.True(t, s.OK, s.Detail)
		require.Equal(t, 2*(small.Frames+generations), s.Ops)
		require.Len(t, s.Lines, 2)
		for _, game := range []string{"boids_", "life_"} {
			for _, figure := range []string{"frame_ns", "save_ns", "back_ns", "kept"} {
				require.Positive(t, s.Figures[game+figure], game+figure)
			}
		}
	}
	require.Equal(t, float64(depth*small.Birds*16), plain.Figures["boids_kept"])
	require.Positive(t, ours.Figures["boids_unsaved_frame_ns"])
	require.Positive(t, ours.Committed)
	_, _, err = Run(Options{Frames: 12}, nil)
	require.ErrorContains(t, err, "12 frames")
}

// games makes each game that goes back, with a twin that does not.
func games(t testing.TB, o Options) map[string]func() (own, twin game) {
	return map[string]func() (own, twin game){
		"boids": func() (own, twin game) {
			a, err := newBirds(o.Birds)
			require.NoError(t, err)
			b, err := newBirds(o.Birds)
			require.NoError(t, err)
			return a, b
		},
		"life": func() (own, twin game) {
			a, err := newCells(o.Acorns)
			require.NoError(t, err)
			b, err := newCells(o.Acorns)
			require.NoError(t, err)
			return a, b
		},
		"plain boids": func() (own, twin game) {
			p, _ := plains(t, o)
			q, _ := plains(t, o)
			return p, q
		},
		"plain life": func() (own, twin game) {
			_, p := plains(t, o)
			_, q := plains(t, o)
			return p, q
		},
	}
}

// hash is the state of a game.
func hash(g game) any {
	switch g := g.(type) {
	case *birds:
		return g.ECS().Hash()
	case *cells:
		return g.ECS().Hash()
	case *plainBirds:
		return append(g.Birds[:0:0], g.Birds...)
	}
	return g.(*plainCells).Cells(nil)
}

// TestSameAsWithout compares each frame with that of a game that never goes back, the first time
// and again.
func TestSameAsWithout(t *testing.T) {
	for name, open := range games(t, small) {
		t.Run(name, func(t *testing.T) {
			own, twin := open()
			seen := make([]any, 64)
			for frame := range seen {
				seen[frame] = hash(twin)
				require.NoError(t, twin.step(frame))
			}
			require.NotEqual(t, seen[0], seen[8])
			p := player{game: &watched{
				own, func(frame int) { require.Equal(t, seen[frame], hash(own), "frame %d", frame) },
			}}
			for frame := range seen {
				require.NoError(t, p.turn(frame))
			}
			require.Len(t, p.frames, 2*len(seen))
			require.Len(t, p.backs, len(seen)/depth)
			require.Equal(t, hash(twin), hash(own))
			require.NoError(t, own.close())
			require.NoError(t, twin.close())
		})
	}
}

// watched calls see before each frame.
type watched struct {
	game
	see func(frame int)
}

func (w *watched) step(frame int) error {
	w.see(frame)
	return w.game.step(frame)
}

// TestAllocations: once all memory has been taken, frames with a snapshot before each, and
// restores, allocate nothing on the Go heap but two objects for each snapshot, which belong to the
// caller.
func TestAllocations(t *testing.T) {
	if debug.On {
		t.Skip("debug builds check more, and allocate")
	}
	t.Run("boids", func(t *testing.T) {
		own, err := newBirds(small.Birds)
		require.NoError(t, err)
		allocations(t, own, 64)
	})
	t.Run("life", func(t *testing.T) { // settled after 1,103 generations
		own, err := newCells(1)
		require.NoError(t, err)
		allocations(t, own, 5304)
	})
}

func allocations(t *testing.T, own game, warm int) {
	frame := 0
	p := player{game: own}
	eight := func() {
		p.frames, p.saves, p.backs = p.frames[:0], p.saves[:0], p.backs[:0]
		for range depth {
			require.NoError(t, p.turn(frame))
			frame++
		}
	}
	for frame < warm {
		eight()
	}
	const snapshots = 2*depth - 1 // that of the first frame is not taken again
	require.LessOrEqual(t, testing.AllocsPerRun(20, eight), 2.0*snapshots)
	require.NoError(t, own.close())
}

// TestCheck: a wrong end is noticed.
func TestCheck(t *testing.T) {
	own, err := newCells(1)
	require.NoError(t, err)
	for range 500 {
		require.NoError(t, own.step(0))
	}
	require.NoError(t, own.check(500))
	require.ErrorContains(t, own.check(1000), "at generation 1000, want 1 times 457")
	require.NoError(t, own.close())
}
