package asm_test

import (
	"fmt"
	"math/bits"

	"quarry/asm"
)

// One step of movement: position += dt * velocity, a whole column at a time.
func ExampleAxpy() {
	type meters float32
	position := []meters{0, 10, 20}
	velocity := []meters{1, -2, 4}
	const dt = 0.5
	asm.Axpy(position, dt, velocity)
	fmt.Println(position)
	// Output: [0.5 9 22]
}

// The first free place among many, in masks of places in use.
func ExampleFirstNotFull() {
	inUse := []uint64{^uint64(0), ^uint64(0), 0b1011, 0}
	i := asm.FirstNotFull(inUse)
	fmt.Println("word", i, "place", 64*i+bits.TrailingZeros64(^inUse[i]))
	// Output: word 2 place 130
}
