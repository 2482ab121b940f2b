package system_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// BenchmarkFrame is a frame of systems that do nothing, beside the default groups and points.
func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{0, 10, 100, 1000} {
		b.Run(fmt.Sprint("systems=", n), func(b *testing.B) {
			w, err := ecs.NewWorld()
			require.NoError(b, err)
			defer w.Close()
			systems := system.New(w)
			defer systems.Close()
			for i := range n {
				systems.Add(fmt.Sprint("s", i), system.Func(func(*system.State) {}))
			}
			require.NoError(b, systems.Step(frame))
			b.ReportAllocs()
			for b.Loop() {
				_ = systems.Step(frame)
			}
		})
	}
}

// BenchmarkSystems compares a loop and a job as systems with the same without systems: 1,000 rows.
func BenchmarkSystems(b *testing.B) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	p, v := ecs.Register[position](w), ecs.Register[velocity](w)
	_, err = ecs.NewArchetype(w, p, v).CreateN(1000)
	require.NoError(b, err)
	systems := system.New(w)
	defer systems.Close()
	loop := func(rows ecs.Rows) {
		ps, vs := p.Slice(rows), v.Slice(rows)
		for i := range ps {
			ps[i].X += vs[i].X
		}
	}
	add := func(name string, make func(s *system.State) func()) {
		systems.Add(name, system.Make(make)).Disable()
	}
	add("loop", func(s *system.State) func() {
		q := s.Query(ecs.Write(p), ecs.Read(v))
		return func() {
			for rows := range q.Rows() {
				loop(rows)
			}
		}
	})
	add("job", func(s *system.State) func() {
		j := s.For(s.Query(ecs.Write(p), ecs.Read(v)))
		body := func(_ *job.Ctx, rows ecs.Rows) { loop(rows) }
		return func() { j.Parallel(body) }
	})
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
	q := ecs.NewQuery(w, ecs.Write(p), ecs.Read(v))
	run("loop/alone", func() {
		for rows := range q.Rows() {
			loop(rows)
		}
	})
	for _, name := range []string{"loop", "job"} {
		systems.Find(name).Enable()
		run(name+"/system", func() { _ = systems.Step(frame) })
		systems.Find(name).Disable()
	}
	run("nothing/systems", func() { _ = systems.Step(frame) })
}

// BenchmarkOverlap is two systems with a job each for one worker, some 0.4 ms long: with types of
// their own, so that they run at the same time, and where the second reads what the first writes.
func BenchmarkOverlap(b *testing.B) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	p, v := ecs.Register[position](w), ecs.Register[velocity](w)
	_, err = ecs.NewArchetype(w, p, v).CreateN(4000)
	require.NoError(b, err)
	systems := system.New(w, system.Jobs(job.Workers(2)))
	defer systems.Close()
	add := func(name string, body func(_ *job.Ctx, rows ecs.Rows), terms ...ecs.Term) {
		systems.Add(name, system.Make(func(s *system.State) func() {
			j := s.For(s.Query(terms...))
			return func() { j.Schedule(body) }
		}))
	}
	moved := func(_ *job.Ctx, rows ecs.Rows) {
		ps := p.Slice(rows)
		for i := range ps {
			ps[i].X = grind(ps[i].X)
		}
	}
	turned := func(_ *job.Ctx, rows ecs.Rows) {
		vs := v.Slice(rows)
		for i := range vs {
			vs[i].X = grind(vs[i].X)
		}
	}
	add("move", moved, ecs.Write(p))
	add("turn", turned, ecs.Write(v))
	add("turn after move", turned, ecs.Write(v), ecs.Read(p))
	for _, of := range [][2]string{{"together", "turn after move"}, {"one after the other", "turn"}} {
		b.Run(of[0], func(b *testing.B) {
			systems.Find(of[1]).Disable()
			for b.Loop() {
				_ = systems.Step(frame)
			}
			systems.Find(of[1]).Enable()
		})
	}
}

// grind is some 100 ns of arithmetic.
func grind(x float64) float64 {
	for range 100 {
		x = x*0.5 + 1
	}
	return x
}
