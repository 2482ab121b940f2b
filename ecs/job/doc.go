// Package job runs work over the rows of queries on several goroutines. The terms of the queries
// decide which jobs run together and which one after the other.
//
//	s := job.NewScheduler(w)
//	move := s.For(ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))).Named("move") // once
//	h := move.Parallel(func(c *job.Ctx, rows ecs.Rows) {                                  // every frame
//		p, v := position.Slice(rows), velocity.Slice(rows)
//		for i := range rows.Each() { p[i].X += v[i].X * dt }
//	})
//	err := h.Complete() // or s.Complete(), of all
//
//	chase := s.For(q).Uses(ecs.Read(health))       // look-ups: health.Lookup(c.Accessor())
//	hit := s.For(q).Exclusive(ecs.Write(score))    // to write, each entity by one row only
//	sum := job.NewPartials[float64]()              // s.For(q).Reduces(sum): *sum.At(c) += x,
//	total := sum.Fold(0, add)                      // the same to the bit for any number of workers
//	s.For(q).List(targets, strike)                 // a list of entities, each on one worker
//
// If one of two jobs in flight writes what the other uses, they run in the order of scheduling;
// other jobs run together. Printing the scheduler shows the dependencies:
//
//	job           rows  parts  after            access
//	steer       100000    123                   query(Write Velocity)
//	move        100000    123  steer            query(Write Position, Read Velocity)
//	count       100000    123  move             query(Read Position)
//	audit       100000    123  steer            query(Read Velocity)
//
// Rows are cut into parts of at most 64 to 4,096 rows, by the number of rows only; parts of a job
// that writes a chunk type are whole chunks. A part begins at a multiple of 64 in its chunk, and
// the last of a chunk may be shorter. A worker claims as many adjacent parts as should take about
// 30 us, judging by the job's last flights. An ordinal is the number of a part, so ordinals rise
// with the rows.
//
// Ownership: the world's owner makes, schedules and completes jobs, outside of bodies and of loops
// over rows. From scheduling to Complete the types of a job are lent to it: functions of the world
// panic if they write those types, or read what the job writes. A structural change first completes
// all jobs. A Job has one flight at a time.
//
// Goroutines: bodies run on the workers and on the goroutine that completes, which takes part. A
// body may use its rows, look-ups from its Ctx, and Go memory like any goroutine. A structural
// change in a body panics; record it with command.Buffer.Parallel of the Ctx instead. Scheduling
// and completing in a body panic too; on a worker's goroutine only if the call would wait, or in
// debug builds. Idle workers are parked, until Close. A body that waits for another body may wait
// forever.
//
// Garbage collector: a job keeps the memory of its parts and partials. A flight allocates nothing.
//
// Failure: a panic or runtime.Goexit in a body drops the parts that no worker has begun. Complete
// returns it as a [*PanicError] with the stack. Jobs that depend on the failed job still run, and
// the world stays usable. If a body calls runtime.Goexit (as testing's FailNow does) on the
// goroutine that completes, that goroutine ends, and the next Complete, on any goroutine, returns
// the error. A broken contract panics with a message that names the job.
//
// Determinism: what bodies write to rows and partials, and record, does not depend on time or on
// the number of workers, provided it depends on each row alone. Which rows one call gets depends on
// both, unless the job Reduces; so do the number of a row within its call, and Ctx.Ordinal. So seed
// random numbers by the entity, or by Ctx.Row plus the row's number. Recording once per call needs
// Reduces.
//
// Profiles: [Scheduler.Label] attributes the bodies of jobs in pprof and runtime/trace.
//
// Cost, on two cores of an EPYC, three runs (go test ./ecs/job -bench .): scheduling and completing
// a job takes 0.13 to 0.15 us without rows, 1.2 to 1.4 us with 1,000 cheap rows, where a plain loop
// takes 0.7 us. Two workers run 100,000 rows of 54 ns 1.90 to 2.07 times as fast as one, and 16,000
// rows 1.6 to 1.8 times as fast.
package job
