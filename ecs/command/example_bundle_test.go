package command_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/command"
)

// Shots are recorded by a bundle: one call for the entity and all of its values.
func ExampleBundle() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	shots := ecs.NewArchetype(w, position, velocity)
	type Shot struct {
		Position Position
		Velocity Velocity
	}
	fire := command.NewBundle[Shot](w) // once

	cb := command.NewBuffer(w)
	defer cb.Close()
	shot := fire.Create(cb, shots, Shot{Position{3, 4}, Velocity{1, 0}})
	fmt.Println(cb)
	if err := cb.Play(); err != nil {
		panic(err)
	}
	e := cb.Made(shot)
	fmt.Println(*position.Get(e), *velocity.Get(e))
	// Output:
	// 3 commands, 16384 B
	// key flight  part   no.  bytes  command
	//   0      0     0     0     16  Create [Position Velocity] as placeholder 0
	//   0      0     0     1     24  Set Position of placeholder 0
	//   0      0     0     2     24  Set Velocity of placeholder 0
	// {3 4} {1 0}
}
