package guide_test

import (
	"fmt"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// Page 14: data of one's own in systems.
func Example_resource() {
	type Wind struct { // one for all systems: a Go struct around a large array off the heap
		Cells []float64
	}

	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	boats, _ := ecs.NewArchetype(w, position).CreateN(10_000)
	for i, e := range boats.Entities(nil) {
		position.Set(e, Position{X: float64(i)})
	}

	pages := alloc.NewPages()
	cells, _ := alloc.MakeSlice[float64](pages, 1<<20, 1<<20) // 8 MiB that the collector never sees
	wind := &Wind{Cells: cells}

	systems := system.New(w)
	system.SetResource(systems, wind) // before the systems that ask for it
	systems.Add("weather", system.Make(func(s *system.State) func() {
		wind := system.Resource[Wind](s) // may write it: jobs that read it are completed first
		return func() {
			for i := range wind.Cells {
				wind.Cells[i] = float64(s.Time().Frame)
			}
		}
	}))
	systems.Add("drift", system.Make(func(s *system.State) func() {
		wind := system.ReadResource[Wind](s)
		way := job.NewPartials[float64]() // a sum per part of the job
		drift := s.For(s.Query(ecs.Write(position))).Reduces(way)
		paths := make([][]int, s.Systems().Scheduler().Workers()) // scratch memory per worker
		body := func(c *job.Ctx, rows ecs.Rows) {
			p, sum, path := position.Slice(rows), way.At(c), paths[c.Worker()][:0]
			for i := range rows.Each() {
				cell := int(p[i].X)
				p[i].X += wind.Cells[cell]
				*sum += wind.Cells[cell]
				path = append(path, cell)
			}
			paths[c.Worker()] = path // keeps what it grew to
		}
		return func() {
			if err := drift.Run(body); err != nil { // waits, so that the partials are complete
				panic(err)
			}
			fmt.Println(way.Fold(0, func(sum, next float64) float64 { return sum + next }))
		}
	}), system.After("weather"))
	fmt.Println(systems.Step(time.Second/60), systems.Step(time.Second/60))
	fmt.Println(systems.Close())
	alloc.FreeSlice(pages, cells) // when no system uses it any more
	fmt.Println(pages.Close())
	// Output:
	// 10000
	// 20000
	// <nil> <nil>
	// <nil>
	// <nil>
}
