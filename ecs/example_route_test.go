package ecs_test

import (
	"encoding/binary"
	"fmt"

	"quarry/ecs"
)

// A unit has its route as a buffer. A search replaces the route, a patrol appends to it, a packet
// overwrites it, and Trim gives back the memory that a short route does not need.
func ExampleDynamicBuffer() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	routes := ecs.RegisterBuffer[uint32](w, ecs.Inline(4)) // numbers of fields
	unit := ecs.NewArchetype(w, routes).Create()
	route, _ := routes.Mut(unit)

	found := []uint32{7, 8, 9}
	route.CopyFrom(found) // replaces the route
	fmt.Println(route.Slice(), "in", w.Stats().Buffers, "blocks")

	route.Reserve(route.Len() + 100) // one block, where it would grow five times
	room := route.Cap()
	for i := range 100 {
		route.Append(uint32(i % 10))
	}
	fmt.Println(route.Len(), "fields, without growing:", route.Cap() == room)

	packet := []byte{3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0} // a length, then so many fields
	n := int(binary.LittleEndian.Uint32(packet))
	route.ResizeUninitialized(n)
	for i := range route.Slice() { // writes all of them
		route.Slice()[i] = binary.LittleEndian.Uint32(packet[4*(i+1):])
	}
	fmt.Println(route.Slice(), "in", w.Stats().Buffers, "block")
	route.Trim()
	fmt.Println(route.Slice(), "in", w.Stats().Buffers, "blocks")
	// Output:
	// [7 8 9] in 0 blocks
	// 103 fields, without growing: true
	// [1 2 5] in 1 block
	// [1 2 5] in 0 blocks
}
