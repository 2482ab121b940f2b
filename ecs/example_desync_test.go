package ecs_test

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// Two players run the same battle and send each other the hash after each turn. One of them has a
// bug, and the sums show where.
func ExampleHasher() {
	type Position struct{ X, Y int32 }
	type Armor struct{ Points int32 }
	type player struct {
		w      *ecs.World
		armor  ecs.Component[Armor]
		tanks  []ecs.Entity
		hasher *ecs.Hasher
	}
	join := func() (p player) {
		p.w, _ = ecs.NewWorld()
		position := ecs.Register[Position](p.w)
		p.armor = ecs.Register[Armor](p.w)
		batch, err := ecs.NewArchetype(p.w, position, p.armor).CreateN(10_000)
		if err != nil {
			fmt.Println(err)
		}
		p.tanks, p.hasher = batch.Entities(nil), ecs.NewHasher(p.w)
		return p
	}
	here, there := join(), join()
	defer here.w.Close()
	defer there.w.Close()

	here.armor.Set(here.tanks[5000], Armor{3})
	there.armor.Set(there.tanks[5000], Armor{3})
	fmt.Println(here.hasher.Sum() == there.hasher.Sum())

	here.armor.Set(here.tanks[5001], Armor{2})
	there.armor.Set(there.tanks[5001], Armor{-1}) // the bug
	fmt.Println(here.hasher.Sum() == there.hasher.Sum())

	message := there.hasher.AppendSums(nil) // 8 bytes for each 4,096 rows of a column
	d, err := here.hasher.Compare(message)
	if errors.Is(err, ecs.ErrSums) {
		fmt.Println("the message is damaged:", err)
		return
	}
	for _, c := range here.w.Components() {
		if c.Type == d.Type {
			fmt.Println(c.Go.Name(), "of rows", d.First, "to", d.First+d.Rows-1, "of", d.Archetype)
		}
	}
	// Output:
	// true
	// false
	// Armor of rows 4096 to 8191 of [Position Armor]
}
