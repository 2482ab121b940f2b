// Package system runs the frames of a program: systems, in groups and in order, the jobs that they
// schedule, and the command points at which the changes they recorded are made.
//
//	systems := system.New(w)
//	systems.Add("move", system.Make(func(s *system.State) func() {
//		move := s.For(s.Query(ecs.Write(position), ecs.Read(velocity))) // once
//		dt := 0.0
//		body := func(c *job.Ctx, rows ecs.Rows) { ... }
//		return func() { dt = s.Time().Seconds(); move.Parallel(body) }  // in each frame
//	}), system.After("steer"))
//	err := systems.Update()
//
// A system is a function, a value from Make, or a type with Update; such a type may also get calls
// when it is created, starts, stops and is destroyed. A system gets everything from its State:
// queries whose Changed means "since this system last ran", jobs, buffers of command points,
// requirements. Printing the systems shows the default groups and points, with the systems added:
//
//	system                       kind           updates
//	root                         group                2
//	  Initialization             group                2
//	    BeginInitialization      command point        2
//	    EndInitialization        command point        2
//	  Simulation                 group                2
//	    BeginSimulation          command point        2
//	    FixedStep                group                2
//	    VariableRate             group                2
//	    steer                    system               2
//	    move                     system               2
//	    LateSimulation           group                2
//	    EndSimulation            command point        2
//	  Presentation               group                2
//	    BeginPresentation        command point        2
//
// Order: within a group by First and Last, then by Before and After, then by the order of adding. A
// cycle is an error that prints the path; a target that does not exist is a warning. Ambiguities
// lists pairs of systems whose access conflicts and whose order is not fixed. Shuffle lets a test
// find out whether such an order matters.
//
// Instead of being added, systems may be registered by packages (Register) and taken by a program,
// all or some (Systems.AddRegistered, NewDefault).
//
// Jobs of a system wait for conflicting jobs of the systems before it and run beside all others. An
// update waits for jobs that conflict with its own access (Query, Uses), and for its system's jobs
// from an earlier step. A command point that handed out buffers waits for all jobs, as does the end
// of the frame.
//
// Ownership: Systems owns its scheduler and the queries and buffers of each State. Call Close
// before World.Close. Goroutines: the world's owner only, one call at a time. Garbage collector: a
// frame allocates nothing. Make bodies of jobs once, since each Go closure is an allocation.
//
// Failure: a panic in a system or in a body becomes an error of Update with the name of the system
// or job; the other systems still run. A broken contract panics: adding a system twice or a group
// to itself, an update inside another or of a closed world, recording for a point after it has
// updated.
//
// Determinism: a frame run by Step is the same for any number of workers, if the bodies are
// deterministic.
//
// Cost, on two cores of an EPYC, three runs (go test ./ecs/system -bench .): 1.1 to 1.2 us a frame
// plus 92 to 96 ns a system, without the systems' work. Two systems that share no type, with one
// job of 0.4 ms each, take 0.57 to 0.69 of the time of two that conflict.
package system
