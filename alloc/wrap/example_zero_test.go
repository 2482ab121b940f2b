package wrap_test

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// Keys are wiped when they are freed, so the next owner of the memory finds nothing.
func ExampleZero() {
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
	secrets := wrap.NewZero(heap, wrap.Wipe())
	p, err := secrets.Alloc(32, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Safe because the block has 32 bytes, and the slice is not used after the free.
	key := unsafe.Slice((*byte)(p), 32)
	fmt.Println(key[:4])
	copy(key, "correct horse battery staple")
	fmt.Println(string(key[:7]))
	secrets.FreeSized(p, 32, 0)
	// Output:
	// [0 0 0 0]
	// correct
}
