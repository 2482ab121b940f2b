package ecs_test

import (
	"fmt"
	"math/bits"

	"quarry/alloc"
	"quarry/ecs"
)

// A client keeps which units it showed in the last frame, as the masks of the chunks, and compares
// whole words to count those that came into view. The bit of a unit lies where its row does.
func ExampleRows_Mask() {
	type Visible struct{}

	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	visible := ecs.Register[Visible](w, ecs.Enableable, ecs.MaxRows(128))
	units := ecs.NewArchetype(w, visible)
	batch, err := units.CreateN(300)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, shown := batch.Entities(nil), ecs.NewQuery(w, ecs.With(visible))
	blank := func() (masks [][]uint64) {
		for i := range units.Chunks() {
			_, _, rows := units.Chunk(i)
			masks = append(masks, make([]uint64, (rows+63)/64))
		}
		return masks
	}
	last := blank()
	frame := func() (came int) {
		masks := blank() // 0 for chunks without a visible unit
		for rows := range shown.Rows() {
			mask := masks[rows.Chunk()]
			copy(mask, rows.Mask())
			for i, word := range last[rows.Chunk()] {
				came += bits.OnesCount64(mask[i] &^ word)
			}
		}
		last = masks
		return came
	}
	wasShown := func(e ecs.Entity) bool {
		at, ok := w.Locate(e)
		return ok && last[at.Chunk][at.Row/64]>>(at.Row%64)&1 != 0
	}
	fmt.Println(frame(), "came")
	visible.DisableList(list[100:])
	fmt.Println(frame(), "came;", wasShown(list[99]), wasShown(list[100]))
	visible.EnableList(list[50:140])
	fmt.Println(frame(), "came;", wasShown(list[99]), wasShown(list[100]), wasShown(list[299]))
	// Output:
	// 300 came
	// 0 came; true false
	// 40 came; true true false
}
