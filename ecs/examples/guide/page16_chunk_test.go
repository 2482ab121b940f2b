package guide_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// fill sets X of the batch's rows to x, x + 1 and so on.
func fill(batch ecs.Batch, position ecs.Component[Position], x float64) {
	for rows := range batch.Rows() {
		for i := range position.Slice(rows) {
			position.Slice(rows)[i].X = x
			x++
		}
	}
}

// Page 16: a value for each chunk, and chunks that a loop passes over.
func Example_chunk() {
	type Box struct{ Least, Greatest float64 }
	type Docked struct{}
	type Hull struct{ Plates [5]float64 } // 64 bytes a row: chunks of 256 rows, however long cache lines are

	w, _ := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1))) // chunks of 16 KiB
	defer w.Close()
	position, hull, docked := ecs.Register[Position](w), ecs.Register[Hull](w), ecs.Register[Docked](w)
	box := ecs.RegisterChunk[Box](w, ecs.Merge(func(into, from *Box) {
		into.Least, into.Greatest = min(into.Least, from.Least), max(into.Greatest, from.Greatest)
	}))
	sea, _ := ecs.NewArchetype(w, position, hull, box).CreateN(900)
	fill(sea, position, 0)
	ships := sea.Entities(nil)
	port, _ := ecs.NewArchetype(w, position, hull, box, docked).CreateN(100)
	fill(port, position, 5000)

	stale := ecs.NewQuery(w, ecs.Read(position), ecs.Write(box), ecs.Changed(position, box), ecs.Ordered())
	update := func() (chunks int) {
		for rows := range stale.Rows() {
			b := box.At(rows)
			b.Least, b.Greatest = position.ReadOnly(rows)[0].X, position.ReadOnly(rows)[0].X
			for _, p := range position.ReadOnly(rows) {
				b.Least, b.Greatest = min(b.Least, p.X), max(b.Greatest, p.X)
			}
			chunks++
		}
		return chunks
	}
	fmt.Println(update(), update())
	position.Mut(ships[300]).X = 2000
	fmt.Println(update(), *box.Get(ships[0]), *box.Get(ships[300]))

	boxes := ecs.NewQuery(w, ecs.Read(position), ecs.Read(box))
	near := 0
	for rows := range boxes.Rows() {
		if b := box.At(rows); b.Greatest < 100 || b.Least > 110 {
			continue // no ship of the chunk is near
		}
		for _, p := range position.Slice(rows) {
			if p.X >= 100 && p.X <= 110 {
				near++
			}
		}
	}
	fmt.Println(near, "near")

	_, err := ecs.NewChange(w, ecs.Remove(docked)).ApplyQuery(ecs.NewQuery(w, ecs.With(docked)))
	fmt.Println(err, *box.Get(ships[899])) // the docked ships, from 5000 on, joined its chunk

	x := func(p *Position) *float64 { return &p.X }
	coast := ecs.NewQuery(w, ecs.Read(position), ecs.Between(position, x, 100, 110))
	exact := ecs.NewQuery(w, ecs.Read(position), ecs.Between(position, x, 100, 110).Masked())
	fmt.Println(coast.Count(), "rows in chunks that may have one,", exact.Count(), "in the range")

	view := ecs.NewRange(position, x, 0, 0)
	seen := ecs.NewQuery(w, ecs.Read(position), view.Term().Masked())
	for frame := range 3 {
		view.Set(float64(frame)*300, float64(frame)*300+20)
		for rows := range seen.Rows() {
			least, greatest, _ := view.Bounds(rows)
			fmt.Println(rows.Count(), "of", rows.Len(), "rows, which lie from", least, "to", greatest)
		}
	}
	fmt.Println(caught(func() { w.DestroyQuery(coast) }))
	// Output:
	// 5 0
	// 1 {0 255} {256 2000}
	// 11 near
	// <nil> {768 5099}
	// 256 rows in chunks that may have one, 11 in the range
	// 21 of 256 rows, which lie from 0 to 255
	// 20 of 256 rows, which lie from 256 to 2000
	// 21 of 256 rows, which lie from 512 to 767
	// ecs: World.DestroyQuery: query(Read Position, Between Position.X from 100 to 110) shows whole chunks: take the term of its Between with Masked
}
