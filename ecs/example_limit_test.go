package ecs_test

import (
	"errors"
	"fmt"

	"quarry/alloc"
	"quarry/ecs"
)

// A hotel goes on when its memory is full. The call that failed has changed nothing, and the error
// of the layer below is the reason: a full universe has room again once guests have left.
func ExampleTry() {
	type Luggage struct{ Bytes [4000]byte }

	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	guests := ecs.NewArchetype(w, ecs.Register[Luggage](w))
	var in []ecs.Entity
	for err == nil {
		err = ecs.Try(func() { in = append(in, guests.Create()) })
	}
	fmt.Println(len(in) == guests.Len(), errors.Is(err, ecs.ErrLimit))
	var limit *ecs.LimitError
	if errors.As(err, &limit) && errors.Is(limit.Err, alloc.ErrFull) {
		fmt.Println(limit.Op, "found the universe full")
		w.DestroyList(in[:len(in)/2])
		w.Trim()
	}
	fmt.Println(ecs.Try(func() { guests.Create() }))

	type Warehouse struct{ Bytes [20_000]byte }
	err = ecs.Try(func() { ecs.Register[Warehouse](w) })
	if errors.As(err, &limit) {
		fmt.Println("at most", limit.Max, limit.Limit)
	}
	// Output:
	// true true
	// Archetype.Create found the universe full
	// <nil>
	// at most 16384 bytes of columns a chunk
}
