package wrap_test

import (
	"errors"
	"fmt"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// What a chain of wrappers makes of 100 bytes: the drawing of the package.
func Example() {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	heap, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	stats := wrap.NewStats(heap)
	guard := wrap.NewGuard(stats, wrap.Canaries())
	track := wrap.NewTrack(guard, "textures")
	p, err := track.Alloc(100, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, asked := track.Live()
	fmt.Println(asked, stats.Counts().LiveBytes, heap.Usable(heap.Universe().Base()))
	fmt.Println("block at", uintptr(p)-uintptr(heap.Universe().Base()))
	track.FreeSized(p, 100, 4)
	fmt.Println(errors.Join(track.Close(), guard.Close(), heap.Close(), u.Close()))
	// Output:
	// 100 640 640
	// block at 284
	// <nil>
}
