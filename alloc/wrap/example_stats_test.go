package wrap_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// A server publishes what it counts beside the runtime's own variables:
//
//	expvar.Publish("textures", textures) // and /debug/vars shows it
func ExampleStats() {
	u, err := alloc.NewUniverse()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	heap, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()
	textures := wrap.NewStats(heap)
	p, err := textures.Alloc(1000, 64)
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := textures.Alloc(3, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	textures.FreeSized(p, 1000, 64)
	fmt.Println(textures.Counts().LiveBytes, "of", textures.Counts().PeakBytes)
	fmt.Println(textures)
	textures.FreeSized(q, 3, 0)
	// Output:
	// 3 of 1003
	// {"allocs":2,"resizes":0,"frees":1,"refused_allocs":0,"refused_resizes":0,"live_blocks":1,"live_bytes":3,"peak_bytes":1003,"sizes":[0,0,1,0,0,0,0,0,0,0,1]}
}
