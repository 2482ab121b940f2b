package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Passengers go from the world of one zone to the world of another. New entities are a batch and
// arrivals are one too, so one function receives both.
func ExampleWorld_MoveQuery() {
	type Place struct{ X int }
	type Aboard struct{}

	harbour, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer harbour.Close()
	island, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer island.Close()
	there, aboard := ecs.Register[Place](harbour), ecs.Register[Aboard](harbour)
	here := ecs.Register[Place](island)
	receive := func(b ecs.Batch) {
		for rows := range b.Rows() {
			p := here.Slice(rows)
			for i := range p {
				p[i] = Place{X: -1} // on the pier
			}
		}
		fmt.Println("received", b.Len())
	}
	made, err := ecs.NewArchetype(island, here).CreateN(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	receive(made)

	passengers := ecs.NewArchetype(harbour, there, aboard)
	ann := passengers.Create()
	there.Set(ann, Place{X: 500})
	passengers.Create()
	ecs.NewArchetype(harbour, there).Create() // stays
	moved, err := island.MoveQuery(ecs.NewQuery(harbour, ecs.With(aboard)))
	if err != nil {
		fmt.Println(err)
		return
	}
	receive(moved.Batch)
	fmt.Println(harbour.Alive(ann), *here.Get(moved.Of(ann)), harbour.Stats().Alive, "left")
	// Output:
	// received 2
	// received 2
	// false {-1} 1 left
}
