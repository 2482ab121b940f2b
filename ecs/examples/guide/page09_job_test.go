package guide_test

import (
	"errors"
	"fmt"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
)

// Page 9: changes that are made later.
func Example_command() {
	type Cannon struct{ Shots int }

	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	cannon := ecs.Register[Cannon](w)
	balls := ecs.NewArchetype(w, position, velocity)
	ships := ecs.NewArchetype(w, position, cannon)
	ship := ships.Create()
	cannon.Set(ship, Cannon{Shots: 1})

	cb := command.NewBuffer(w)
	defer cb.Close()
	armed := ecs.NewQuery(w, ecs.Read(position), ecs.Write(cannon))
	for rows := range armed.Rows() {
		p, c, e := position.Slice(rows), cannon.Slice(rows), rows.Entities()
		for i := range rows.Each() {
			ball := cb.Create(balls) // a placeholder until Play
			command.Set(cb, ball, position, p[i])
			command.Set(cb, ball, velocity, Velocity{X: 10})
			if c[i].Shots--; c[i].Shots == 0 {
				cb.Remove(e[i], cannon)
			}
		}
	}
	fmt.Println(cb.Len(), "commands,", balls.Len(), "balls")
	fmt.Println(cb.Play(), balls.Len(), "ball,", armed.Count(), "armed")
	command.Set(cb, ship, cannon, Cannon{Shots: 3})
	var refused *command.PlayError
	if errors.As(cb.Play(), &refused) {
		f := refused.Failures[0]
		fmt.Println(f.Command, "of", f.Entity, "fails:", f.Why)
	}
	// Output:
	// 4 commands, 0 balls
	// <nil> 1 ball, 0 armed
	// Set Cannon of 1v1 fails: the entity does not have the type then
}

// Page 9: work on several goroutines.
func Example_job() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	batch, _ := ecs.NewArchetype(w, position, velocity).CreateN(10_000)
	for i, e := range batch.Entities(nil) {
		velocity.Set(e, Velocity{X: float64(i % 10)})
	}
	s := job.NewScheduler(w)
	defer s.Close()
	cb := command.NewBuffer(w)
	defer cb.Close()
	sail := s.For(ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))).Named("sail")
	sink := s.For(ecs.NewQuery(w, ecs.Read(position))).Named("sink")
	sail.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		p, v := position.Slice(rows), velocity.Slice(rows)
		for i := range rows.Each() {
			p[i].X += v[i].X
		}
	})
	sink.Parallel(func(c *job.Ctx, rows ecs.Rows) { // after sail, which writes what it reads
		out := cb.Parallel(c) // a writer of its own: never cb itself
		p, e := position.Slice(rows), rows.Entities()
		for i := range rows.Each() {
			if p[i].X == 0 {
				out.Destroy(e[i])
			}
		}
	})
	fmt.Print(s)
	fmt.Println(s.Complete(), cb.Play(), w.Stats().Alive)
	// Output:
	// job           rows  parts  after            access
	// sail         10000     79                   query(Write Position, Read Velocity)
	// sink         10000     79  sail             query(Read Position)
	// <nil> <nil> 9000
}
