package ecs_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// advance is one body for both, where the loops would lie differently in the cache of
// instructions: what is compared is how its slices come.
//
//go:noinline
func advance(p []ecstest.Position, v []ecstest.Velocity) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X * dt
		p[i].Y += v[i].Y * dt
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{1, 1000, 100_000} {
		w, position, velocity, _ := ecstest.Movers(b, n)
		q, m := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity)), ecs.NewView[Motion](w)
		steps := 0
		b.Run(fmt.Sprintf("api=slice/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				for rows := range q.Rows() {
					advance(position.Slice(rows), velocity.Slice(rows))
				}
				steps++
			}
		})
		b.Run(fmt.Sprintf("api=view/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				for _, m := range m.Rows() {
					advance(m.P, m.V)
				}
				steps++
			}
		})
		b.Run(fmt.Sprintf("api=cursor/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				for c := m.Cursor(); c.Next(); {
					advance(c.At().P, c.At().V)
				}
				steps++
			}
		})
		for rows := range q.Rows() {
			require.Equal(b, ecstest.Position{X: float64(steps) * dt, Y: 2 * float64(steps) * dt},
				position.Slice(rows)[rows.Len()-1])
		}
		require.NoError(b, w.Close())
	}
}

func BenchmarkBundleCreate(b *testing.B) {
	const n = 1000
	type Moving struct {
		P ecstest.Position
		V ecstest.Velocity
	}
	w, position, velocity, a := ecstest.Movers(b, 0)
	defer w.Close()
	bundle := ecs.NewBundle[Moving](w)
	value := Moving{ecstest.Position{X: 1, Y: 2}, ecstest.Velocity{X: 3, Y: 4}}
	run := func(name string, create func() ecs.Entity) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for range n {
					create()
				}
				b.StopTimer()
				require.Equal(b, n, a.Len())
				w.Clear()
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entity")
		})
	}
	run("api=bundle", func() ecs.Entity { return bundle.Create(value) })
	run("api=set", func() ecs.Entity {
		e := a.Create()
		position.Set(e, value.P)
		velocity.Set(e, value.V)
		return e
	})
}
