package alloc_test

import (
	"fmt"
	"io"
	"strings"

	"quarry/alloc"
)

// A message is read from a connection straight into its block.
func ExampleBlocks_Alloc() {
	heap, end := exampleHeap()
	defer end()
	blocks := alloc.NewBlocks(heap)
	defer blocks.Close()
	connection := strings.NewReader("go north")
	message, err := blocks.Alloc(connection.Len(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := io.ReadFull(connection, blocks.Bytes(message)); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n", blocks.Bytes(message))
	blocks.Free(message)
	// Output: go north
}

// Orders name their items. The bytes of many are looked up at once: their memory is prefetched, so
// among a million of blocks an item costs a fraction of a Bytes. FreeMany frees them likewise.
func ExampleBlocks_BytesMany() {
	heap, end := exampleHeap()
	defer end()
	blocks := alloc.NewBlocks(heap)
	defer blocks.Close()
	var order []alloc.BlockRef
	for _, item := range []string{"rope", "lamp", "map"} {
		r, err := blocks.Put([]byte(item))
		if err != nil {
			fmt.Println(err)
			return
		}
		order = append(order, r)
	}
	items := make([][]byte, len(order))
	blocks.BytesMany(order, items)
	fmt.Printf("%s\n", items)
	blocks.FreeMany(order)
	blocks.BytesMany(order, items)
	fmt.Println(items[0] == nil, blocks.Len())
	// Output:
	// [rope lamp map]
	// true 0
}

// Blocks that nobody has read since the last round are freed. What a program knows of a block lies
// beside, by the number of its slot: the next block of the slot has another generation.
func ExampleBlocks_All() {
	heap, end := exampleHeap()
	defer end()
	blocks := alloc.NewBlocks(heap)
	defer blocks.Close()
	var read []bool // by slot
	for _, page := range []string{"index", "about", "jobs"} {
		r, err := blocks.Put([]byte(page))
		if err != nil {
			fmt.Println(err)
			return
		}
		for int(r.Slot) >= len(read) {
			read = append(read, false)
		}
		read[r.Slot] = page == "index"
	}
	for r, page := range blocks.All() {
		if !read[r.Slot] {
			fmt.Printf("drop %s of slot %d, generation %d\n", page, r.Slot, r.Generation)
			blocks.Free(r)
		}
	}
	blocks.Trim() // the slots that are empty
	for r, page := range blocks.All() {
		fmt.Printf("keep %s\n", page)
		blocks.Free(r)
	}
	// Output:
	// drop about of slot 1, generation 1
	// drop jobs of slot 2, generation 1
	// keep index
}
