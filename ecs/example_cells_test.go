package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// Birds of one cell of a grid lie together in memory, because the cell is a shared value:
// who looks for neighbours loops over the chunks of nine cells and sees no other bird. Only
// birds that cross a border move.
func ExampleShared() {
	type Position struct{ X, Y float32 }
	type Cell struct{ X, Y int }
	const side = 10 // metres

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, cell := ecs.Register[Position](w), ecs.RegisterShared[Cell](w)
	cellOf := func(p Position) Cell { return Cell{int(p.X / side), int(p.Y / side)} }
	birds := ecs.NewArchetype(w, position, cell)
	for i := range 100 {
		p := Position{float32(i), float32(i * i % 100)}
		e := birds.With(cell.Of(cellOf(p))).Create()
		position.Set(e, p)
	}

	all := ecs.NewQuery(w, ecs.Write(position))
	var crossing []ecs.Entity
	for rows := range all.Rows() {
		p, ids := position.Slice(rows), rows.Entities()
		here, _ := cell.At(rows) // one value for all of the rows
		for i := range p {
			if p[i].X += 3; cellOf(p[i]) != here {
				crossing = append(crossing, ids[i])
			}
		}
	}
	for _, e := range crossing {
		cell.Set(e, cellOf(*position.Get(e)))
	}

	near := 0
	for dx := range 3 {
		for dy := range 3 {
			for rows := range all.Where(cell.Of(Cell{4 + dx, 4 + dy})) {
				near += rows.Len()
			}
		}
	}
	fmt.Println(len(crossing), "crossed a border,", len(cell.Values(nil)), "cells have birds")
	fmt.Println(near, "birds in the nine cells around (5, 5)")
	// Output:
	// 30 crossed a border, 63 cells have birds
	// 9 birds in the nine cells around (5, 5)
}
