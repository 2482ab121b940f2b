//go:build !race && !js

// In race builds universes are on the Go heap, and what tests held is live there.

package alloc_test

import (
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
