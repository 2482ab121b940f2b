package alloc_test

import (
	"fmt"

	"quarry/alloc"
)

// A table of particles: records are made, written, looked at, freed, and walked
// column by column.
func ExampleTable() {
	type Position struct{ X, Y float64 }
	type Age int32

	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	t, err := alloc.NewTable(u, alloc.Col[Position](), alloc.Col[Age](), alloc.PreAllocate(1000))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()

	var handles []alloc.Handle
	for i := range 3 {
		h, err := t.Allocate()
		if err != nil {
			fmt.Println(err)
			return
		}
		alloc.Create(t, h, Position{float64(i), 1})
		*alloc.Get[Age](t, h) = Age(10 * i)
		handles = append(handles, h)
	}
	moved, ok := t.Free(handles[0])
	fmt.Println("the last record moved:", ok, moved == handles[2])
	fmt.Println("its age, under the freed handle:", *alloc.Get[Age](t, handles[0]))
	for chunk := range t.Chunks() {
		for i, p := range alloc.ColumnOf[Position](t, chunk) {
			fmt.Println(i, p)
		}
	}
	fmt.Println(t.Len(), "records")
	// Output:
	// the last record moved: true true
	// its age, under the freed handle: 20
	// 0 {2 1}
	// 1 {1 1}
	// 2 records
}
