package command_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/command"
)

type Position struct{ X, Y float32 }
type Velocity struct{ X, Y float32 }
type Target struct{ Of ecs.Entity }

// A turret fires while a loop over rows runs: the shot is recorded, and made afterwards.
func Example() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	target := ecs.Register[Target](w)
	turrets, shots := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, velocity)
	turret := turrets.Create()

	cb := command.NewBuffer(w)
	defer cb.Close()
	for rows := range ecs.NewQuery(w, ecs.Read(position)).Rows() {
		for i := range rows.Each() {
			shot := cb.Create(shots) // a placeholder
			command.Set(cb, shot, velocity, Velocity{1, 0})
			command.Add(cb, rows.Entities()[i], target, Target{Of: shot})
		}
	}
	cb.Remove(turret, position)
	fmt.Println(cb)
	if err := cb.Play(); err != nil {
		panic(err)
	}
	shot := target.Get(turret).Of
	fmt.Println("made", shot, *velocity.Get(shot), "position of the turret:", position.Has(turret))
	// Output:
	// 4 commands, 16384 B
	// key flight  part   no.  bytes  command
	//   0      0     0     0     16  Create [Position Velocity] as placeholder 0
	//   0      0     0     1     24  Set Velocity of placeholder 0
	//   0      0     0     2     24  Add Target of 1v1
	//   0      0     0     3     16  Remove Position of 1v1
	// made 2v1 {1 0} position of the turret: false
}
