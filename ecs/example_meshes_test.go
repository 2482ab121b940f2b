package ecs_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// A renderer keeps a mesh for each chunk of stones. It builds a mesh anew where stones came, left
// or moved, and drops those whose chunks are gone.
func ExampleRows_Ordered() {
	type Place struct{ X int }

	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	place := ecs.Register[Place](w, ecs.MaxRows(64)) // a mesh has 64 stones at most
	stones := ecs.NewArchetype(w, place)
	batch, err := stones.CreateN(250)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, all := batch.Entities(nil), ecs.NewQuery(w, ecs.Read(place))
	var meshes [][]Place
	built := uint32(0)
	build := func(why string) {
		for len(meshes) < stones.Chunks() {
			meshes = append(meshes, nil)
		}
		meshes = meshes[:stones.Chunks()]
		var anew []int
		for rows := range all.Rows() {
			at := rows.Chunk()
			if rows.Ordered(built) || place.Changed(rows, built) {
				meshes[at] = append(meshes[at][:0], place.Slice(rows)...)
				anew = append(anew, at)
			}
		}
		built = w.Version()
		w.Advance()
		fmt.Println(why, "builds", anew, "of", len(meshes))
	}
	build("the start")
	build("nothing")
	place.Set(list[100], Place{X: 7})
	build("a move")
	w.Destroy(list[10]) // the last row takes its place
	build("an end")
	w.DestroyList(list[150:])
	build("a landslide")
	fmt.Println(len(meshes[1]), meshes[1][100-64])
	// Output:
	// the start builds [0 1 2 3] of 4
	// nothing builds [] of 4
	// a move builds [1] of 4
	// an end builds [0 3] of 4
	// a landslide builds [0 2] of 3
	// 64 {7}
}
