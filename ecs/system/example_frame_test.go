package system_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/pprof"
	"strings"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"
)

// idle returns a system that does nothing.
func idle() system.System { return system.Func(func(*system.State) {}) }

// A group of one's own: its order, a circle that is refused, and what comes of switching it off.
func ExampleGroup() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	systems := system.New(w)
	defer systems.Close()
	weather := system.NewGroup()
	systems.Simulation().Add("weather", weather)
	weather.Add("rain", idle())
	weather.Add("wind", idle(), system.Before("rain"))
	_, err := weather.TryAdd("sun", idle(), system.Before("wind"), system.After("rain"))
	fmt.Println("a circle:", errors.Is(err, system.ErrCycle))
	show := func() {
		_ = systems.Step(time.Second / 60)
		for _, s := range weather.Systems() {
			fmt.Print(s.Name(), " ", s.Timing().Updates, " running: ", s.Running(), "; ")
		}
		fmt.Println("weather:", weather.State().Enabled())
	}
	show()
	weather.State().Disable()
	show()
	weather.State().Enable()
	systems.Find("wind").Remove()
	show()
	for _, s := range systems.Root().Systems() {
		fmt.Println(s.Name())
	}
	// Output:
	// a circle: true
	// wind 1 running: true; rain 1 running: true; weather: true
	// wind 1 running: false; rain 1 running: false; weather: false
	// rain 2 running: true; weather: true
	// Initialization
	// Simulation
	// Presentation
}

// Points of a frame: what input records is there in the same frame; what drawing records comes with
// the next.
func ExampleState_Commands() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	ball := ecs.Register[position](w)
	balls := ecs.NewArchetype(w, ball)
	q := ecs.NewQuery(w, ecs.With(ball))
	systems := system.New(w)
	defer systems.Close()
	create := func(p *system.Point) system.System {
		return system.Func(func(s *system.State) { s.Commands(p).Create(balls) })
	}
	count := func(s *system.State) { fmt.Println("frame", s.Time().Frame, s.Name(), "sees", q.Count()) }
	systems.Initialization().Add("input", create(systems.EndInitialization()))
	systems.Add("move", system.Func(count))
	systems.Add("effects", create(systems.BeginPresentation()), system.After("move"))
	systems.Presentation().Add("draw", system.Func(count))
	systems.Presentation().Add("menu", create(systems.BeginInitialization()))
	for range 2 {
		if err := systems.Step(time.Second / 60); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// frame 1 move sees 1
	// frame 1 draw sees 2
	// frame 2 move sees 4
	// frame 2 draw sees 5
}

// Steps of a tenth of a second: a frame is drawn between two of them, and a frame that comes late
// drops what is more than four.
func ExampleFixed() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	systems := system.New(w)
	defer systems.Close()
	rate := system.NewFixed(100*time.Millisecond, 4)
	systems.FixedStep().SetRate(rate)
	steps := systems.FixedStep().Add("physics", idle())
	systems.VariableRate().SetRate(system.NewVariable(time.Second, 2*time.Second))
	seldom := systems.VariableRate().Add("map", idle())
	for _, d := range []time.Duration{150 * time.Millisecond, time.Second} {
		if err := systems.Step(d); err != nil {
			fmt.Println(err)
		}
		between := 1 - rate.Ahead().Seconds()/rate.Step().Seconds()
		fmt.Println(steps.Timing().Updates, "steps, drawn at", between, "dropped", rate.Dropped())
	}
	fmt.Println(seldom.Timing().Updates, "maps")
	// Output:
	// 2 steps, drawn at 0.5 dropped 0s
	// 6 steps, drawn at 1 dropped 550ms
	// 2 maps
}

// Where the owner's time goes, system by system.
func ExampleSystems_Timings() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	systems := system.New(w)
	defer systems.Close()
	systems.Add("think", system.Func(func(*system.State) { time.Sleep(time.Millisecond) }))
	for range 3 {
		if err := systems.Step(time.Second / 60); err != nil {
			fmt.Println(err)
		}
	}
	for _, t := range systems.Timings() {
		if t.Mean() >= time.Millisecond { // it, and the groups around it
			fmt.Println(strings.Repeat("  ", t.Depth)+t.System, t.Updates, t.Last <= t.Max && t.Max < t.Total)
		}
	}
	// Output:
	// root 3 true
	//   Simulation 3 true
	//     think 3 true
}

// A program with a scheduler, a clock for a replay, labels for profiles and a logger of its own.
func ExampleNew() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	jobs := job.NewScheduler(w)
	defer jobs.Close()
	now := time.Unix(0, 0)
	labels := pprof.WithLabels(context.Background(), pprof.Labels("world", "east"))
	systems := system.New(w, system.WithScheduler(jobs), system.Clock(func() time.Time { return now }),
		system.Context(labels), system.Logger(slog.New(slog.DiscardHandler)), system.TraceCommands())
	defer systems.Close()
	h, e := ecs.Register[health](w), ecs.NewArchetype(w, ecs.Register[position](w)).Create()
	systems.Add("heal", system.Func(func(s *system.State) {
		command.Set(s.Commands(s.Systems().EndSimulation()), e, h, health{Points: 9}) // it has none
	}), system.After("harm")) // which nobody has added
	for range 3 {
		err := systems.Update()
		now = now.Add(time.Second / 50)
		var refused *command.PlayError
		if errors.As(err, &refused) && systems.Time().Frame == 3 {
			f := refused.Failures[0]
			fmt.Println(f.Command, "fails;", strings.Contains(f.Line, "example_frame_test.go:"))
		}
	}
	fmt.Println(systems.Time().Elapsed, len(systems.Warnings()), "warning", jobs == systems.Scheduler())
	// Output:
	// Set health fails; true
	// 40ms 1 warning true
}

// A system that panics, and one that leaves a loop open, are errors of the frame; others run.
func ExamplePanicError() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	ball := ecs.Register[position](w)
	ecs.NewArchetype(w, ball).Create()
	q := ecs.NewQuery(w, ecs.With(ball))
	systems := system.New(w)
	defer systems.Close()
	calm := errors.New("no wind")
	systems.Add("sail", system.Func(func(*system.State) { panic(calm) }))
	err := systems.Step(time.Second / 60)
	var failed *system.PanicError
	fmt.Println(errors.As(err, &failed), errors.Is(err, system.ErrPanic), errors.Is(err, calm))
	fmt.Println(failed.System, failed.Call, bytes.Contains(failed.Stack, []byte("ExamplePanicError")))

	var stop func()
	systems.Find("sail").Remove()
	systems.Add("peek", system.Func(func(*system.State) {
		var next func() (ecs.Rows, bool)
		next, stop = iter.Pull(q.Rows())
		next()
	}))
	err = systems.Step(time.Second / 60)
	fmt.Println(errors.Is(err, system.ErrLocked))
	stop()
	// Output:
	// true true true
	// sail Update true
	// true
}
