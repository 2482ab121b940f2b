package system_test

import (
	"fmt"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// A package registers its systems, as here in its init; a program that imports it takes them.
func ExampleRegister() {
	say := func(what string) func() system.System {
		return func() system.System { return system.Func(func(*system.State) { fmt.Println(what) }) }
	}
	system.Register(system.Registration{Name: "rain", Group: "Weather", New: say("rain")})
	system.Register(system.Registration{
		Name: "wind", Group: "Weather", New: say("wind"), Order: []system.Ordering{system.Before("rain")},
	})
	system.Register(system.Registration{Name: "Weather", New: func() system.System { return system.NewGroup() }})
	system.Register(system.Registration{Name: "gauge", New: say("gauge"), Manual: true})

	systems, err := system.NewDefault(system.Within("Weather"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer systems.World().Close()
	defer systems.Close()
	_ = systems.Step(time.Second / 60)
	fmt.Println(systems.AddRegistered(system.Within("Climate")))
	// Output:
	// wind
	// rain
	// system: Systems.AddRegistered: Within("Climate"): there is no group of that name: what is registered does not fit together
}

// The default groups and points, with two systems whose jobs run one after the other because
// one writes what the other reads.
func ExampleSystems() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position, velocity := ecs.Register[position](w), ecs.Register[velocity](w)
	e := ecs.NewArchetype(w, position, velocity).Create()

	systems := system.New(w)
	defer systems.Close()
	systems.Add("move", system.Make(func(s *system.State) func() {
		move, dt := s.For(s.Query(ecs.Write(position), ecs.Read(velocity))), 0.0
		body := func(_ *job.Ctx, rows ecs.Rows) {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range rows.Each() {
				p[i].X += v[i].X * dt
			}
		}
		return func() { dt = s.Time().Seconds(); move.Parallel(body) }
	}), system.After("steer"))
	systems.Add("steer", system.Make(func(s *system.State) func() {
		steer := s.For(s.Query(ecs.Write(velocity)))
		body := func(_ *job.Ctx, rows ecs.Rows) {
			v := velocity.Slice(rows)
			for i := range rows.Each() {
				v[i].X += 10
			}
		}
		return func() { steer.Parallel(body) }
	}))
	for range 2 {
		if err := systems.Step(time.Second / 2); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(position.Get(e).X, velocity.Get(e).X)
	fmt.Print(systems)
	// Output:
	// 15 20
	// system                       kind           updates
	// root                         group                2
	//   Initialization             group                2
	//     BeginInitialization      command point        2
	//     EndInitialization        command point        2
	//   Simulation                 group                2
	//     BeginSimulation          command point        2
	//     FixedStep                group                2
	//     VariableRate             group                2
	//     steer                    system               2
	//     move                     system               2
	//     LateSimulation           group                2
	//     EndSimulation            command point        2
	//   Presentation               group                2
	//     BeginPresentation        command point        2
}

// A system with a life: it runs while there are enemies, and records what becomes of them for a
// command point.
type tower struct {
	health  ecs.Component[health]
	enemies *ecs.Query
	shots   int
}

func (t *tower) Create(s *system.State) error {
	t.enemies = s.Query(ecs.Write(t.health))
	s.Require(t.enemies)
	return nil
}

func (t *tower) Start(*system.State) { fmt.Println("enemies in sight") }
func (t *tower) Stop(*system.State)  { fmt.Println("all gone after", t.shots, "shots") }

func (t *tower) Update(s *system.State) {
	cb := s.Commands(s.Systems().EndSimulation())
	for rows := range t.enemies.Rows() {
		h := t.health.Slice(rows)
		for i, e := range rows.Entities() {
			t.shots++
			if h[i].Points--; h[i].Points == 0 {
				cb.Destroy(e)
			}
		}
	}
}

func ExampleState_Require() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	h := ecs.Register[health](w)
	systems := system.New(w)
	defer systems.Close()
	systems.Add("tower", &tower{health: h})
	systems.Initialization().Add("wave", system.Func(func(s *system.State) {
		if n := s.Time().Frame; n == 2 || n == 3 {
			cb := s.Commands(s.Systems().BeginSimulation())
			command.Set(cb, cb.Create(ecs.NewArchetype(w, h)), h, health{Points: int64(n)})
		}
	}))
	for range 8 {
		if err := systems.Step(time.Second / 60); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// enemies in sight
	// all gone after 5 shots
}
