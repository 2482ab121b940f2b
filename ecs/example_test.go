package ecs_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/layout"
)

type Position struct{ X, Y float64 }
type Velocity struct{ X, Y float64 }

func Example() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	movers := ecs.NewArchetype(w, position, velocity)
	batch, err := movers.CreateN(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	for rows := range batch.Rows() {
		v := velocity.Slice(rows)
		for i := range v {
			v[i] = Velocity{1, 2}
		}
	}
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	for range 10 {
		for rows := range q.Rows() {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range p {
				p[i].X += v[i].X
				p[i].Y += v[i].Y
			}
		}
	}
	e := movers.Create()
	fmt.Println(e, *position.Get(e))
	w.Destroy(e)
	fmt.Println(w.Alive(e), position.Get(e) == nil, q.Count())
	// Output:
	// 1001v1 {0 0}
	// false true 1000
}

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
