// Package job runs work over the rows of queries on several goroutines, in the order that the
// queries' terms ask for.
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
//
// Of two jobs in flight of which one writes what the other uses, the one that was scheduled first
// runs first; others run together. Printing the scheduler shows it:
//
//	job           rows  parts  after            access
//	steer       100000    123                   query(Write Velocity)
//	move        100000    123  steer            query(Write Position, Read Velocity)
//	count       100000    123  move             query(Read Position)
//	audit       100000    123  steer            query(Read Velocity)
//
// Rows are cut into parts of 64 to 4,096, by their number only, that begin at a multiple of 64 in
// their chunk. Workers claim as many adjacent parts as should take some 30 us, by what the job's
// last flights took. Ordinals are those of parts, so they rise with the rows.
//
// Ownership: the world's owner makes, schedules and completes jobs, outside of bodies and of loops
// over rows. From schedule to Complete a job's types are lent to it: the world's own functions
// panic where they write them, or read what the job writes. Structural changes complete all jobs
// first. A Job has one flight at a time.
//
// Goroutines: bodies run on the workers and on the goroutine that completes, which takes part. A
// body uses its rows, look-ups from its Ctx, and Go memory as any goroutine may; a structural
// change in it panics (record it by command.Buffer.Parallel of the Ctx), and so do scheduling and
// completing, on a worker's goroutine only where it would wait, or in debug builds. Workers are
// parked when nothing is to do, until Close. A body that waits for another one's worker may wait
// for ever.
//
// Garbage collector: a job keeps the memory of its parts and partials; a flight allocates nothing.
//
// Failure: a panic in a body, and runtime.Goexit, drop the parts that nobody has begun and come
// back from Complete as a [*PanicError] with the stack; jobs that depend on the failed one run, and
// the world stays usable. Where the body with the Goexit (testing's FailNow is one) ran on the
// caller's own goroutine, that goroutine ends instead, and the next Complete, of any goroutine,
// returns the error. A broken contract panics with names.
//
// Determinism: what bodies write to their rows and partials, and record, does not depend on the
// number of workers, nor on time, when it depends on each row alone. Which rows come in one call
// depends on both unless the job Reduces, and so do the number of a row in its call and
// Ctx.Ordinal: seed by the entity, or by Ctx.Row plus that number. What is recorded once a call
// needs Reduces as well.
//
// Profiles: [Scheduler.Label] says for whom jobs run, to pprof and runtime/trace.
//
// Cost, on two cores of an EPYC, three runs (go test ./ecs/job -bench .): a job without rows is
// scheduled and completed in 0.13 to 0.15 us, one of 1,000 cheap rows in 1.2 to 1.4 us, where a
// loop takes 0.7; two workers do 100,000 rows of 54 ns in 1.90 to 2.07 times less than one, 16,000
// in 1.6 to 1.8.
package job
