package guide_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// Page 8: loops over what was written since they last ran.
func Example_version() {
	w, _ := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1))) // small chunks: fine versions
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	type Cargo struct{ Tons [3]float64 } // 64 bytes a row: chunks of 256 rows, however long cache lines are
	batch, _ := ecs.NewArchetype(w, position, velocity, ecs.Register[Cargo](w)).CreateN(1000)
	ships := batch.Entities(nil)

	moved := ecs.NewQuery(w, ecs.Read(position), ecs.Changed(position))
	report := func(when string) {
		chunks, rows := 0, 0
		for r := range moved.Rows() {
			chunks, rows = chunks+1, rows+r.Count()
		}
		fmt.Println(when, chunks, "chunks,", rows, "rows")
	}
	report("at first:  ")
	report("nothing:   ")
	position.Set(ships[500], Position{X: 1})
	report("one is set:")

	all := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	for rows := range all.Rows() {
		position.Slice(rows) // marks the chunk, written or not
	}
	report("sliced:    ")
	for rows := range all.Rows() {
		for _, p := range position.ReadOnly(rows) { // reads without a mark
			if p.X > 0 {
				position.Mark(rows)
			}
		}
	}
	report("marked one:")

	p := position.Mut(ships[0])
	report("mut:       ")
	p.X = 9 // too late: the mark was set when the pointer was taken
	report("written:   ")

	type Heading float32
	heading := ecs.Register[Heading](w, ecs.TrackRows)
	all = ecs.NewQuery(w, ecs.Write(heading))
	turned := ecs.NewQuery(w, ecs.Read(heading), ecs.Changed(heading).Masked())
	ecs.NewChange(w, ecs.Add(heading)).ApplyList(ships)
	fmt.Println("added:", turned.Count())
	for range turned.Rows() { // Since moves to now
	}
	heading.Set(ships[500], 90)
	for rows := range all.Rows() {
		heading.MarkAt(rows, 0) // one row of each chunk; Slice of Write marks all
	}
	fmt.Println("turned:", turned.Count())
	// Output:
	// at first:   4 chunks, 1000 rows
	// nothing:    0 chunks, 0 rows
	// one is set: 1 chunks, 256 rows
	// sliced:     4 chunks, 1000 rows
	// marked one: 1 chunks, 256 rows
	// mut:        1 chunks, 256 rows
	// written:    0 chunks, 0 rows
	// added: 1000
	// turned: 6
}
