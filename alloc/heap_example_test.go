package alloc_test

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/alloc"
)

// Blocks of bytes are Go slices over what Alloc returns, until the universe is full.
func ExampleHeap() {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	var blocks [][]byte
	for {
		p, err := h.AllocZeroed(1000, 0)
		if errors.Is(err, alloc.ErrFull) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		// Safe because the block has 1,000 bytes and is used no longer than it lives.
		blocks = append(blocks, unsafe.Slice((*byte)(p), 1000))
	}
	fmt.Println(len(blocks) > 1900, h.Stats().LiveBlocks == len(blocks), blocks[0][999])
	for _, b := range blocks[1:] {
		h.Free(unsafe.Pointer(unsafe.SliceData(b))) // Safe because a block begins there.
	}
	fmt.Println(errors.Is(u.Close(), alloc.ErrInUse))
	fmt.Println(h.Close())
	fmt.Println(u.Close())
	// Output:
	// true true 0
	// true
	// alloc: Heap.Close: 1 blocks of 1024 bytes: blocks were never freed
	// <nil>
}
