package guide_test

import (
	"fmt"

	"quarry/ecs"
)

// Page 6: an array each.
func Example_buffer() {
	type Stop struct{ Harbour, Day int32 }

	w, _ := ecs.NewWorld()
	defer w.Close()
	route := ecs.RegisterBuffer[Stop](w, ecs.Inline(4))
	name := ecs.RegisterBuffer[byte](w)
	ships := ecs.NewArchetype(w, route, name)
	e, f := ships.Create(), ships.Create()
	name.Append(e, []byte("Petrel")...)
	route.Append(e, Stop{1, 3}, Stop{2, 9})
	if b, ok := route.Mut(e); ok {
		b.Insert(1, Stop{7, 5})
		b.Slice()[0].Day = 2
		fmt.Println(string(name.Slice(e)), b.Slice(), b.Len(), b.Cap())
	}
	for day := range int32(10) {
		route.Append(f, Stop{Harbour: day, Day: day})
	}
	fmt.Println(w.Stats().Buffers, "buffer has spilled")
	late := ecs.NewQuery(w, ecs.Write(route))
	for rows := range late.Rows() {
		for i := range rows.Each() {
			b := route.At(rows, i)
			for b.Len() > 0 && b.Slice()[0].Day < 4 {
				b.RemoveAt(0)
			}
			fmt.Println(rows.Entities()[i], b.Len(), "stops left")
		}
	}
	b, _ := route.Get(f)
	fmt.Println(caught(func() { b.Append(Stop{}) }))
	w.Destroy(e)
	fmt.Println(caught(func() { b.Len() }))
	// Output:
	// Petrel [{1 2} {7 5} {2 9}] 3 4
	// 1 buffer has spilled
	// 1v1 2 stops left
	// 2v1 6 stops left
	// ecs: DynamicBuffer.Append: the []Stop was opened to read: use Buffer.Mut or ecs.Write
	// ecs: DynamicBuffer.Len: the view of a []Stop is no longer current: the world has changed since it was taken
}
