package container_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/alloc/container"
)

func ExampleMap() {
	u, err := alloc.NewUniverse()
	if err != nil {
		panic(err)
	}
	defer u.Close()
	h, err := alloc.NewHeap(u)
	if err != nil {
		panic(err)
	}
	defer h.Close()
	m, err := container.NewMap[uint64, [2]float32](h)
	if err != nil {
		panic(err)
	}
	defer m.Close()

	for id := range uint64(1000) {
		if err := m.Set(id, [2]float32{float32(id), 1}); err != nil {
			panic(err)
		}
	}
	at, ok := m.Get(41)
	fmt.Println(at, ok, m.Len())
	m.At(41)[1] = 7 // in place; the address is good until a key is added or removed
	for id := range m.All() {
		if id%2 == 0 {
			m.Delete(id)
		}
	}
	at, ok = m.Get(41)
	fmt.Println(at, ok, m.Len(), m.Has(40))
	// Output:
	// [41 1] true 1000
	// [41 7] true 500 false
}

// How often each letter comes: one search a letter, whether it is there or not.
func ExampleMap_GetOrAdd() {
	h, end := newHeap()
	defer end()
	counts, err := container.NewMap[byte, int32](h)
	if err != nil {
		panic(err)
	}
	defer counts.Close()
	letters := 0
	for _, letter := range []byte("mississippi") {
		n, added, err := counts.GetOrAdd(letter)
		if err != nil {
			panic(err)
		}
		if added {
			letters++
		}
		*n++
	}
	fmt.Println(letters, "letters, s", *counts.At('s'), "times")
	for letter := range counts.All() {
		if letter != 's' {
			counts.Delete(letter)
		}
	}
	counts.Trim() // what one letter does not need
	fmt.Println(counts.Len())
	// Output:
	// 4 letters, s 4 times
	// 1
	// leaks: <nil> <nil>
}
