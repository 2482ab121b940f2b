package container_test

import (
	"bytes"
	"fmt"

	"quarry/alloc/container"
)

// Words of a line, each kept once. What a program knows of a word lies beside, by the slot of its
// id.
func ExampleText_InternBytes() {
	h, end := newHeap()
	defer end()
	words := container.NewText(h)
	defer words.Close()
	var last []int // by slot: where the word came last
	for i, word := range bytes.Fields([]byte("red green red blue red")) {
		id, err := words.InternBytes(word)
		if err != nil {
			panic(err)
		}
		for int(id.Slot) >= len(last) {
			last = append(last, 0)
		}
		last[id.Slot] = i
	}
	for id, word := range words.All() {
		fmt.Printf("%s: %d times, last as word %d\n", word, words.Refs(id), last[id.Slot])
	}
	fmt.Println(words.Len(), "words of", words.Bytes(), "bytes")

	red, ok := words.FindBytes([]byte("red"))
	words.Retain(red) // for one more place that has the id
	fmt.Println(ok, words.Refs(red))
	words.Clear()
	again, _ := words.InternBytes([]byte("red"))
	fmt.Println(words.Has(red), words.Has(again), again.Generation > 0) // 0 is the generation of no text
	// Output:
	// red: 3 times, last as word 4
	// green: 1 times, last as word 1
	// blue: 1 times, last as word 3
	// 3 words of 12 bytes
	// true 4
	// false true true
	// leaks: <nil> <nil>
}
