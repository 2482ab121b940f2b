//go:build !race && !js

// In race builds universes are on the Go heap, and what tests held is live there.

package alloc_test

import (
	"errors"
	"fmt"

	"quarry/alloc"
)

// ExampleGCFor: a process that may take 1 GiB has a universe. Go may have what the
// universe leaves.
func ExampleGCFor() {
	u, err := alloc.NewUniverse()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()

	gc, err := alloc.GCFor(1<<30, int64(u.Stats().Committed))
	if err != nil {
		fmt.Println(err)
		return
	}
	before := gc.Apply()
	defer before.Apply()
	fmt.Println(gc.Percent, gc.Limit>>20, "MiB")
	// Output: -1 1024 MiB
}

// A server bounds its memory off the heap, drops its caches before that bound is reached, and
// leaves the rest of 2 GiB to the Go heap at any time.
func ExampleSetBudget() {
	before, err := alloc.SetBudget(alloc.Budget{
		OffHeap:     1 << 30,
		NearPercent: 80,
		Near:        func(use alloc.BudgetUse) { fmt.Println("drop caches:", use) },
		Total:       2 << 30,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer alloc.SetBudget(before)

	pages := alloc.NewPages()
	defer pages.Close()
	_, err = pages.Alloc(2<<30, 0)
	fmt.Println(errors.Is(err, alloc.ErrBudget))
	// Output: true
}
