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

// Which archetypes have component types 0 and 2 and not type 1?
func ExampleMatch() {
	signatures := []uint64{0b101, 0b111, 0b100, 0b1101} // one word each
	var matching [1]uint64
	n := asm.Match(matching[:], signatures, []uint64{0b101}, []uint64{0b010}, 1)
	fmt.Printf("%d match: %04b\n", n, matching[0])
	// Output: 2 match: 1001
}

// The rows that are left when some are destroyed slide together in place.
func ExampleCompact() {
	health := []uint32{10, 0, 30, 0, 50}
	n := asm.Compact(health, health, []uint64{0b10101})
	fmt.Println(health[:n])
	// Output: [10 30 50]
}

// Which bytes of a file have changed since it was read: one bit a byte, lowest first.
func ExampleNotEqual() {
	was, is := []byte("hit points 40"), []byte("hit points 38")
	differ := make([]uint64, 1)
	changed := asm.NotEqual(differ, is, was)
	fmt.Printf("%v %013b\n", changed, differ[0])
	// Output: true 1100000000000
}

// Ids of entities that were created one after the other: index and version.
func ExampleConsecutive() {
	ids := make([][2]uint32, 3)
	asm.Consecutive(ids, 7, 1)
	fmt.Println(ids)
	// Output: [[7 1] [8 1] [9 1]]
}

// The same bits on every CPU, whatever the width of its vectors.
func ExampleSum() {
	tenths := make([]float32, 1000)
	asm.Fill(tenths, 0.1)
	fmt.Println(asm.Sum(tenths), asm.Max(tenths))
	// Output: 99.99997 0.1
}

// Velocities are halved in mud, and no unit is slower than a crawl or faster than a gallop.
func ExampleMaximum() {
	speed := []float32{0, 3, 8, 20}
	crawl, gallop := make([]float32, len(speed)), make([]float32, len(speed))
	asm.Fill(crawl, 0.5)
	asm.Fill(gallop, 9)
	asm.Scale(speed, 0.5)
	asm.Maximum(speed, crawl) // the greater of both, element by element
	asm.Minimum(speed, gallop)
	fmt.Println(speed)
	fmt.Println("slowest", asm.Min(speed), "fastest", asm.Max(speed))
	// Output:
	// [0.5 1.5 4 9]
	// slowest 0.5 fastest 9
}
