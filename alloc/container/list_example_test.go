package container_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/alloc/container"
)

// Tabs in the order of their use: the one that was used last is at the front, and the one that was
// not used for longest is closed.
func ExampleList_MoveToFront() {
	h, end := newHeap()
	defer end()
	tabs, err := container.NewList[int32](h)
	if err != nil {
		panic(err)
	}
	defer tabs.Close()
	var refs [4]alloc.Ref[int32]
	for i := range refs {
		if refs[i], err = tabs.PushFront(int32(i)); err != nil {
			panic(err)
		}
	}
	tabs.MoveToFront(refs[1])
	fmt.Println("close", tabs.Remove(tabs.Back()))
	for r := tabs.Front(); r != (alloc.Ref[int32]{}); r = tabs.Next(r) {
		fmt.Println("tab", *tabs.Get(r))
	}
	fmt.Println("before 2:", *tabs.Get(tabs.Prev(refs[2])))
	fmt.Println("0 is closed:", tabs.Get(refs[0]) == nil)
	tabs.Clear()
	tabs.Trim()
	fmt.Println(tabs.Len(), "left")
	// Output:
	// close 0
	// tab 1
	// tab 3
	// tab 2
	// before 2: 3
	// 0 is closed: true
	// 0 left
	// leaks: <nil> <nil>
}
