package job_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
)

// BenchmarkEmpty schedules and completes a job without rows.
func BenchmarkEmpty(b *testing.B) {
	w := newWorld(b)
	s := job.NewScheduler(w.World)
	defer s.Close()
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.target), ecs.Read(w.position)))
	b.ReportAllocs()
	for b.Loop() {
		if j.Parallel(nothing).Complete() != nil {
			b.Fatal("an error")
		}
	}
}

// BenchmarkCheap adds velocities to 1,000 positions: by a loop, by a job, and by one with labels.
func BenchmarkCheap(b *testing.B) {
	w := newWorld(b)
	w.fill(b, 1000)
	q := ecs.NewQuery(w.World, ecs.Write(w.position), ecs.Read(w.velocity))
	body := func(c *job.Ctx, rows ecs.Rows) {
		p, v := w.position.Slice(rows), w.velocity.Slice(rows)
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			for rows := range q.Rows() {
				body(nil, rows)
			}
		}
	})
	for name, label := range map[string]context.Context{"job": nil, "labelled": of("move")} {
		b.Run(name, func(b *testing.B) {
			s := job.NewScheduler(w.World)
			defer s.Close()
			s.Label(label)
			j := s.For(q)
			b.ReportAllocs()
			for b.Loop() {
				if j.Parallel(body).Complete() != nil {
					b.Fatal("an error")
				}
			}
		})
	}
}

// BenchmarkBound computes for some 50 ns with each row, on one worker and on two.
func BenchmarkBound(b *testing.B) {
	for _, n := range []int{1000, 4000, 16_000, 100_000} {
		w := newWorld(b)
		w.fill(b, n)
		q := ecs.NewQuery(w.World, ecs.Write(w.position), ecs.Read(w.velocity))
		body := func(c *job.Ctx, rows ecs.Rows) {
			p, v := w.position.Slice(rows), w.velocity.Slice(rows)
			for i := range p {
				x := v[i].X
				for range 20 {
					x = math.Sqrt(x*x + p[i].X)
				}
				p[i].Y = x
			}
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/workers=%d", n, workers), func(b *testing.B) {
				s := job.NewScheduler(w.World, job.Workers(workers))
				defer s.Close()
				j := s.For(q)
				b.ReportAllocs()
				for b.Loop() {
					if j.Parallel(body).Complete() != nil {
						b.Fatal("an error")
					}
				}
			})
		}
	}
}
