package delta_test

import (
	"bytes"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkDelta compares two worlds of a million entities of 40 bytes, of which none, 1 % in
// runs of 100, every hundredth, or all have changed; and encodes and applies the delta.
func BenchmarkDelta(b *testing.B) {
	const n = 1_000_000
	x, y := make([]byte, 40*n), make([]byte, 40*n)
	for i := range x {
		x[i], y[i] = byte(i), byte(i)
	}
	b.Run("memcmp", func(b *testing.B) {
		b.SetBytes(40 * n)
		for b.Loop() {
			require.True(b, bytes.Equal(x, y))
		}
	})
	for _, c := range []struct {
		name        string
		step, piece int
	}{{"none", n, 0}, {"1%", 10_000, 100}, {"random1%", 100, 1}, {"all", n, n}} {
		w := ecstest.NewWorld(b)
		position := ecs.Register[ecstest.Position](w)
		velocity := ecs.Register[ecstest.Velocity](w)
		health := ecs.Register[ecstest.Health](w)
		batch, err := ecs.NewArchetype(w, position, velocity, health).CreateN(n)
		require.NoError(b, err)
		ids := batch.Entities(nil)
		older, err := ecstest.Fork(w)
		require.NoError(b, err)
		for first := 0; first < n; first += c.step {
			for i, e := range ids[first : first+c.piece] {
				position.Set(e, ecstest.Position{X: float64(i) + 0.3, Y: float64(i) + 0.1})
				velocity.Set(e, ecstest.Velocity{X: float64(i) + 0.7, Y: 1})
			}
		}
		b.Run("diff/"+c.name, func(b *testing.B) {
			b.SetBytes(40 * n)
			for b.Loop() {
				_, err = diffWorlds(older, w)
				require.NoError(b, err)
			}
		})
		var delta bytes.Buffer
		d, err := diffWorlds(older, w)
		require.NoError(b, err)
		require.NoError(b, ecs.EncodeDelta(&delta, d)) // for the buffer's growth
		b.Run("encode/"+c.name, func(b *testing.B) {
			for b.Loop() {
				delta.Reset()
				require.NoError(b, ecs.EncodeDelta(&delta, d))
			}
			b.ReportMetric(float64(delta.Len()), "bytes")
		})
		back, err := diffWorlds(w, older)
		require.NoError(b, err)
		var undo bytes.Buffer
		require.NoError(b, ecs.EncodeDelta(&undo, back))
		b.Run("apply-and-undo/"+c.name, func(b *testing.B) {
			b.SetBytes(int64(2 * delta.Len()))
			for b.Loop() {
				require.NoError(b, older.ApplyDelta(bytes.NewReader(delta.Bytes())))
				require.NoError(b, older.ApplyDelta(bytes.NewReader(undo.Bytes())))
			}
		})
		require.NoError(b, older.Close())
	}
}
