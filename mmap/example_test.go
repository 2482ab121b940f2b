package mmap_test

import (
	"errors"
	"fmt"
	"log"
	"unsafe"

	"quarry/mmap"
)

// The life of a region of four granules.
func Example() {
	r, err := mmap.Reserve(7 << 20) // rounded up to whole granules
	if err != nil {
		fmt.Println(err)
		return
	}
	step := func(event string, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-22s size %8d, ready %8d\n", event, r.Size(), r.Committed())
	}
	step("Reserve(7 MiB)", nil)
	step("Commit(2 MiB, 4 MiB)", r.Commit(2<<20, 4<<20))

	// Safe because the word lies in a ready granule.
	word := (*uint64)(unsafe.Add(r.Base(), 2<<20))
	fmt.Println("  first read:", *word)
	*word = 42

	step("Decommit(2 MiB, 2 MiB)", r.Decommit(2<<20, 2<<20))
	step("Commit(2 MiB, 2 MiB)", r.Commit(2<<20, 2<<20))
	fmt.Println("  read again:", *word)
	step("Release()", r.Release())
	// Output:
	// Reserve(7 MiB)         size  8388608, ready        0
	// Commit(2 MiB, 4 MiB)   size  8388608, ready  4194304
	//   first read: 0
	// Decommit(2 MiB, 2 MiB) size  8388608, ready  2097152
	// Commit(2 MiB, 2 MiB)   size  8388608, ready  4194304
	//   read again: 0
	// Release()              size        0, ready        0
}

// Limits may forbid the size that is wanted; Region.Size is the size that it got.
func ExampleReserveUpTo() {
	r, err := mmap.ReserveUpTo(64<<20, 2<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	if r.Refusal() != nil {
		fmt.Println("smaller than asked:", r.Refusal())
	}
	fmt.Println(r.Size(), "of", r.Asked(), "bytes")
	fmt.Println(r.Release())
	// Output:
	// 67108864 of 67108864 bytes
	// <nil>
}

// A refusal names what was asked for, what was short, and what the system returned.
func ExampleError() {
	_, err := mmap.Reserve(1 << 50)
	var refusal *mmap.Error
	if !errors.As(err, &refusal) {
		fmt.Println(err)
		return
	}
	fmt.Println(refusal.Op, refusal.Size>>40, "TiB at", refusal.Offset)
	switch refusal.Err {
	case mmap.ErrAddressSpace, mmap.ErrMemory: // the latter where memory is of the Go heap
		fmt.Println("ask for less")
		if refusal.Errno != nil {
			log.Print(refusal.Errno) // what the system returned
		}
	}
	// Output:
	// Reserve 1024 TiB at 0
	// ask for less
}
