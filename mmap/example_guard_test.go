//go:build !race && (linux || darwin || windows)

package mmap_test

import (
	"errors"
	"fmt"
	"unsafe"

	"quarry/mmap"
)

// A guard page behind a buffer turns an overrun into an error with the place.
func ExampleRegion_Guard() {
	r, err := mmap.Reserve(mmap.Granule)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := r.Commit(0, mmap.Granule); err != nil {
		fmt.Println(err)
		return
	}
	r.Name("buffer")
	page := mmap.PageSize()
	if err := r.Guard(4*page, page); err != nil { // ErrUnsupported where mmap.Guards() is GuardNone
		fmt.Println(err)
		return
	}
	// Safe because the granule is ready; what is guarded of it faults.
	b := unsafe.Slice((*byte)(r.Base()), mmap.Granule)
	buffer := b[:4*page]
	fmt.Println("inside:", mmap.Guarded(func() { clear(buffer) }))

	err = mmap.Guarded(func() { clear(b[:4*page+1]) }) // one byte too many
	var fault *mmap.FaultError
	fmt.Println("outside:", errors.As(err, &fault), fault.State, fault.Offset-len(buffer), fault.Region == r)
	fmt.Println(fault.Name, fault.Addr-fault.Base == uintptr(fault.Offset), fault.Size == r.Size())
	fmt.Println("pages with a guard:", r.GuardedSize()/page)

	fmt.Println(r.Unguard(4*page, page), r.Release())
	// Output:
	// inside: <nil>
	// outside: true guard 0 true
	// buffer true true
	// pages with a guard: 1
	// <nil> <nil>
}

// A slice of a released region faults instead of reading somebody else's memory.
func ExampleGuarded() {
	r, err := mmap.Reserve(mmap.Granule)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := r.Commit(0, mmap.Granule); err != nil {
		fmt.Println(err)
		return
	}
	// Safe because the word lies in a ready granule.
	word := (*uint64)(r.Base())
	*word = 42
	fmt.Println("release:", r.Release())
	_, parked := mmap.Parked()
	fmt.Println("parked:", parked >= mmap.Granule)

	err = mmap.Guarded(func() { fmt.Println("read:", *word) })
	var fault *mmap.FaultError
	if errors.As(err, &fault) {
		fmt.Println("fault:", fault.State, "at offset", fault.Offset, errors.Is(err, mmap.ErrFault))
	}
	// Output:
	// release: <nil>
	// parked: true
	// fault: parked at offset 0 true
}
