package bitmask_test

import (
	"fmt"
	"slices"
	"sync"

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

// Which rooms are out of reach from room 0? Each room is visited once.
func ExampleBits_SetBit() {
	doors := [][]int{{1, 2}, {3}, {0}, {1}, {5}, {4}} // by room
	reached := bitmask.NewBits(len(doors))
	for todo := []int{0}; len(todo) > 0; todo = todo[1:] {
		if room := todo[0]; !reached.SetBit(room) {
			todo = append(todo, doors[room]...)
		}
	}
	fmt.Println(reached.Len()-reached.Count(), "rooms:", slices.Collect(reached.Zeros()))
	fmt.Println(reached.Has(3))
	// Output:
	// 2 rooms: [4 5]
	// true
}

// Seats of a row: a party sits where it wants to, if nobody sits there.
func ExampleBits_TryAllocAt() {
	row := make(bitmask.Bits, 1) // 64 seats
	fmt.Println(row.TryAllocAt(8, 4), row.TryAllocAt(10, 3), row.TryAllocAt(30, 2))
	for first, n := range row.UsedRuns() {
		fmt.Println(n, "sit from", first)
	}
	first, n := row.LongestRun()
	fmt.Println(n, "can sit from", first)
	fmt.Println(row.AllClear(0, 8), row.AllSet(8, 4))
	fmt.Println(row.TryFree(8, 4), row.TryFree(8, 4))
	// Output:
	// true false true
	// 4 sit from 8
	// 2 sit from 30
	// 32 can sit from 32
	// true true
	// true false
}

// Goroutines take slots one at a time, each another one, until there are no more.
func ExampleWord_ClaimOne() {
	var slots bitmask.Word
	var all sync.WaitGroup
	for range bitmask.WordBits {
		all.Go(func() { slots.ClaimOne() })
	}
	all.Wait()
	_, _, _, ok := slots.ClaimOne()
	_, freed := slots.FreeOne(5)
	_, twice := slots.FreeOne(5)
	at, _, _, _ := slots.ClaimOne()
	fmt.Println(ok, freed, twice, at)
	// Output: false true false 5
}

// Parts whose work is due: the goroutine that sets a bit first wakes the worker, and the one that
// clears it does the work.
func ExampleWord_SetBit() {
	var due bitmask.Word
	for _, part := range []int{3, 40, 3} {
		fmt.Println("wake the worker:", !due.SetBit(part))
	}
	for part := range bitmask.WordBits {
		if due.ClearBit(part) {
			fmt.Println("do part", part)
		}
	}
	// Output:
	// wake the worker: true
	// wake the worker: true
	// wake the worker: false
	// do part 3
	// do part 40
}

// Eight pages that begin at a multiple of eight: the first of them is found by a mask.
func ExampleWord_TryAllocAligned() {
	var pages bitmask.Word
	pages.TryAlloc(1)
	large, _, now, _ := pages.TryAllocAligned(8)
	_, _, ok := pages.TryAllocAt(4, 8)
	fmt.Println("from page", large, "another over it:", ok)
	next, _ := bitmask.FindAligned(now, 16)
	first, n := bitmask.LongestRun(now)
	fmt.Printf("sixteen would begin at %d, the longest run is [%d, %d)\n", next, first, first+n)
	// Output:
	// from page 8 another over it: false
	// sixteen would begin at 16, the longest run is [16, 64)
}

// A search of one's own: units are claimed where they fit best, but in words 0 and 1, which are for
// others.
func ExampleHierarchy_Fit() {
	memory := make([]bitmask.Word, bitmask.HierarchyWords(1000))
	h := bitmask.NewHierarchyIn(1000, memory)
	claim := func(n int) (offset int) {
		fit := h.Fit(n)
		fit.Avoid(0, 2)
		for i, ok := fit.Next(); ok; i, ok = fit.Next() {
			if at, before, now, ok := h.Word(i).TryAlloc(n); ok {
				h.Note(i, before, now)
				return i*bitmask.WordBits + at
			}
			fit.Skip(i/8*8 + 8) // another goroutine was faster: leave its cache line
		}
		return h.Len()
	}
	fmt.Println(claim(60), claim(60), claim(4), claim(64))
	fmt.Println(h.InUse(127), h.InUse(128))

	fit := h.FitAligned(16)
	i, _ := fit.Next()
	at, before, now, _ := h.Word(i).TryAllocAligned(16)
	h.Note(i, before, now)
	fmt.Println(i*bitmask.WordBits + at)

	h.Erase(h.Words()) // the memory serves again
	fmt.Println(memory[2].Load())
	// Output:
	// 128 192 188 256
	// false true
	// 960
	// 0
}
