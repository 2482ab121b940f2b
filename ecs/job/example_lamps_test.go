package job_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/job"
)

// The night goes along a street. Bodies of a job switch the lamps of their own rows, in a view of
// the job's query; another view reads the bits of all lamps, lit or not.
func ExampleJob_Parallel() {
	type Place struct{ X int }
	type Lamp struct{ Switched int }
	type Street struct {
		Place ecs.R[Place]
		Lamp  ecs.W[Lamp]
		Lit   ecs.BitsW[Lamp]
	}
	type Map struct {
		Lit ecs.Bits[Lamp]
	}
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	place, lamp := ecs.Register[Place](w), ecs.Register[Lamp](w, ecs.Enableable)
	lamps := ecs.NewArchetype(w, place, lamp)
	for x := range 20 {
		place.Set(lamps.Create(), Place{x})
	}
	street, lights := ecs.NewView[Street](w), ecs.NewView[Map](w)
	s := job.NewScheduler(w)
	defer s.Close()
	turn := s.For(street.Query()).Named("turn")
	for hour := range 4 {
		dusk, dawn := 8*hour, 8*(hour-1)
		turn.Parallel(func(_ *job.Ctx, rows ecs.Rows) {
			v := street.At(rows)
			for i, p := range v.Place {
				dark := p.X >= dawn && p.X < dusk
				switch {
				case dark == v.Lit.Enabled(i):
					continue
				case dark:
					v.Lit.Enable(i)
				default:
					v.Lit.Disable(i)
				}
				v.Lamp[i].Switched++
			}
		})
		if err := s.Complete(); err != nil {
			fmt.Println(err)
		}
		for rows, v := range lights.Rows() {
			line := make([]byte, rows.Len())
			for i := range line {
				line[i] = '.'
				if v.Lit.Enabled(i) {
					line[i] = '*'
				}
			}
			fmt.Println(string(line))
		}
	}
	// Output:
	// ....................
	// ********............
	// ........********....
	// ................****
}
