package job_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/job"
)

// Letters name the boxes that they go to, in any order and some twice. The list of boxes is cut by
// chunk, so no two workers have one box, and each box gets its letters in their order.
func ExampleJob_List() {
	type Box struct{ Last, Letters int }
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	box := ecs.Register[Box](w)
	boxes := ecs.NewArchetype(w, box)
	a, b, gone := boxes.Create(), boxes.Create(), boxes.Create()
	w.Destroy(gone)
	letters := []string{"bill", "card", "parcel", "book"}
	to := []ecs.Entity{b, a, gone, b}

	s := job.NewScheduler(w)
	defer s.Close()
	deliver := s.For(ecs.NewQuery(w, ecs.Write(box))).Named("deliver")
	h := deliver.List(to, func(_ *job.Ctx, rows ecs.Rows, listed []job.Listed) {
		boxes := box.Slice(rows)
		for _, l := range listed {
			boxes[l.Row].Last = l.Index
			boxes[l.Row].Letters++
		}
	})
	fmt.Println(h.Complete())
	for _, e := range []ecs.Entity{a, b} {
		fmt.Println(box.Get(e).Letters, "in the box, the last a", letters[box.Get(e).Last])
	}
	// Output:
	// <nil>
	// 1 in the box, the last a card
	// 2 in the box, the last a book
}
