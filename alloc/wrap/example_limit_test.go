package wrap_test

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// A cache that may hold 1,000 bytes drops its oldest entries until the next one fits.
func ExampleLimit() {
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
	cache := wrap.NewLimit(heap, 1000)
	var entries []unsafe.Pointer
	for range 5 {
		p, err := cache.Alloc(300, 0)
		for ; errors.Is(err, alloc.ErrFull); p, err = cache.Alloc(300, 0) {
			cache.FreeSized(entries[0], 300, 0)
			entries = entries[1:]
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		entries = append(entries, p)
	}
	fmt.Println(len(entries), "entries of", cache.Live(), "bytes")
	for _, p := range entries {
		cache.FreeSized(p, 300, 0)
	}
	// Output: 3 entries of 900 bytes
}

// Blocks that a program has not freed, by the place that allocated them.
func ExampleTrack_Leaks() {
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
	track := wrap.NewTrack(heap, "textures")
	for range 3 {
		if _, err := track.Alloc(1000, 0); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, leak := range track.Leaks() {
		fmt.Println(leak.Blocks, "blocks of", leak.Bytes, "bytes")
		fmt.Println(strings.Contains(leak.Stack, "ExampleTrack_Leaks"))
	}
	// Output:
	// 3 blocks of 3000 bytes
	// true
}
