package bitmask_test

import (
	"fmt"

	"quarry/bitmask"
)

func ExampleFindRun() {
	w := uint64(0xF0FF)
	four, _ := bitmask.FindRun(w, 4)
	five, _ := bitmask.FindRun(w, 5)
	_, fits := bitmask.FindRun(w, 49)
	fmt.Println(four, five, fits)
	// Output: 8 16 false
}

func ExampleWord() {
	var w bitmask.Word
	at, before, _ := w.TryAlloc(3)
	fmt.Printf("[%d, %d) empty before: %v\n", at, at+3, before == 0)
	before, ok := w.TryFree(at, 3)
	fmt.Printf("freed: %v, empty now: %v\n", ok, before == bitmask.Mask(at, 3))
	_, ok = w.TryFree(at, 3)
	fmt.Printf("freed again: %v\n", ok)
	// Output:
	// [0, 3) empty before: true
	// freed: true, empty now: true
	// freed again: false
}
