package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 4: what moves rows, and what that makes void.
func Example_change() {
	type Cargo struct{ Tons int }

	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	cargo := ecs.Register[Cargo](w)
	batch, _ := ecs.NewArchetype(w, position, velocity).CreateN(4)
	ships := batch.Entities(nil)

	fmt.Println(cargo.Add(ships[0], Cargo{Tons: 7}), cargo.Add(ships[0], Cargo{Tons: 9}))
	fmt.Println(*cargo.Get(ships[0]), velocity.Remove(ships[1]), velocity.Has(ships[1]))

	load := ecs.NewChange(w, ecs.Add(cargo), ecs.Remove(velocity)) // one move
	sailing := ecs.NewQuery(w, ecs.With(velocity))
	loaded, err := load.ApplyQuery(sailing) // all of them or none
	fmt.Println(loaded.Len(), err, sailing.Count())

	laden := ecs.NewQuery(w, ecs.Read(cargo))
	var sink []ecs.Entity
	for rows := range laden.Rows() {
		for i, c := range cargo.Slice(rows) {
			if c.Tons > 5 {
				sink = append(sink, rows.Entities()[i])
			}
		}
	}
	fmt.Println(w.DestroyList(sink), "sunk")

	var kept ecs.Rows
	for rows := range laden.Rows() {
		fmt.Println(caught(func() { w.Destroy(ships[2]) }))
		kept = rows
		break
	}
	fmt.Println(caught(func() { cargo.Slice(kept) }))
	// Output:
	// true false
	// {7} true false
	// 3 <nil> 0
	// 1 sunk
	// ecs: World.Destroy: structural change inside a loop over query(Read Cargo); gather the entities and change them after the loop
	// ecs: Component.Slice: the rows are no longer current: the loop that gave them has gone on or ended
}
