package job_test

import (
	"fmt"
	"sync/atomic"

	"quarry/ecs"
	"quarry/ecs/job"
)

// No two medics have the same patient, so the bodies of a job may write to the patients by look-up:
// their points, and the bit by which a patient is up or down.
func ExampleJob_Exclusive() {
	type Treats struct {
		Patient ecs.Entity
		Dose    int
	}
	type Health struct{ Points int }
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	treats, health := ecs.Register[Treats](w), ecs.Register[Health](w, ecs.Enableable)
	patients, medics := ecs.NewArchetype(w, health), ecs.NewArchetype(w, treats)
	var list []ecs.Entity
	for i := range 4 {
		list = append(list, patients.Create())
		health.Set(list[i], Health{10 * i})
		treats.Set(medics.Create(), Treats{Patient: list[i], Dose: 5 - 10*(i%2)}) // every other one errs
	}
	health.Disable(list[0])
	w.Destroy(list[3])
	s := job.NewScheduler(w)
	defer s.Close()
	var idle atomic.Int32
	treat := s.For(ecs.NewQuery(w, ecs.Read(treats))).Named("treat").Exclusive(ecs.Write(health))
	up := ecs.NewQuery(w, ecs.Read(health))
	for range 3 {
		treat.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			l := health.Lookup(c.Accessor())
			for _, t := range treats.Slice(rows) {
				if !l.Has(t.Patient) { // dead
					idle.Add(1)
					continue
				}
				h := l.Mut(t.Patient)
				h.Points += t.Dose
				switch up := l.Enabled(t.Patient); {
				case up && h.Points <= 0:
					l.Disable(t.Patient)
				case !up && h.Points > 0:
					l.Enable(t.Patient)
				}
			}
		})
		if err := s.Complete(); err != nil {
			fmt.Println(err)
		}
		fmt.Println(up.Count(), "up,", idle.Swap(0), "idle")
	}
	// Output:
	// 3 up, 1 idle
	// 2 up, 1 idle
	// 2 up, 1 idle
}
