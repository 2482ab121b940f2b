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
	at, before, _, _ := w.TryAlloc(3)
	fmt.Printf("[%d, %d) empty before: %v\n", at, at+3, before == 0)
	_, now, ok := w.TryFree(at, 3)
	fmt.Printf("freed: %v, empty now: %v\n", ok, now == 0)
	_, _, ok = w.TryFree(at, 3)
	fmt.Printf("freed again: %v\n", ok)
	// Output:
	// [0, 3) empty before: true
	// freed: true, empty now: true
	// freed again: false
}

func ExampleBits() {
	b := bitmask.NewBits(150) // three words; bits 150..191 are set
	b.SetRange(10, 40)
	b.SetRange(60, 10) // across the edge of a word
	first, _ := b.FindRun(10)
	best, _ := b.FindBestRun(10)
	large, _ := b.FindRun(80)
	fmt.Println(first, best, large, b.CountRange(0, 150))
	for offset, n := range b.FreeRuns() {
		fmt.Printf("[%d, %d) ", offset, offset+n)
	}
	// Output:
	// 0 0 70 50
	// [0, 10) [50, 60) [70, 150)
}

func ExampleHierarchy() {
	h := bitmask.NewHierarchy(1 << 20)
	for range 3 {
		h.TryAlloc(30) // two to a word
	}
	single, _ := h.TryAlloc(1)
	fmt.Println(single, h.Count(), h.TryFree(0, 30), h.TryFree(0, 30))
	next, _ := h.First()
	fmt.Println(next)
	// Output:
	// 60 91 true false
	// 0
}
