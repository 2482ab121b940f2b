package alloc_test

import (
	"errors"
	"fmt"
	"sync"
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

// A buffer grows where it lies while its block has room; else it moves.
func ExampleHeap_Resize() {
	heap, end := exampleHeap()
	defer end()
	p, err := heap.Alloc(100, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(heap.Usable(p), heap.Resize(p, 110), heap.Resize(p, 1000))
	if p, err = heap.Realloc(p, 1000, 0); err != nil {
		fmt.Println(err)
		return
	}
	// Safe because the block has 1,000 bytes.
	fmt.Println(heap.Owns(p), heap.Owns(unsafe.Add(p, 8)))
	heap.Free(p)
	fmt.Println(heap.Owns(p))
	// Output:
	// 112 true false
	// true false
	// false
}

// The goroutine that allocates most has a Local; others free its blocks through the heap.
func ExampleLocal() {
	heap, end := exampleHeap()
	defer end()
	local := heap.NewLocal()
	defer local.Close()
	small, err := local.Alloc(100, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	large, err := local.Alloc(9000, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(local.Usable(small), local.Resize(small, 110))
	var others sync.WaitGroup
	others.Go(func() { local.Heap().Free(small) })
	others.Wait()
	local.Free(large)
	s := heap.Stats()
	fmt.Println(s.LiveBlocks, "live,", s.Cached >= 9000, "that the Local keeps one")
	// Output:
	// 112 true
	// 0 live, true that the Local keeps one
}
