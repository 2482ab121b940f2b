package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 2: many entities at once.
func Example_batch() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)

	ships := ecs.NewArchetype(w, position, velocity)
	fmt.Println(ships, ships == ecs.NewArchetype(w, velocity, position))

	batch, err := ships.CreateN(1000)
	if err != nil {
		fmt.Println(err) // a *ecs.LimitError: none of them is there
		return
	}
	n := 0
	for rows := range batch.Rows() {
		p, v := position.Slice(rows), velocity.Slice(rows)
		for i := range p {
			p[i].X, v[i].Y = float64(n), 1
			n++
		}
	}
	list := batch.Entities(nil)
	fmt.Println(ships.Len(), position.Get(list[999]).X)
	fmt.Print(lines64(ships.Plan()))

	w.Destroy(list[0])
	fmt.Println(caught(func() { batch.Entities(nil) }))
	// Output:
	// [Position Velocity] true
	// 1000 999
	// 16384 B chunk, 64 B lines, 408 rows of 40 B, 99.6 % used
	// offset   bytes     pad  column
	//      0    3264       0  Entity 408 x 8 B
	//   3264    6528       0  Position 408 x 16 B
	//   9792    6528       0  Velocity 408 x 16 B
	//  16320       -      64  free
	// beside the chunk: 12 B of versions, 0 B of enable masks
	// ecs: Batch.Entities: the batch of 1000 rows is no longer current: the world has changed since it was made
}
