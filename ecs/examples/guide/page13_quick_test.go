package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 13: one call for many.
func Example_quick() {
	type Sail struct{ Cloth int }
	type Ship struct {
		Position Position
		Velocity Velocity
		Sail     Sail
	}

	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	sail := ecs.Register[Sail](w, ecs.Enableable)

	ships := ecs.NewBundle[Ship](w)
	flagship := ships.Create(Ship{Position{X: 1}, Velocity{X: 2}, Sail{900}})
	fmt.Println(ships.Get(flagship))
	captain := ecs.NewArchetype(w, position).Create()
	position.Set(captain, Position{X: 4})

	fleet := ecs.NewArchetype(w, position, velocity, sail)
	batch, err := fleet.CreateN(1000, ecs.Uninitialized(position))
	for rows := range batch.Rows() {
		for i := range position.Slice(rows) {
			position.Slice(rows)[i] = Position{Y: 5}
		}
	}
	fmt.Println(batch.Len(), err)

	list := batch.Entities(nil)[10:20]
	for _, p := range position.MutList(nil, list) { // nil where an entity lacks it
		p.X = 7
	}
	values := make([]Position, len(list))
	missing := position.CopyList(values, list)
	fmt.Println(missing, values[9], *position.GetList(nil, list)[0])

	positions, velocities := position.DirectMut(), velocity.Direct() // until the next structural change
	for _, e := range list {
		at := positions.Locate(e)
		positions.At(at).X += velocities.At(at).X + 1
	}
	fmt.Println(*positions.Get(list[0]))

	type place struct{ Position ecs.R[Position] }
	captains := ecs.NewView[place](w, ecs.Without(sail))
	for c := captains.Cursor(); c.Next(); { // Close it where the loop is left early
		fmt.Println(c.At().Position, c.Rows().Len())
	}

	fmt.Println(sail.DisableList(list), w.DestroyList(list[:4]))
	furled := ecs.NewQuery(w, ecs.Disabled(sail))
	fmt.Println(furled.Count(), sail.EnableQuery(furled), furled.Count())
	change := ecs.NewChange(w, ecs.Remove(velocity))
	stopped, err := change.ApplyQuery(ecs.NewQuery(w, ecs.With(velocity)))
	fmt.Println(stopped.Len(), err)
	// Output:
	// {{1 0} {2 0} {900}} true
	// 1000 <nil>
	// 0 {7 5} {7 5}
	// {8 5}
	// [{4 0}] 1
	// 10 4
	// 6 6 0
	// 997 <nil>
}
