package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// People join a guild and leave it. The members of a guild lie together in memory, and the people
// without a guild do.
func ExampleShared_Add() {
	type Guild string

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	guild := ecs.RegisterShared[Guild](w)
	people := ecs.NewArchetype(w)
	ann, bob := people.Create(), people.Create()
	join := func(e ecs.Entity, g Guild) {
		if guild.Add(e, g) { // false if there is a guild already
			fmt.Println("welcome to the", g)
			return
		}
		old, _ := guild.Get(e)
		fmt.Println("first leave the", old)
	}
	join(ann, "smiths")
	join(bob, "smiths")
	join(bob, "bakers")
	fmt.Println(guild.Remove(bob), guild.Remove(bob), guild.Has(bob))
	join(bob, "bakers")
	fmt.Println(guild.Len("smiths"), guild.Values(nil))
	// Output:
	// welcome to the smiths
	// welcome to the smiths
	// first leave the smiths
	// true false false
	// welcome to the bakers
	// 1 [smiths bakers]
}
