package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A level is made in a world of its own, which another goroutine could do, and handed
// over as a whole; its turrets are copies of a pattern of two entities, and a clone of the
// game goes back to before a mistake.
func ExampleWorld_MoveAll() {
	type Health struct{ HP int32 }
	type Aim struct{ Base ecs.Entity }

	game, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer game.Close()
	level, err := ecs.NewWorld(ecs.WithUniverse(game.Universe()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer level.Close() // before the game, whose universe it uses

	health, aim := ecs.Register[Health](level), ecs.Register[Aim](level)
	group, prefab := ecs.RegisterBuffer[ecs.LinkedEntity](level), ecs.Register[ecs.Prefab](level)
	base := ecs.NewArchetype(level, health, group, prefab).Create()
	gun := ecs.NewArchetype(level, aim, prefab).Create()
	health.Set(base, Health{50})
	aim.Set(gun, Aim{base})
	group.Append(base, ecs.LinkedEntity{Entity: gun})
	batch, err := level.InstantiateN(base, 3) // three bases, three guns
	fmt.Println(batch.Len(), err)

	moved, err := game.MoveAll(level)
	fmt.Println(moved.Len(), "moved,", level.Stats().Alive, "left")
	aims := ecs.NewQuery(game, ecs.Read(ecs.Register[Aim](game)))
	same := 0
	for rows := range aims.Rows() {
		for _, a := range ecs.Register[Aim](game).Slice(rows) {
			if game.Alive(a.Base) && a.Base != moved.Of(base) {
				same++
			}
		}
	}
	fmt.Println(same, "guns aim from bases of their own") // the pattern is hidden from queries

	before, err := game.Clone(ecs.WithUniverse(game.Universe()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer before.Close()
	game.DestroyQuery(aims)
	fmt.Println(game.Stats().Alive, "alive,", before.Stats().Alive, "before")
	// Output:
	// 6 <nil>
	// 8 moved, 0 left
	// 3 guns aim from bases of their own
	// 5 alive, 8 before
}
