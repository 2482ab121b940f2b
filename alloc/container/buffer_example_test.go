package container_test

import (
	"fmt"
	"os"
	"strings"

	"quarry/alloc/container"
)

// A request is read whole and taken apart; the same block then has the answer.
func ExampleBuffer_ReadFrom() {
	h, end := newHeap()
	defer end()
	b := container.NewBuffer(h)
	defer b.Close()
	if _, err := b.ReadFrom(strings.NewReader("G/index.html")); err != nil {
		panic(err)
	}
	kind, _ := b.ReadByte()
	path := make([]byte, 6)
	n, _ := b.Read(path)
	fmt.Printf("%c %s, and behind it %s\n", kind, path[:n], b.Bytes())

	b.Reset()
	if err := b.Grow(100); err != nil {
		panic(err)
	}
	_, _ = b.WriteString("answer: ") // has room
	good := b.Len()
	_, _ = b.Write([]byte("perhaps"))
	b.Truncate(good)
	_, _ = b.WriteString("yes\n")
	if _, err := b.WriteTo(os.Stdout); err != nil {
		panic(err)
	}
	fmt.Println(b.Len(), b.Cap() >= 100)
	b.Trim() // without unread bytes no block is needed
	fmt.Println(b.Cap())
	// Output:
	// G /index, and behind it .html
	// answer: yes
	// 0 true
	// 0
	// leaks: <nil> <nil>
}
