package container_test

import (
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/alloc/container"
)

// newHeap returns a heap for an example, and a function that closes it.
func newHeap() (*alloc.Heap, func()) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	if err != nil {
		panic(err)
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		panic(err)
	}
	return h, func() { fmt.Println("leaks:", h.Close(), u.Close()) }
}

func ExampleQueue() {
	h, end := newHeap()
	defer end()
	type job struct{ from, to int32 }
	q, err := container.NewQueue[job](h)
	if err != nil {
		panic(err)
	}
	defer q.Close()
	for i := range int32(4) {
		if err := q.PushBack(job{i * 100, i*100 + 100}); err != nil {
			panic(err)
		}
	}
	_ = q.PushFront(job{-1, 0}) // has room
	for q.Len() > 3 {
		j, _ := q.PopFront()
		fmt.Println(j.from, j.to)
	}
	fmt.Println(q.Len(), "left, the last is", *q.Back())
	// Output:
	// -1 0
	// 0 100
	// 3 left, the last is {300 400}
	// leaks: <nil> <nil>
}

func ExamplePriorityQueue() {
	h, end := newHeap()
	defer end()
	events, err := container.NewPriorityQueue[float64, uint32](h) // by time
	if err != nil {
		panic(err)
	}
	defer events.Close()
	for id, at := range []float64{2.5, 0.5, 1.5} {
		if err := events.Push(at, uint32(id)); err != nil {
			panic(err)
		}
	}
	for {
		at, id, ok := events.Pop()
		if !ok {
			break
		}
		fmt.Println(at, id)
	}
	// Output:
	// 0.5 1
	// 1.5 2
	// 2.5 0
	// leaks: <nil> <nil>
}

func ExampleBitset() {
	h, end := newHeap()
	defer end()
	seen, solid := container.NewBitset(h), container.NewBitset(h)
	defer seen.Close()
	defer solid.Close()
	if err := seen.SetRange(100, 8); err != nil {
		panic(err)
	}
	for _, i := range []int{3, 101, 102, 106} {
		if err := solid.Set(i); err != nil {
			panic(err)
		}
	}
	seen.AndNot(solid)
	fmt.Println(slices.Collect(seen.Ones()), seen.Count())
	for first, n := range seen.Runs() {
		fmt.Println(first, n)
	}
	// Output:
	// [100 103 104 105 107] 5
	// 100 1
	// 103 3
	// 107 1
	// leaks: <nil> <nil>
}

func ExampleText() {
	h, end := newHeap()
	defer end()
	names := container.NewText(h)
	defer names.Close()
	type player struct { // holds no pointer, so it may be a component
		name  container.TextID
		score int32
	}
	ada, err := names.Intern("Ada")
	if err != nil {
		panic(err)
	}
	again, _ := names.Intern("Ada") // is there: needs no memory
	p := player{name: ada, score: 7}
	fmt.Println(ada == again, names.Len(), names.Refs(ada))
	fmt.Printf("%s has %d\n", names.Get(p.name), p.score)
	names.Release(ada)
	names.Release(ada)
	fmt.Println(names.Has(p.name), names.Get(p.name) == nil)
	// Output:
	// true 1 2
	// Ada has 7
	// false true
	// leaks: <nil> <nil>
}

func ExampleBuffer() {
	h, end := newHeap()
	defer end()
	b := container.NewBuffer(h)
	defer b.Close()
	for i := range 3 {
		if _, err := fmt.Fprintf(b, "line %d\n", i); err != nil {
			panic(err) // of the allocator
		}
	}
	fmt.Print(b.String())
	fmt.Println(b.Len(), "bytes")
	// Output:
	// line 0
	// line 1
	// line 2
	// 21 bytes
	// leaks: <nil> <nil>
}

func ExampleBufferPool() {
	h, end := newHeap()
	defer end()
	pool := container.NewBufferPool(h, 1<<20)
	b := pool.Get()
	fmt.Fprintf(b, "an answer of %d bytes", 21)
	fmt.Println(b.Len())
	pool.Put(b)
	_, kept := pool.Len()
	fmt.Println(kept, "bytes are kept")
	func() {
		defer func() { fmt.Println(recover()) }()
		b.WriteByte('!')
	}()
	pool.Trim()
	_, kept = pool.Len()
	fmt.Println(kept, "after Trim,", pool.Close())
	// Output:
	// 21
	// 64 bytes are kept
	// container: Buffer.WriteByte: the buffer was given back
	// 0 after Trim, <nil>
	// leaks: <nil> <nil>
}
