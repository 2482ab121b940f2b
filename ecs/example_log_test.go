package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A server logs what the world holds and what it keeps in reserve. The line shows ids that were
// reserved and forgotten, and how much memory Trim would give back.
func ExampleWorld_Stats() {
	type Place struct{ X, Y float64 }
	type Item struct{ Kind, Count int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	place, items := ecs.Register[Place](w), ecs.RegisterBuffer[Item](w)
	units := ecs.NewArchetype(w, place)
	log := func(when string) {
		s := w.Stats()
		fmt.Printf("%s alive=%d reserved=%d chunks=%d reserve=%d small=%d/%d buffers=%d spilled=%dB\n", when,
			s.Alive, s.Reserved, s.Chunks, s.Reserve, s.Small, s.Shared, s.Buffers, s.Spilled)
	}
	chest := ecs.NewArchetype(w, items).Create()
	log("start")
	batch, err := units.CreateN(20_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	list := batch.Entities(nil)
	for i := range 100 {
		items.Append(chest, Item{Kind: i})
	}
	if err := w.Reserve(make([]ecs.Entity, 5)); err != nil {
		fmt.Println(err)
	}
	log("busy ")
	w.DestroyList(list[10_000:])
	log("night")
	w.Trim()
	log("trim ")
	// Output:
	// start alive=1 reserved=0 chunks=0 reserve=0 small=1/1 buffers=0 spilled=0B
	// busy  alive=20001 reserved=5 chunks=30 reserve=0 small=1/1 buffers=1 spilled=2048B
	// night alive=10001 reserved=5 chunks=16 reserve=14 small=1/1 buffers=1 spilled=2048B
	// trim  alive=10001 reserved=5 chunks=16 reserve=0 small=1/1 buffers=1 spilled=2048B
}
