package alloc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"quarry/alloc"
)

// A frame's scratch memory: the memory of a step is freed at its end, that of a part of a step by
// going back to a mark.
func ExampleArena() {
	heap, end := exampleHeap()
	defer end()
	frame := alloc.NewArena(heap)
	defer frame.Close()
	for step := range 3 {
		near, err := alloc.MakeSlice[int32](frame, 0, 1000)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range int32(10) {
			near, _ = alloc.Append(frame, near, i)
		}
		m := frame.Mark()
		sorted, _ := alloc.MakeSlice[int32](frame, 5000, 5000)
		copy(sorted, near)
		used := frame.Used()
		frame.Rewind(m)
		fmt.Println(step, len(near), used, frame.Used())
		frame.Reset(alloc.KeepAll)
	}
	fmt.Println(frame.Used(), frame.Size())
	// Output:
	// 0 10 36384 4000
	// 1 10 36384 4000
	// 2 10 36384 4000
	// 0 36384
}

// A Temp knows when the arena gave its value up.
func ExampleTemp() {
	heap, end := exampleHeap()
	defer end()
	frame := alloc.NewArena(heap)
	defer frame.Close()
	count, err := alloc.NewTemp[int](frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	*count.Get() = 7
	fmt.Println(*count.Get(), count.IsLive())
	frame.Reset(alloc.KeepAll)
	defer func() { fmt.Println(recover()) }()
	fmt.Println(count.IsLive())
	count.Get()
	// Output:
	// 7 true
	// false
	// alloc: Temp.Get: the int at byte 0 of the arena was made in epoch 0 and given up since; this is epoch 1
}

// Nodes of a list in a pool, linked by Refs: memory without Go pointers, which the collector does
// not look at, and links that are nil after their node was freed.
func ExamplePool() {
	type Node struct {
		Value int
		Next  alloc.Ref[Node]
	}
	heap, end := exampleHeap()
	defer end()
	nodes, err := alloc.NewPool[Node](heap)
	if err != nil {
		fmt.Println(err)
		return
	}
	var head alloc.Ref[Node]
	for i := range 4 {
		n, err := nodes.New()
		if err != nil {
			fmt.Println(err)
			return
		}
		*n = Node{Value: i, Next: head}
		head = nodes.Ref(n)
	}
	for n := nodes.Get(head); n != nil; n = nodes.Get(n.Next) {
		fmt.Print(n.Value, " ")
	}
	second := nodes.Get(head).Next
	nodes.Free(nodes.Get(second))
	fmt.Println(nodes.Get(second) == nil, nodes.Len())
	for _, n := range nodes.All() {
		nodes.Free(n)
	}
	fmt.Println(nodes.Close())
	// Output:
	// 3 2 1 0 true 3
	// <nil>
}

// A graph is written as bytes and read into another pool. Its slots are others, so each old Ref
// gets its new one, and links are translated when all values are there.
func ExampleRef() {
	type Node struct {
		Value int64
		Next  alloc.Ref[Node]
	}
	type record struct {
		Name alloc.Ref[Node]
		Node Node
	}
	heap, end := exampleHeap()
	defer end()
	nodes, _ := alloc.NewPool[Node](heap)
	var ring [4]*Node
	for i := range ring {
		ring[i], _ = nodes.New()
	}
	for i, n := range ring {
		*n = Node{Value: int64(i), Next: nodes.Ref(ring[(i+2)%4])}
	}
	nodes.Free(ring[1])
	var file bytes.Buffer
	for name, n := range nodes.All() {
		_ = binary.Write(&file, binary.LittleEndian, record{name, *n})
	}

	loaded, _ := alloc.NewPool[Node](heap)
	names := map[alloc.Ref[Node]]alloc.Ref[Node]{} // old to new
	for r := (record{}); binary.Read(&file, binary.LittleEndian, &r) == nil; {
		n, _ := loaded.New()
		*n = r.Node
		names[r.Name] = loaded.Ref(n)
	}
	for _, n := range loaded.All() {
		n.Next = names[n.Next] // none for a link to what was free
	}
	for name, n := range loaded.All() {
		fmt.Println(name, n.Value, n.Next)
		loaded.Free(n)
	}
	for _, n := range nodes.All() {
		nodes.Free(n)
	}
	fmt.Println(nodes.Close(), loaded.Close())
	// Output:
	// {0 1} 0 {1 1}
	// {1 1} 2 {0 1}
	// {2 1} 3 {0 0}
	// <nil> <nil>
}

// Buffers that are needed one inside the other.
func ExampleStack() {
	heap, end := exampleHeap()
	defer end()
	stack, err := alloc.NewStack(heap, 64<<10)
	if err != nil {
		fmt.Println(err)
		return
	}
	outer, _ := stack.Alloc(1000, 0)
	inner, _ := stack.Alloc(500, 0)
	fmt.Println(stack.Used(), stack.ResizeSized(inner, 500, 0, 2000), stack.Used(), stack.Len())
	func() {
		defer func() { fmt.Println(recover() != nil) }()
		stack.FreeSized(outer, 1000, 0) // not the last one
	}()
	stack.FreeSized(inner, 2000, 0)
	stack.FreeSized(outer, 1000, 0)
	fmt.Println(stack.Close())
	// Output:
	// 1508 true 3008 2
	// true
	// <nil>
}

// Values and slices of a type in any allocator.
func ExampleMakeSlice() {
	heap, end := exampleHeap()
	defer end()
	primes, err := alloc.MakeSlice[uint32](heap, 0, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := uint32(2); n < 30; n++ {
		if n == 2 || n%2 != 0 && n%3 != 0 && n%5 != 0 || n == 3 || n == 5 {
			if primes, err = alloc.Append(heap, primes, n); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	fmt.Println(primes)
	alloc.FreeSlice(heap, primes)
	_, err = alloc.New[struct{ Name string }](heap)
	fmt.Println(err)
	// Output:
	// [2 3 5 7 11 13 17 19 23 29]
	// alloc: New: struct { Name string }.Name is a string; values must hold no Go pointers, for they lie outside the garbage collector's heap
}

// What a program does when memory is refused, for each request that it makes.
func ExampleCheckEveryFailure() {
	careless := func(s *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(4<<20), alloc.InjectFailures(s))
		if err != nil {
			return err
		}
		heap, err := alloc.NewHeap(u)
		if err != nil {
			return err
		}
		first, err := alloc.New[int](heap)
		if err == nil {
			var second *[100_000]byte
			if second, err = alloc.New[[100_000]byte](heap); err == nil {
				alloc.Free(heap, second)
				alloc.Free(heap, first) // and when there is no second?
			}
		}
		return errors.Join(err, heap.Close(), u.Close())
	}
	err := alloc.CheckEveryFailure(careless)
	fmt.Println(errors.Is(err, alloc.ErrLeak))
	fmt.Println(err.Error()[:81])
	// Output:
	// true
	// alloc: CheckEveryFailure: request 2 of 2, alone, refused: memory was lost: alloc:
}

// exampleHeap makes a heap for an example, and what closes it.
func exampleHeap() (h *alloc.Heap, end func()) {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		panic(err)
	}
	if h, err = alloc.NewHeap(u); err != nil {
		panic(err)
	}
	return h, func() {
		if err := errors.Join(h.Close(), u.Close()); err != nil {
			fmt.Println(err)
		}
	}
}

// Records of any size that name each other: a record is a block, and a reference is 8 bytes without
// a pointer, so it may lie in other blocks. A reference to what was freed names nothing.
func ExampleBlocks() {
	heap, end := exampleHeap()
	defer end()
	blocks := alloc.NewBlocks(heap)
	name, _ := blocks.Put([]byte("ore of the second belt"))
	samples, values, err := alloc.MakeBlock[float64](blocks, 300_000) // over 1 MiB
	if err != nil {
		fmt.Println(err)
		return
	}
	values[299_999] = 0.25
	index, _, _ := alloc.MakeBlock[alloc.BlockRef](blocks, 2)
	copy(alloc.BlockOf[alloc.BlockRef](blocks, index), []alloc.BlockRef{name, samples})

	for _, r := range alloc.BlockOf[alloc.BlockRef](blocks, index) {
		fmt.Println(r, len(blocks.Bytes(r)))
	}
	fmt.Println(alloc.BlockOf[float64](blocks, samples)[299_999])
	blocks.Free(samples)
	fmt.Println(alloc.BlockOf[float64](blocks, samples), blocks.Len(), blocks.Size())
	blocks.Free(name)
	blocks.Free(index)
	fmt.Println(blocks.Close())
	// Output:
	// {0 1} 22
	// {1 1} 2400000
	// 0.25
	// [] 2 38
	// <nil>
}
