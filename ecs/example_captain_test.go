package ecs_test

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// A camera looks at the captain. While there is none, or there are two, it stays where it is; a
// captain without a place is a mistake of the program.
func ExampleQuery_Single() {
	type Captain struct{}
	type Place struct{ X int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	captain, place := ecs.Register[Captain](w), ecs.Register[Place](w)
	ann, bob := ecs.NewArchetype(w, place).Create(), ecs.NewArchetype(w).Create()
	place.Set(ann, Place{7})
	captains := ecs.NewQuery(w, ecs.With(captain))
	look := func() error {
		e, err := captains.Single()
		if err != nil {
			return fmt.Errorf("camera: %w", err)
		}
		p := place.Get(e)
		if p == nil {
			return fmt.Errorf("camera: the captain %v has no place", e)
		}
		fmt.Println("look at", p.X)
		return nil
	}
	frame := func() {
		switch err := look(); {
		case errors.Is(err, ecs.ErrNotSingle):
			fmt.Println("stay,", err)
		case err != nil:
			fmt.Println("end,", err)
		}
	}
	frame()
	captain.Add(ann, Captain{})
	frame()
	captain.Add(bob, Captain{})
	frame()
	captain.Remove(ann)
	frame()
	// Output:
	// stay, camera: ecs: Query.Single: query(With Captain) matches 0: not exactly one entity
	// look at 7
	// stay, camera: ecs: Query.Single: query(With Captain) matches 2: not exactly one entity
	// end, camera: the captain 2v1 has no place
}
