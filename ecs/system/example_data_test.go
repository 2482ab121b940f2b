package system_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quarry/ecs"
	"quarry/ecs/system"
)

// The score of a game is a component of one entity, which systems find by its type.
func ExampleSingleton() {
	type score struct{ Points int }
	w, _ := ecs.NewWorld()
	defer w.Close()
	points := ecs.Register[score](w)
	game := system.NewSingleton(w, points)
	defer game.Close()
	systems := system.New(w)
	defer systems.Close()
	systems.Add("win", system.Make(func(s *system.State) func() {
		s.Require(game.Query()) // there is a game
		s.Uses(ecs.Write(points))
		return func() {
			p, err := game.Mut()
			if err != nil {
				panic(err)
			}
			p.Points += 10
		}
	}))
	_ = systems.Step(time.Second / 60)
	e := ecs.NewArchetype(w, points).Create()
	fmt.Println(game.Set(score{Points: 5}))
	_ = systems.Step(time.Second / 60)
	only, _ := game.Entity()
	p, _ := game.Get()
	fmt.Println(only == e, p.Points)
	ecs.NewArchetype(w, points).Create()
	_, err := game.Get()
	fmt.Println(err)
	// Output:
	// <nil>
	// true 15
	// ecs: Query.Single: query(With score) matches 2: not exactly one entity
}

// Two systems share a type that one of them writes, and nobody has said which goes first.
func ExampleSystems_Ambiguities() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	place := ecs.Register[position](w)
	systems := system.New(w)
	defer systems.Close()
	systems.Add("move", system.Make(func(s *system.State) func() {
		s.Query(ecs.Write(place))
		return func() {}
	}))
	systems.Add("aim", system.Make(func(s *system.State) func() {
		s.Query(ecs.Read(place))
		return func() {}
	}))
	for _, a := range systems.Ambiguities() {
		fmt.Println("in", a.Group, a.First, "happens to come before", a.Second, "though they share", a.Types)
	}
	// Output: in Simulation move happens to come before aim though they share [position]
}

// recorder writes what happens to a file, which it ends when the systems are closed.
type recorder struct{ frames int }

func (r *recorder) Update(*system.State)  { r.frames++ }
func (r *recorder) Destroy(*system.State) { fmt.Println("closed after", r.frames, "frames") }

// A system that has something to release is told when it is removed, or all systems are closed.
func ExampleDestroyer() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	systems := system.New(w)
	var told system.Destroyer = &recorder{}
	systems.Add("record", told.(system.System))
	for range 2 {
		_ = systems.Step(time.Second / 60)
	}
	fmt.Println(systems.Close())
	// Output:
	// closed after 2 frames
	// <nil>
}

// A program lists what its packages have registered, and takes one that waits to be named.
func ExampleRegistered() {
	system.Register(system.Registration{Name: "chart", Group: "Navigation", New: idle})
	system.Register(system.Registration{Name: "needle", Group: "Navigation", New: idle, Manual: true})
	for _, r := range system.Registered() {
		if r.Group == "Navigation" {
			fmt.Println(r.Name, "of", r.Package)
		}
	}
	w, _ := ecs.NewWorld()
	defer w.Close()
	systems := system.New(w)
	defer systems.Close()
	navigation := system.NewGroup()
	systems.Add("Navigation", navigation)
	fmt.Println(systems.AddRegistered(system.Within("Navigation"), system.Including("needle")))
	for _, s := range navigation.Systems() {
		fmt.Println("taken:", s.Name())
	}
	err := systems.AddRegistered(system.Including("sextant"))
	fmt.Println(errors.Is(err, system.ErrRegistration))
	// Output:
	// chart of quarry/ecs/system_test
	// needle of quarry/ecs/system_test
	// <nil>
	// taken: chart
	// taken: needle
	// true
}

// A window belongs to all systems, and the program outside of them asks for it too.
func ExampleResourceOf() {
	type window struct{ Title string }
	w, _ := ecs.NewWorld()
	defer w.Close()
	systems := system.New(w)
	defer systems.Close()
	fmt.Println(system.ResourceOf[window](systems) == nil)
	system.SetResource(systems, &window{"menu"})
	systems.Add("title", system.Make(func(s *system.State) func() {
		screen := system.Resource[window](s)
		return func() { screen.Title = fmt.Sprint("frame ", s.Time().Frame) }
	}))
	_ = systems.Step(time.Second / 60)
	fmt.Println(system.ResourceOf[window](systems).Title)
	// Output:
	// true
	// frame 1
}

// A handler of a server reads the world as it was at the end of a frame, while frames go on.
func ExampleSnapshots_Take() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	place := ecs.Register[position](w)
	e := ecs.NewArchetype(w, place).Create()
	systems := system.New(w)
	place.Set(e, position{X: 7})
	snapshots := systems.Snapshots()
	answer := make(chan float64)
	go func() {
		s, err := snapshots.Take(context.Background())
		if err != nil {
			fmt.Println(err)
		}
		x := place.Lookup(s.Snapshot).Get(e).X
		s.Release()
		answer <- x
	}()
	for waiting := true; waiting; {
		select {
		case x := <-answer:
			fmt.Println(x)
			waiting = false
		default:
			_ = systems.Step(time.Second / 60)
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println(systems.Close())
	_, err := snapshots.Take(context.Background())
	fmt.Println(errors.Is(err, system.ErrClosed))
	// Output:
	// 7
	// <nil>
	// true
}
