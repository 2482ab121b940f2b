package ecs_test

import (
	"bytes"
	"fmt"

	"quarry/ecs"
)

// Example_journey is the last journey of docs/architecture.md: a frame's changes, from a slice to a
// follower's row.
func Example_journey() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	type Position struct{ X, Y, Z, W float32 }
	position := ecs.Register[Position](w)
	_, _ = ecs.NewArchetype(w, position).CreateN(1000)
	older := w.Snapshot()
	defer older.Close()
	follower, _ := older.Fork() // the base that both have
	defer follower.Close()

	moving := ecs.NewQuery(w, ecs.Write(position))
	for rows := range moving.Rows() {
		p := position.Slice(rows)
		for i := range p[:10] {
			p[i].X += 1
		}
	}
	fmt.Println("kept for the older state:", older.Kept(), "B")
	newer := w.Snapshot()
	defer newer.Close()
	d, _ := ecs.Diff(older, newer)
	var delta bytes.Buffer
	_ = ecs.EncodeDelta(&delta, d)
	fmt.Println("the delta:", (delta.Len()+5)/10*10, "B") // checksums take 4 or 5 B

	if err := follower.ApplyDelta(&delta); err != nil {
		fmt.Println(err)
	}
	fmt.Println("the same state:", follower.Hash() == w.Hash())
	// Output:
	// kept for the older state: 32768 B
	// the delta: 180 B
	// the same state: true
}
