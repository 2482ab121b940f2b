package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A struct names what a loop works on, and one of values what entities begin with.
func ExampleView() {
	type Hull struct{ Points int }
	type Ship struct {
		Position
		V    Velocity
		Hull *Hull // nil: none
	}
	type Mover struct {
		P ecs.W[Position]
		V ecs.R[Velocity]
		H ecs.R[Hull] `ecs:"optional"`
	}
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	ecs.Register[Position](w)
	ecs.Register[Velocity](w)
	ecs.Register[Hull](w)

	ships := ecs.NewBundle[Ship](w)
	raft := ships.Create(Ship{V: Velocity{1, 0}})
	barge := ships.Create(Ship{V: Velocity{0, 2}, Hull: &Hull{100}})

	movers := ecs.NewView[Mover](w)
	for rows, m := range movers.Rows() {
		for i := range rows.Each() {
			m.P[i].X += m.V[i].X
			m.P[i].Y += m.V[i].Y
		}
		fmt.Println(rows.Len(), "ship, hull", m.H)
	}
	for _, m := range movers.List(nil, []ecs.Entity{barge, raft, barge}) {
		m.P[0].X++ // of one entity each
	}
	for _, e := range []ecs.Entity{raft, barge} {
		s, _ := ships.Get(e)
		fmt.Println(s.Position, s.V, s.Hull != nil)
	}
	// Output:
	// 1 ship, hull []
	// 1 ship, hull [{100}]
	// {2 0} {1 0} false
	// {2 2} {0 2} true
}
