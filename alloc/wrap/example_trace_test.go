package wrap_test

import (
	"bytes"
	"fmt"
	"regexp"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// What is recorded here can be replayed by go run ./bench -only trace -trace FILE.
func ExampleTrace() {
	u, err := alloc.NewUniverse()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	heap, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()
	var text bytes.Buffer // or a file
	trace := wrap.NewTrace(heap, &text)
	p, err := trace.Alloc(100, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := trace.Flush(); err != nil { // so that the file has what came before a crash
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.Count(text.Bytes(), []byte("\n")), "line so far")
	trace.ResizeSized(p, 100, 0, 90)
	trace.FreeSized(p, 90, 0)
	if err := trace.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(regexp.MustCompile(`0x\w+`).ReplaceAllString(text.String(), "0x..."))
	// Output:
	// 1 line so far
	// 1: malloc 0x... 100
	// 1: realloc 0x... 0x... 90
	// 1: free 0x...
}
