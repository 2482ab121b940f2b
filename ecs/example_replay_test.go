package ecs_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// A replay goes from one snapshot to the next. It reads only the chunks that were written in
// between, and follows the ship that had a name at that moment.
func ExampleSnapshot_RowsSince() {
	type Place struct{ X int }

	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	place := ecs.Register[Place](w, ecs.MaxRows(100))
	batch, err := ecs.NewArchetype(w, place).CreateN(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	ships := batch.Entities(nil)
	moved := ecs.NewQuery(w, ecs.Read(place), ecs.Changed(place))
	w.SetName(ships[250], "flagship")
	replay := []*ecs.Snapshot{w.Snapshot()}
	place.Set(ships[250], Place{10})
	replay = append(replay, w.Snapshot())
	w.Destroy(ships[250])
	place.Set(ships[900], Place{99})
	w.SetName(ships[900], "flagship")
	replay = append(replay, w.Snapshot())
	for i, newer := range replay[1:] {
		older := replay[i]
		chunks, rows := 0, 0
		for r := range newer.RowsSince(moved, older.Version()) {
			chunks, rows = chunks+1, rows+r.Len()
		}
		flagship, _ := newer.Named("flagship")
		then := place.Lookup(newer)
		fmt.Println(chunks, "chunk,", rows, "rows; the flagship is at", then.Get(flagship).X)
		if then.ChangedSince(flagship, older.Version()) && older.Name(flagship) == newer.Name(flagship) {
			fmt.Println("and came from", place.Lookup(older).Get(flagship).X)
		}
	}
	for _, s := range replay {
		s.Close()
	}
	// Output:
	// 1 chunk, 100 rows; the flagship is at 10
	// and came from 0
	// 1 chunk, 99 rows; the flagship is at 99
}
