package guide_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/layout"
)

// Position and Velocity are components of all pages.
type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
)

// caught returns what f panics with: a page shows the text of a mistake by it.
func caught(f func()) (what any) {
	defer func() { what = recover() }()
	f()
	return nil
}

// lines64 returns the plan of a machine whose cache lines have 64 bytes, as most have.
func lines64(p layout.Plan) layout.Plan {
	columns := make([]layout.Column, len(p.Places))
	for i, place := range p.Places {
		columns[i] = place.Column
	}
	p, _ = layout.New(columns, layout.Options{CacheLine: 64})
	return p
}

// Page 1: a world, two types and one entity.
func Example_world() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position := ecs.Register[Position](w)
	velocity := ecs.Register[Velocity](w)

	type Ship struct {
		Position Position
		Velocity Velocity
	}
	ships := ecs.NewBundle[Ship](w)
	ship := ships.Create(Ship{Position{X: 1, Y: 2}, Velocity{X: 3}})

	position.Set(ship, Position{X: 5})
	velocity.Mut(ship).Y = 4
	buoy := ecs.NewArchetype(w, position).Create()
	fmt.Println(ship, *position.Get(ship), *velocity.Get(ship), buoy, *position.Get(buoy))

	fmt.Println(w.Destroy(ship), w.Destroy(ship))
	fmt.Println(w.Alive(ship), position.Get(ship), position.Set(ship, Position{}))

	type Captain struct{ Name string }
	fmt.Println(caught(func() { ecs.Register[Captain](w) }))
	// Output:
	// 1v1 {5 0} {3 4} 2v1 {0 0}
	// true false
	// false <nil> false
	// ecs: Register[Captain]: Captain.Name is a string; components must hold no Go pointers, for they lie outside the garbage collector's heap; RegisterManaged takes any type
}
