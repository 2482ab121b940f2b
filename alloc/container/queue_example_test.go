package container_test

import (
	"fmt"

	"quarry/alloc/container"
	"quarry/asm"
)

// The last eight samples of a sensor, which come in batches.
func ExampleQueue_PushSlice() {
	h, end := newHeap()
	defer end()
	window, err := container.NewQueue[float32](h)
	if err != nil {
		panic(err)
	}
	defer window.Close()
	if err := window.Reserve(16); err != nil {
		panic(err)
	}
	_ = window.PushSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) // has room
	var old [2]float32
	for window.Len() > 8 {
		n := window.PopSlice(old[:])
		fmt.Println("dropped", old[:n])
	}
	sum := float32(0)
	for part := range window.Parts() { // slices, for kernels
		sum += asm.Sum(part)
	}
	fmt.Println("mean", sum/float32(window.Len()))
	for i, sample := range window.All() {
		if *sample > 9 {
			fmt.Println("sample", i, "is too high:", *sample)
		}
	}
	last, _ := window.PopBack()
	fmt.Println("from", *window.Front(), *window.At(1), "without", last)
	window.Clear()
	window.Trim()
	fmt.Println(window.Len(), window.Cap())
	// Output:
	// dropped [1 2]
	// mean 6.5
	// sample 7 is too high: 10
	// from 3 4 without 10
	// 0 0
	// leaks: <nil> <nil>
}
