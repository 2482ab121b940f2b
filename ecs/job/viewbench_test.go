package job_test

import (
	"math"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"
)

// part is one of five more columns.
type part[T any] struct{ X, Y float64 }

// pair and six are the views of the bodies.
type (
	pair struct {
		P ecs.W[Position]
		V ecs.R[Velocity]
	}
	six struct {
		P ecs.W[Position]
		V ecs.R[Velocity]
		A ecs.R[part[int8]]
		B ecs.R[part[int16]]
		C ecs.R[part[int32]]
		D ecs.W[part[int64]]
	}
)

// step2 and step6 are one body each for both ways, so that the loops lie alike in the cache of
// instructions: what is compared is how the slices come.
//
//go:noinline
func step2(p []Position, v []Velocity) {
	v = v[:len(p)]
	for i := range p {
		p[i].X += v[i].X
		p[i].Y += v[i].Y
	}
}

//go:noinline
func step6(p []Position, v []Velocity, a []part[int8], b []part[int16], c []part[int32], d []part[int64]) {
	v, a, b, c, d = v[:len(p)], a[:len(p)], b[:len(p)], c[:len(p)], d[:len(p)]
	for i := range p {
		p[i].X += v[i].X + a[i].X
		p[i].Y += v[i].Y + b[i].Y
		d[i].X += c[i].X
	}
}

// BenchmarkViewInBodies compares a view with a slice for each type in the bodies of jobs over 1,000
// rows, in turns of 200 jobs. The ratio is of the shortest turns.
func BenchmarkViewInBodies(b *testing.B) {
	w := newWorld(b)
	pa := ecs.Register[part[int8]](w.World)
	pb := ecs.Register[part[int16]](w.World)
	pc := ecs.Register[part[int32]](w.World)
	pd := ecs.Register[part[int64]](w.World)
	for _, a := range []*ecs.Archetype{ecs.NewArchetype(w.World, w.position, w.velocity),
		ecs.NewArchetype(w.World, w.position, w.velocity, pa, pb, pc, pd)} {
		if _, err := a.CreateN(1000); err != nil {
			b.Fatal(err)
		}
	}
	s := job.NewScheduler(w.World, job.Workers(1))
	defer s.Close()
	two, many := ecs.NewView[pair](w.World, ecs.Without(pa)), ecs.NewView[six](w.World)
	for name, bodies := range map[string]struct {
		q           *ecs.Query
		slice, view func(*job.Ctx, ecs.Rows)
	}{
		"types=2": {two.Query(),
			func(_ *job.Ctx, rows ecs.Rows) { step2(w.position.Slice(rows), w.velocity.Slice(rows)) },
			func(_ *job.Ctx, rows ecs.Rows) { m := two.At(rows); step2(m.P, m.V) }},
		"types=6": {many.Query(),
			func(_ *job.Ctx, rows ecs.Rows) {
				step6(w.position.Slice(rows), w.velocity.Slice(rows), pa.Slice(rows), pb.Slice(rows), pc.Slice(rows),
					pd.Slice(rows))
			},
			func(_ *job.Ctx, rows ecs.Rows) { m := many.At(rows); step6(m.P, m.V, m.A, m.B, m.C, m.D) }},
	} {
		b.Run(name, func(b *testing.B) {
			j := s.For(bodies.q)
			best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			const jobs = 200
			for b.Loop() {
				for way, body := range []func(*job.Ctx, ecs.Rows){bodies.slice, bodies.view} {
					start := time.Now()
					for range jobs {
						if j.Parallel(body).Complete() != nil {
							b.Fatal("an error")
						}
					}
					best[way] = min(best[way], time.Since(start))
				}
			}
			b.ReportMetric(float64(best[0].Nanoseconds())/jobs, "ns/slices")
			b.ReportMetric(float64(best[1].Nanoseconds())/jobs, "ns/view")
			b.ReportMetric(float64(best[1])/float64(best[0]), "view/slices")
		})
	}
}
