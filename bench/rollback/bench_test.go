package rollback

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/boids"
)

func plains(t testing.TB, o Options) (*plainBirds, *plainCells) {
	c, err := newPlainCells(o.Acorns)
	require.NoError(t, err)
	return &plainBirds{Plain: boids.NewPlain(o.Birds)}, c
}

// BenchmarkFrame plays frames with a state saved before each, and without. An op of restore goes
// back by eight frames; its frames are not timed.
func BenchmarkFrame(b *testing.B) {
	o := Options{Birds: birdsFull, Acorns: acornsFull}
	for name, open := range games(b, o) {
		own, twin := open()
		for frame := range 500 { // Life has grown by then
			if name == "life" || name == "plain life" {
				require.NoError(b, own.step(frame))
				require.NoError(b, twin.step(frame))
			}
		}
		frame := 0
		b.Run("game="+name+"/saved=no", func(b *testing.B) {
			b.ReportAllocs()
			for ; b.Loop(); frame++ {
				require.NoError(b, twin.step(frame))
			}
		})
		b.Run("game="+name+"/saved=yes", func(b *testing.B) {
			b.ReportAllocs()
			for frame := 0; b.Loop(); frame++ {
				own.save(frame % depth)
				require.NoError(b, own.step(frame))
			}
			b.ReportMetric(float64(own.kept()), "kept-B")
		})
		b.Run("game="+name+"/restore", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for slot := range depth {
					own.save(slot)
					require.NoError(b, own.step(slot))
				}
				b.StartTimer()
				require.NoError(b, own.back(0))
			}
		})
		require.NoError(b, own.close())
		require.NoError(b, twin.close())
	}
}
