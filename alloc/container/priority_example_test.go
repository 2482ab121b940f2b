package container_test

import (
	"fmt"

	"quarry/alloc/container"
)

// Timers: those that are due are taken, the first that is not stays.
func ExamplePriorityQueue_Peek() {
	h, end := newHeap()
	defer end()
	timers, err := container.NewPriorityQueue[int64, uint32](h)
	if err != nil {
		panic(err)
	}
	defer timers.Close()
	if err := timers.Reserve(100); err != nil { // so that no Push below is refused
		panic(err)
	}
	for id, at := range []int64{30, 10, 20, 40} {
		_ = timers.Push(at, uint32(id))
	}
	const now = 20
	for at, id, ok := timers.Peek(); ok && at <= now; at, id, ok = timers.Peek() {
		fmt.Println("due since", at, "timer", *id)
		timers.Pop()
	}
	wait := int64(0)
	for at := range timers.All() {
		wait = max(wait, at-now)
	}
	fmt.Println(timers.Len(), "wait, for", wait, "at most; room for 100:", timers.Cap() >= 100)
	timers.Clear()
	timers.Trim()
	fmt.Println(timers.Cap())
	// Output:
	// due since 10 timer 1
	// due since 20 timer 2
	// 2 wait, for 20 at most; room for 100: true
	// 0
	// leaks: <nil> <nil>
}
