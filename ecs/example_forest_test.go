package ecs_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// Each chunk of trees has the span in which its trees stand. A camera passes over the chunks that
// it does not see, and a client gets the spans that have changed.
func ExampleChunk() {
	type Place struct{ X int }
	type Span struct{ Low, High int }

	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	place, span := ecs.Register[Place](w, ecs.MaxRows(100)), ecs.RegisterChunk[Span](w)
	batch, err := ecs.NewArchetype(w, place, span).CreateN(950)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := 0
	for rows := range batch.Rows() {
		p, s := place.Slice(rows), span.At(rows)
		s.Low = x
		for i := range p {
			p[i].X = x
			x++
		}
		s.High = x
	}
	forest := ecs.NewQuery(w, ecs.Read(place), ecs.Write(span))
	seen := func(from, to int) (chunks, trees int) {
		for rows := range forest.Rows() {
			if s := span.ReadOnly(rows); s.High <= from || s.Low >= to { // reads without a mark
				continue
			}
			chunks++
			for _, p := range place.Slice(rows) {
				if from <= p.X && p.X < to {
					trees++
				}
			}
		}
		return chunks, trees
	}
	fmt.Println(seen(150, 220))

	sent := w.Version()
	w.Advance()
	tree := ecs.NewArchetype(w, place).Create() // without a span
	place.Set(tree, Place{160})
	fmt.Println(span.Add(tree), *span.Get(tree)) // its row joins the last chunk
	s := span.Mut(tree)
	s.Low, s.High = min(s.Low, 160), max(s.High, 161)
	fmt.Println(seen(150, 220))
	for rows := range forest.Rows() {
		if span.Changed(rows, sent) {
			fmt.Println("send", *span.ReadOnly(rows))
		}
	}
	// Output:
	// 2 70
	// true {900 950}
	// 3 71
	// send {160 950}
}
