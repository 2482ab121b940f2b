package ecs_test

import (
	"fmt"
	"time"

	"quarry/ecs"
)

func ExampleWorld_Shrink() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	bullets := ecs.NewArchetype(w, ecs.Register[Position](w))
	batch, err := bullets.CreateN(100_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	w.DestroyList(batch.Entities(nil)[10:])
	fmt.Println(bullets.Len(), "bullets hold KiB", w.Occupancy()[0].Bytes>>10)
	for !w.Shrink(100 * time.Microsecond) {
		// a frame of the game
	}
	fmt.Println(bullets.Len(), "bullets hold KiB", w.Occupancy()[0].Bytes>>10)
	// Output:
	// 10 bullets hold KiB 1024
	// 10 bullets hold KiB 2
}
