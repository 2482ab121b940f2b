package alloc_test

import (
	"fmt"

	"quarry/alloc"
)

// A log keeps each segment in a run of chunks, which grows in place while the chunks behind it are
// free.
func ExampleUniverse_Extend() {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	segment, err := u.AllocExact(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	copy(u.Bytes(segment, 2), "segment 1\n")
	grown := u.Extend(segment, 2, 2)
	text := u.Bytes(segment, 4)
	fmt.Printf("%t %d %s", grown, len(text), text[:10])
	fmt.Println(u.InUse(segment+3), u.InUse(segment+4))

	index, err := u.AllocAligned(4) // its first chunk is a multiple of 4
	if err != nil {
		fmt.Println(err)
		return
	}
	bitmap, n, err := u.AllocZeroed(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(index%4, n, u.Bytes(bitmap, 1)[100])

	s := u.Stats()
	fmt.Println(s.LiveChunks, "chunks in use of", s.Reserved/alloc.ChunkSize)
	fmt.Println("a run of", s.LongestRun, "is free:", s.FreeRuns[6] > 0)
	for first, n := range u.Runs() {
		u.Free(first, n)
	}
	// Output:
	// true 65536 segment 1
	// true false
	// 0 1 0
	// 9 chunks in use of 1024
	// a run of 64 is free: true
}

// A program that works in rounds keeps 1 GiB between them; above that, what lies idle goes back to
// the system, at half a percent of a core.
func ExampleSetScavenger() {
	before := alloc.SetScavenger(alloc.Scavenger{Percent: 0.5, Target: 1 << 30})
	mine := alloc.SetScavenger(before)
	fmt.Println(mine.Percent, "percent above", mine.Target>>20, "MiB")
	// Output: 0.5 percent above 1024 MiB
}
