package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/asm"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/layout"

	"github.com/stretchr/testify/require"
)

const dt = 1.0 / 64 // a power of two, so that sums are exact

func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{1, 1000, 16_000, 250_000, 500_000, 1_000_000, 4_000_000} {
		b.Run(fmt.Sprintf("api=rows/n=%d", n), func(b *testing.B) {
			w, position, velocity, _ := ecstest.Movers(b, n)
			defer w.Close()
			q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
			steps := 0
			for b.Loop() {
				for rows := range q.Rows() {
					p, v := position.Slice(rows), velocity.Slice(rows)
					v = v[:len(p)]
					for i := range p {
						p[i].X += v[i].X * dt
						p[i].Y += v[i].Y * dt
					}
				}
				steps++
			}
			for rows := range q.Rows() {
				require.Equal(b, ecstest.Position{X: float64(steps) * dt, Y: 2 * float64(steps) * dt},
					position.Slice(rows)[rows.Len()-1])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
		})
		b.Run(fmt.Sprintf("api=each/n=%d", n), func(b *testing.B) {
			w, position, velocity, _ := ecstest.Movers(b, n)
			defer w.Close()
			q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
			steps := 0
			for b.Loop() {
				for rows := range q.Rows() {
					p, v := position.Slice(rows), velocity.Slice(rows)
					for i := range rows.Each() {
						p[i].X += v[i].X * dt
						p[i].Y += v[i].Y * dt
					}
				}
				steps++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
		})
		b.Run(fmt.Sprintf("api=goslices/n=%d", n), func(b *testing.B) {
			p, v := make([]ecstest.Position, n), make([]ecstest.Velocity, n)
			for i := range v {
				v[i] = ecstest.Velocity{X: 1, Y: 2}
			}
			steps := 0
			for b.Loop() {
				for i := range p {
					p[i].X += v[i].X * dt
					p[i].Y += v[i].Y * dt
				}
				steps++
			}
			require.Equal(b, float64(steps)*dt, p[n-1].X)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
		})
	}
}

// BenchmarkNewWorld makes a world of two types on a universe that others share, and closes it.
func BenchmarkNewWorld(b *testing.B) {
	u, err := alloc.NewUniverse()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		if err != nil {
			b.Fatal(err)
		}
		ecs.Register[ecstest.Position](w)
		ecs.Register[ecstest.Velocity](w)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, u.Close())
}

// BenchmarkSpread: ns an entity of a loop over n entities that were made in turn in 256 archetypes,
// by plain loops, by a vector kernel, and without work: what the loop itself takes.
func BenchmarkSpread(b *testing.B) {
	for _, n := range []int{256, 16_000, 1_000_000} {
		w, position, velocity := spread(b, n)
		q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
		run := func(name string, pass func()) {
			b.Run(fmt.Sprintf("api=%s/n=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					pass()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entity")
			})
		}
		run("rows", func() {
			for rows := range q.Rows() {
				p, v := position.Slice(rows), velocity.Slice(rows)
				v = v[:len(p)]
				for i := range p {
					p[i].X += v[i].X
					p[i].Y += v[i].Y
				}
			}
		})
		run("kernel", func() {
			for rows := range q.Rows() {
				asm.Add(layout.Flat[float64](position.Slice(rows)), layout.Flat[float64](velocity.Slice(rows)))
			}
		})
		type mover struct {
			P ecs.W[ecstest.Position]
			V ecs.R[ecstest.Velocity]
		}
		movers := ecs.NewView[mover](w)
		run("cursor", func() {
			for c := movers.Cursor(); c.Next(); {
				m := c.At()
				asm.Add(layout.Flat[float64](m.P), layout.Flat[float64](m.V))
			}
		})
		sum := 0
		run("empty", func() {
			for rows := range q.Rows() {
				sum += len(position.Slice(rows)) + len(velocity.Slice(rows))
			}
		})
		require.Zero(b, sum%(2*n))
		require.NoError(b, w.Close())
	}
}

// spread makes n entities of Position and Velocity in 256 archetypes in turn.
func spread(b *testing.B, n int) (*ecs.World, ecs.Component[ecstest.Position], ecs.Component[ecstest.Velocity]) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	labels := ecstest.LabelsOf(w, 8)
	var archetypes []*ecs.Archetype
	for set := range 256 {
		types := []ecs.Type{position, velocity}
		for bit, label := range labels {
			if set>>bit&1 != 0 {
				types = append(types, label)
			}
		}
		archetypes = append(archetypes, ecs.NewArchetype(w, types...))
	}
	for i := range n {
		archetypes[i%len(archetypes)].Create()
	}
	return w, position, velocity
}

func BenchmarkCreateDestroy(b *testing.B) {
	const n = 16_000
	for _, batch := range []bool{false, true} {
		b.Run(fmt.Sprintf("batch=%v/n=%d", batch, n), func(b *testing.B) {
			w, _, _, a := ecstest.Movers(b, 0)
			defer w.Close()
			ids := make([]ecs.Entity, 0, n)
			steps := 0
			for b.Loop() {
				ids = ids[:0]
				if batch {
					made, err := a.CreateN(n)
					require.NoError(b, err)
					for rows := range made.Rows() {
						ids = append(ids, rows.Entities()...)
					}
				} else {
					for range n {
						ids = append(ids, a.Create())
					}
				}
				for _, e := range ids {
					w.Destroy(e)
				}
				steps++
			}
			require.Zero(b, w.Stats().Alive)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{16_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			w, position, _, _ := ecstest.Movers(b, n)
			defer w.Close()
			var ids []ecs.Entity
			for rows := range ecs.NewQuery(w, ecs.Read(position)).Rows() {
				ids = append(ids, rows.Entities()...)
			}
			rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			sum, steps := 0.0, 0
			for b.Loop() {
				for _, e := range ids {
					sum += position.Get(e).X
				}
				steps++
			}
			require.Zero(b, sum)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
		})
	}
}

func BenchmarkAddRemove(b *testing.B) {
	const n = 16_000
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	batch, err := ecs.NewArchetype(w, position).CreateN(n)
	require.NoError(b, err)
	var ids []ecs.Entity
	for rows := range batch.Rows() {
		ids = append(ids, rows.Entities()...)
	}
	steps := 0
	for b.Loop() {
		for _, e := range ids {
			velocity.Add(e, ecstest.Velocity{})
		}
		for _, e := range ids {
			velocity.Remove(e)
		}
		steps++
	}
	require.Equal(b, n, w.Stats().Alive)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
}

// BenchmarkMove adds a component to every entity and takes it away again, one by one; ns an entity
// for both.
func BenchmarkMove(b *testing.B) {
	const n = 16_000
	w := ecstest.NewWorld(b)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	batch, err := ecs.NewArchetype(w, position).CreateN(n)
	require.NoError(b, err)
	ids := batch.Entities(nil)
	for b.Loop() {
		for _, e := range ids {
			velocity.Add(e, ecstest.Velocity{X: 1, Y: 2})
		}
		for _, e := range ids {
			velocity.Remove(e)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
}

// BenchmarkEnable: ns a call of Disable and of Enable, of entities in the order of their rows and
// in no order.
func BenchmarkEnable(b *testing.B) {
	for _, n := range []int{1000, 16_000, 1_000_000} {
		w, err := ecs.NewWorld()
		require.NoError(b, err)
		stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
		batch, err := ecs.NewArchetype(w, stun, ecs.Register[ecstest.Position](w)).CreateN(n)
		require.NoError(b, err)
		list := batch.Entities(nil)
		for _, order := range []string{"rows", "none"} {
			if order == "none" {
				rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, k int) { list[i], list[k] = list[k], list[i] })
			}
			b.Run(fmt.Sprintf("order=%s/n=%d", order, n), func(b *testing.B) {
				for b.Loop() {
					for _, e := range list {
						stun.Disable(e)
					}
					for _, e := range list {
						stun.Enable(e)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N*n), "ns/call")
			})
		}
		require.NoError(b, w.Close())
	}
}
