package alloc_test

import (
	"fmt"

	"quarry/alloc"
)

// The sizes that something goes through as it grows, one by one, to a hundred.
func ExampleGrowth() {
	for _, g := range []alloc.Growth{
		alloc.Doubling(),
		alloc.Doubling().Capped(16), // linear from there on
		alloc.Doubling().Plus(1),    // each part is twice the one before
		alloc.Geometric(1.5),
		alloc.Fixed(25),
	} {
		fmt.Print(g, ":")
		for have := 1; have < 100; {
			have = g.Next(have, have+1)
			fmt.Print(" ", have)
		}
		fmt.Println()
	}
	// Output:
	// doubling: 2 4 8 16 32 64 128
	// doubling, at most 16 at a time: 2 4 8 16 32 48 64 80 96 112
	// doubling plus 1: 3 7 15 31 63 127
	// times 1.5: 2 3 4 6 9 13 19 28 42 63 94 141
	// by 25: 26 51 76 101
}

// A table of which the number of rows is known to grow little takes few chunks ahead. A handle says
// where its row is, for a loop over the rows around it.
func ExampleChunkGrowth() {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	heights, err := alloc.NewTable(u, alloc.Col[[4]float32](), alloc.ChunkGrowth(alloc.Fixed(2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heights.Close()
	first, err := heights.AllocateN(10_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(heights.Plan().Rows, "rows a chunk, room for", heights.Cap())
	fmt.Println(heights.Chunks(), "chunks, the last has", heights.Rows(heights.Chunks()-1))

	h := heights.Handle(first + 5000)
	column := alloc.ColumnOf[[4]float32](heights, h.Chunk())
	for row := h.Row() - 1; row <= h.Row()+1; row++ {
		column[row][0] = 0.5
	}
	fmt.Println("chunk", h.Chunk(), "row", h.Row(), *alloc.Get[[4]float32](heights, h))
	// Output:
	// 1024 rows a chunk, room for 10240
	// 10 chunks, the last has 784
	// chunk 4 row 904 [0.5 0 0 0]
}

// A heap that takes eight chunks at a time, so that its small blocks lie together.
func ExampleSlabGrowth() {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	heap, err := alloc.NewHeap(u, alloc.SlabGrowth(alloc.Fixed(8)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()
	p, err := heap.Alloc(100, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := heap.Stats()
	fmt.Println(s.Chunks, "chunks,", s.Ahead, "not used yet")
	heap.Free(p)
	// Output: 8 chunks, 7 not used yet
}
