package container_test

import (
	"fmt"

	"quarry/alloc/container"
)

// Hours of a day that are taken: of two people, and of both together.
func ExampleBitset_Or() {
	h, end := newHeap()
	defer end()
	ada, alan, both := container.NewBitset(h), container.NewBitset(h), container.NewBitset(h)
	defer ada.Close()
	defer alan.Close()
	defer both.Close()
	for _, err := range []error{
		ada.SetRange(0, 9), ada.SetRange(11, 3),
		alan.SetRange(0, 10), alan.SetRange(12, 6),
	} {
		if err != nil {
			panic(err)
		}
	}
	ada.Clear(13)
	for _, one := range []*container.Bitset{ada, alan} {
		if err := both.Or(one); err != nil {
			panic(err)
		}
	}
	first, _ := both.Words().FindRun(1) // of hours that are not in the set
	fmt.Println("both are free at", first)
	both.ClearRange(12, 2)
	next, _ := both.Next(12)
	fmt.Println("what was at 12 is off: the next is at", next)

	alan.And(ada)
	fmt.Println("from 10 on both are busy for", alan.CountRange(10, 14), alan.Has(12), alan.Has(13))
	both.Reset()
	both.Trim() // an empty set needs no block
	fmt.Println(both.Count())
	// Output:
	// both are free at 10
	// what was at 12 is off: the next is at 14
	// from 10 on both are busy for 1 true false
	// 0
	// leaks: <nil> <nil>
}
