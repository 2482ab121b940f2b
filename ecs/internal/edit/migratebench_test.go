package edit_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
)

// BenchmarkWorlds: ns an entity of a million with two components and a link: to another world of
// the same universe and back, to one of another universe and back, and a clone.
func BenchmarkWorlds(b *testing.B) {
	const n = 1 << 20
	fill := func(b *testing.B, w *ecs.World) {
		owner := ecs.Register[ecstest.Owner](w)
		batch, err := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), owner).CreateN(n)
		if err != nil {
			b.Fatal(err)
		}
		for rows := range batch.Rows() {
			o, e := owner.Slice(rows), rows.Entities()
			for i := range o {
				o[i].Of = e[len(e)-1-i]
			}
		}
	}
	universe := func(b *testing.B) ecs.Option {
		u, err := alloc.NewUniverse()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { u.Close() })
		return ecs.WithUniverse(u)
	}
	move := func(b *testing.B, from, to *ecs.World) {
		for b.Loop() {
			if _, err := to.MoveAll(from); err != nil {
				b.Fatal(err)
			}
			from, to = to, from
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
	}
	b.Run("move, one universe", func(b *testing.B) {
		u := universe(b)
		from, to := ecstest.NewWorld(b, u), ecstest.NewWorld(b, u)
		fill(b, from)
		move(b, from, to)
	})
	b.Run("move, two universes", func(b *testing.B) {
		from, to := ecstest.NewWorld(b), ecstest.NewWorld(b)
		fill(b, from)
		move(b, from, to)
	})
	b.Run("clone", func(b *testing.B) {
		w := ecstest.NewWorld(b)
		fill(b, w)
		for b.Loop() {
			c, err := w.Clone()
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			c.Close()
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entity")
	})
}
