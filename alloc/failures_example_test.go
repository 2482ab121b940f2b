package alloc_test

import (
	"errors"
	"fmt"

	"quarry/alloc"
)

// The second request for memory is refused on purpose: the program goes on, and the third is
// granted.
func ExampleFailAt() {
	second := alloc.FailAt(2)
	u, err := alloc.NewUniverse(alloc.Size(4<<20), alloc.InjectFailures(second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	for range 3 {
		chunk, err := u.AllocExact(1)
		if err != nil {
			fmt.Println("refused on purpose:", errors.Is(err, alloc.ErrInjected), errors.Is(err, alloc.ErrCommit))
			continue
		}
		u.Free(chunk, 1)
	}
	fmt.Println(second.Refused(), "of", second.Asked())
	// Output:
	// refused on purpose: true true
	// 1 of 3
}

// What is refused need not be memory: here it is a place in a file, and from the third on the disk
// is full.
func ExampleFailFrom() {
	disk := alloc.FailFrom(3)
	written := 0
	for range 5 {
		if disk.Next() == nil {
			written++
		}
	}
	fmt.Println(written, "written,", disk.Refused(), "refused")
	// Output: 2 written, 3 refused
}
