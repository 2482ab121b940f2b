package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Guards walk until they are tired, and rest until they are fresh. The loop takes both by Present,
// and asks for and switches the bits of its rows without a look-up.
func ExampleComponent_EnableAt() {
	type Energy struct{ Points int }
	type Walk struct{ Metres int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	energy, walk := ecs.Register[Energy](w), ecs.Register[Walk](w, ecs.Enableable)
	guards := ecs.NewArchetype(w, energy, walk)
	for points := range 3 {
		energy.Set(guards.Create(), Energy{points + 1})
	}
	all := ecs.NewQuery(w, ecs.Write(energy), ecs.Present(ecs.Write(walk)))
	walking := ecs.NewQuery(w, ecs.Read(walk))
	for hour := range 5 {
		for rows := range all.Rows() {
			e, k := energy.Slice(rows), walk.Slice(rows)
			for i := range e {
				if walk.EnabledAt(rows, i) {
					k[i].Metres += 3000
					if e[i].Points--; e[i].Points == 0 {
						walk.DisableAt(rows, i)
					}
				} else if e[i].Points++; e[i].Points == 3 {
					walk.EnableAt(rows, i)
				}
			}
		}
		fmt.Println("hour", hour, energy.Values(all, nil), walking.Count(), "walk")
	}
	// Output:
	// hour 0 [{0} {1} {2}] 2 walk
	// hour 1 [{1} {0} {1}] 1 walk
	// hour 2 [{2} {1} {0}] 0 walk
	// hour 3 [{3} {2} {1}] 1 walk
	// hour 4 [{2} {3} {2}] 2 walk
}
