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
