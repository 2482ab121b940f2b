package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

type Position struct{ X, Y float64 }
type Velocity struct{ X, Y float64 }

// A million are made in one call, filled chunk by chunk, and moved by loops over
// Go slices.
func Example() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	batch, err := ecs.NewArchetype(w, position, velocity).CreateN(1_000_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	n := 0
	for rows := range batch.Rows() {
		p, v := position.Slice(rows), velocity.Slice(rows)
		for i := range p {
			p[i].X, v[i] = float64(n), Velocity{X: 1, Y: 2}
			n++
		}
	}
	movers := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	for range 10 {
		for rows := range movers.Rows() {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range p {
				p[i].X += v[i].X
				p[i].Y += v[i].Y
			}
		}
	}
	last := movers.At(movers.Count() - 1)
	fmt.Println(last, *position.Get(last))
	w.Destroy(last)
	fmt.Println(w.Alive(last), position.Get(last) == nil, movers.Count())
	// Output:
	// 1000000v1 {1.000009e+06 20}
	// false true 999999
}
