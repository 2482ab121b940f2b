//go:build !race && (linux || darwin)

package mmap_test

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"quarry/mmap"
)

// A large file is read where it lies: its pages come in as they are touched, and those that will be
// touched soon may come before.
func ExampleRegion_MapFile() {
	f, err := os.CreateTemp("", "map")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteAt([]byte("chapter 2"), mmap.Granule); err != nil {
		fmt.Println(err)
		return
	}
	if err := f.Truncate(2 * mmap.Granule); err != nil {
		fmt.Println(err)
		return
	}
	r, err := mmap.Reserve(4 * mmap.Granule)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Release()
	if err := errors.Join(r.MapFile(0, 2*mmap.Granule, f, 0), f.Close()); err != nil {
		fmt.Println(err)
		return
	}
	_ = r.Advise(mmap.Granule, mmap.PageSize(), mmap.WillNeed) // where the system takes advice
	// Safe because the granule shows the file, which nobody cuts.
	text := unsafe.Slice((*byte)(unsafe.Add(r.Base(), mmap.Granule)), 9)
	fmt.Printf("%s, %d MiB of a file\n", text, r.MappedSize()>>20)
	// Output: chapter 2, 4 MiB of a file
}

// Keys stay out of swap while they are used. Then their page goes back to the system and reads
// zero, though it stays ready for the next keys.
func ExampleRegion_Lock() {
	r, err := mmap.Reserve(mmap.Granule)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Release()
	if err := r.Commit(0, mmap.Granule); err != nil {
		fmt.Println(err)
		return
	}
	locked := r.Lock(0, mmap.Granule) == nil // the limit of ulimit -l may refuse it
	// Safe because the granule is ready.
	key := unsafe.Slice((*byte)(r.Base()), 16)
	copy(key, "correct horse")
	if locked {
		if err := r.Unlock(0, mmap.Granule); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := r.Discard(0, mmap.PageSize()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(key[:4], r.Committed()>>20, "MiB ready")
	// Output: [0 0 0 0] 2 MiB ready
}
