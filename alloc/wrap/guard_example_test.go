//go:build !race && (linux || darwin || windows)

package wrap_test

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/mmap"
)

// A loop that goes one element too far is an error that names the block.
func ExampleGuard() {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := wrap.NewGuard(h)
	p, err := g.Alloc(10*8, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = g.Run(func() {
		for i := 0; i <= 10; i++ {
			*(*uint64)(unsafe.Add(p, i*8)) = 1 // Safe because what is behind the block faults.
		}
	})
	var e *wrap.GuardError
	fmt.Println(errors.As(err, &e), errors.Is(err, mmap.ErrFault), e.Where(), "of", e.Size)
	fmt.Println(strings.Contains(err.Error(), "ExampleGuard"))

	g.FreeSized(p, 10*8, 8)
	err = g.Run(func() { fmt.Println(*(*uint64)(p)) }) // Safe because it faults.
	fmt.Println(errors.As(err, &e), e.Freed)
	fmt.Println(g.Close(), h.Close(), u.Close())
	// Output:
	// true true 80 of 80
	// true
	// true true
	// <nil> <nil> <nil>
}

// What lies at an address, as a log of a crash has it, and a write that damaged no other block.
func ExampleGuard_Explain() {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := wrap.NewGuard(h, wrap.Canaries())
	p, err := g.Alloc(100, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	e := g.Explain(uintptr(p) + 102)
	fmt.Println(e.Addr-e.Block, "from the start of", e.Size, "bytes aligned to", e.Align)

	behind := (*byte)(unsafe.Add(p, 100)) // Safe because the zone behind the block is there.
	before := *behind
	*behind = before + 1
	err = g.Verify()
	fmt.Println(errors.Is(err, wrap.ErrDamage), errors.As(err, &e), e.Bytes, "byte at", e.Where())
	*behind = before
	g.FreeSized(p, 100, 4)
	fmt.Println(g.Close(), h.Close(), u.Close())
	// Output:
	// 102 from the start of 100 bytes aligned to 4
	// true true 1 byte at 100
	// <nil> <nil> <nil>
}
