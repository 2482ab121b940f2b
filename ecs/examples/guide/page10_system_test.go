package guide_test

import (
	"errors"
	"fmt"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// Page 10: a frame.
func Example_system() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	balls := ecs.NewArchetype(w, position, velocity)

	systems := system.New(w)
	defer systems.Close() // before the world
	systems.Add("move", system.Make(func(s *system.State) func() {
		move, dt := s.For(s.Query(ecs.Write(position), ecs.Read(velocity))), 0.0
		body := func(c *job.Ctx, rows ecs.Rows) {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range rows.Each() {
				p[i].X += v[i].X * dt
			}
		}
		return func() { dt = s.Time().Seconds(); move.Parallel(body) } // in every frame
	}))
	systems.Add("fire", system.Func(func(s *system.State) {
		cb := s.Commands(s.Systems().BeginSimulation()) // played in the next frame
		command.Set(cb, cb.Create(balls), velocity, Velocity{X: 10})
	}), system.Before("move"))
	systems.Presentation().Add("show", system.Make(func(s *system.State) func() {
		moved := s.Query(ecs.Read(position), ecs.Changed(position))
		s.Require(moved)
		return func() { fmt.Println("frame", s.Time().Frame, position.Values(moved, nil)) }
	}))
	for range 3 {
		if err := systems.Step(time.Second / 2); err != nil { // Update goes by the clock
			fmt.Println(err)
		}
	}

	systems.Find("fire").Disable()
	systems.Add("broken", system.Func(func(s *system.State) { balls.Create(); panic("no wind") }))
	var failed *system.PanicError
	if errors.As(systems.Step(time.Second/2), &failed) {
		fmt.Println(failed.System, failed.Call, failed.Value)
	}
	_, err := systems.TryAdd("aim", system.Func(func(*system.State) {}), system.Before("fire"), system.After("move"))
	fmt.Println(err)
	// Output:
	// frame 2 [{5 0}]
	// frame 3 [{10 0} {5 0}]
	// frame 4 [{15 0} {10 0} {5 0} {0 0}]
	// broken Update no wind
	// system: Group.Add: aim: the order goes in a circle: move before aim before fire before move
}

// Page 10: an update that reads an entity without a query.
func Example_systemUses() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	ball := ecs.NewArchetype(w, position, velocity).Create()
	velocity.Set(ball, Velocity{X: 10})

	systems := system.New(w)
	defer systems.Close()
	systems.Add("move", system.Make(func(s *system.State) func() {
		move := s.For(s.Query(ecs.Write(position), ecs.Read(velocity)))
		body := func(c *job.Ctx, rows ecs.Rows) {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range rows.Each() {
				p[i].X += v[i].X
			}
		}
		return func() { move.Parallel(body) } // goes on beside the next systems
	}))
	systems.Add("guess", system.Func(func(*system.State) {
		fmt.Println(caught(func() { position.Get(ball) }))
	}))
	systems.Add("camera", system.Make(func(s *system.State) func() {
		s.Uses(ecs.Read(position)) // before each update, jobs that write Position are completed
		return func() { fmt.Println("camera at", position.Get(ball).X) }
	}))
	fmt.Println(systems.Step(time.Second / 2))
	// Output:
	// ecs: Component.Get: Position is lent to job move, which writes it: complete it first; inside it use its rows
	// camera at 10
	// <nil>
}
