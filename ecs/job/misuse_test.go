package job_test

import (
	"fmt"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// refuses checks that f panics with a text that has all of the words.
func refuses(t *testing.T, f func(), words ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		text := fmt.Sprint(recover())
		for _, word := range words {
			require.Contains(t, text, word)
		}
	}()
	f()
	require.Fail(t, "it does not panic", "%v", words)
}

// inBody returns the text of the panic that f gives inside a body, of a worker or the caller.
func inBody(t *testing.T, s *job.Scheduler, j *job.Job, worker bool, f func(c *job.Ctx, rows ecs.Rows)) string {
	t.Helper()
	m := meeting{n: int32(s.Workers())}
	err := j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		if !m.wait() {
			panic("the others do not come")
		}
		if worker == (c.Worker() > 0) {
			f(c, rows)
		}
	}).Complete()
	var e *job.PanicError
	require.ErrorAs(t, err, &e)
	return fmt.Sprint(e.Value)
}

// What a body may not do is caught on whatever goroutine, and the world stays usable.
func TestBehaviour68UndeclaredAccess(t *testing.T) {
	w := newWorld(t)
	ids := w.fill(t, 500)
	e := ids[0]
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count), ecs.Read(w.velocity))
	j := s.For(q).Named("counting").Uses(ecs.Read(w.target))
	another := s.For(q).Named("another")
	for name, c := range map[string]struct {
		f     func(c *job.Ctx, rows ecs.Rows)
		words []string
	}{
		"a column that the query lacks": {func(c *job.Ctx, rows ecs.Rows) { w.position.Slice(rows) }, []string{"Position", "does not declare"}},
		"the handle of a lent type":     {func(c *job.Ctx, rows ecs.Rows) { w.count.Get(e) }, []string{"Count", "job counting"}},
		"a write of what is read":       {func(c *job.Ctx, rows ecs.Rows) { w.velocity.Set(e, Velocity{}) }, []string{"Velocity", "job counting"}},
		"a look-up not declared":        {func(c *job.Ctx, rows ecs.Rows) { w.position.Lookup(c.Accessor()) }, []string{"Position", "job counting"}},
		"a look-up of written rows":     {func(c *job.Ctx, rows ecs.Rows) { w.count.Lookup(c.Accessor()) }, []string{"Count", "job counting"}},
		"a write by a look-up to read":  {func(c *job.Ctx, rows ecs.Rows) { w.target.Lookup(c.Accessor()).Mut(e) }, []string{"Target", "job counting"}},
		"a structural change":           {func(c *job.Ctx, rows ecs.Rows) { w.all.Create() }, []string{"Archetype.Create", "job counting", "command buffer"}},
		"an end of an entity":           {func(c *job.Ctx, rows ecs.Rows) { w.Destroy(e) }, []string{"World.Destroy", "job counting", "command buffer"}},
		"completing":                    {func(c *job.Ctx, rows ecs.Rows) { _ = s.Complete() }, []string{"Complete: inside a body"}},
	} {
		for _, worker := range []bool{false, true} {
			text := inBody(t, s, j, worker, c.f)
			for _, word := range c.words {
				require.Contains(t, text, word, "%s, on a worker: %v", name, worker)
			}
		}
		require.NoError(t, w.Verify(), name)
	}
	for _, worker := range []bool{false, true} {
		if worker && !debug.On {
			continue // other builds do not ask on each schedule which goroutine it is
		}
		text := inBody(t, s, j, worker, func(*job.Ctx, ecs.Rows) { another.Schedule(nothing) })
		require.Contains(t, text, "job: Job.Schedule: inside a body")
	}
	require.EqualValues(t, 0, w.count.Get(e).N)
}

// While a job is in flight its types are not the owner's, though it may have finished.
func TestBehaviour68LentToAJob(t *testing.T) {
	w := newWorld(t)
	e := w.fill(t, 500)[0]
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count), ecs.Read(w.velocity))
	h := s.For(q).Named("counting").Parallel(func(*job.Ctx, ecs.Rows) {})
	for end := time.Now().Add(20 * time.Second); !h.Done(); {
		require.True(t, time.Now().Before(end))
	}
	refuses(t, func() { w.count.Get(e) }, "Count", "job counting", "complete it first")
	refuses(t, func() { w.count.Set(e, Count{}) }, "Count", "job counting", "complete it first")
	refuses(t, func() { w.velocity.Mut(e) }, "Velocity", "job counting", "complete it first")
	refuses(t, func() {
		for range q.Rows() {
			break
		}
	}, "Count", "job counting")
	require.NotNil(t, w.velocity.Get(e), "both read")
	require.NotNil(t, w.position.Mut(e), "not lent")
	require.NoError(t, h.Complete())
	require.NotNil(t, w.count.Mut(e))
}

// Rows and look-ups that are kept longer than they are good are caught.
func TestBehaviour70KeptTooLong(t *testing.T) {
	w := newWorld(t)
	ids := w.fill(t, 500)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	j := s.For(q).Named("keeping").Uses(ecs.Read(w.position), ecs.Read(w.target))
	var kept ecs.Rows
	var positions ecs.Lookup[Position]
	var accessor *ecs.Accessor
	h := j.Schedule(func(c *job.Ctx, rows ecs.Rows) {
		kept, positions, accessor = rows, w.position.Lookup(c.Accessor()), c.Accessor()
		if positions.Get(ids[0]) == nil {
			panic("not there")
		}
	})
	for end := time.Now().Add(20 * time.Second); !h.Done(); {
		require.True(t, time.Now().Before(end))
	}
	refuses(t, func() { w.count.Slice(kept) }, "Component.Slice", "no longer current")
	w.Destroy(ids[1]) // completes it
	refuses(t, func() { w.count.Slice(kept) }, "Component.Slice", "no longer current")
	refuses(t, func() { kept.Entities() }, "Rows.Entities", "no longer current")
	refuses(t, func() { w.target.Lookup(accessor) }, "Component.Lookup", "job keeping", "has ended")
	refuses(t, func() {
		if positions.Get(ids[2]) != nil {
			t.Error("a value")
		}
	}, "Position", "job keeping")
	var before *ecs.Rows // of another call of a body on the same goroutine
	p := job.NewPartials[int]()
	err := s.For(q).Reduces(p).Run(func(c *job.Ctx, rows ecs.Rows) {
		if before != nil {
			w.count.Slice(*before)
		}
		before = &rows
	})
	require.ErrorContains(t, err, "no longer current")
}

// A job is configured before it is scheduled.
func TestMisuse(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.fill(t, 10)
	refuses(t, func() { job.Workers(0) }, "job: Workers(0)")
	refuses(t, func() { job.Workers(5000) }, "job: Workers(5000)")
	refuses(t, func() { job.Inline(-1) }, "job: Inline(-1ns)")
	refuses(t, func() { job.NewScheduler(nil) }, "job: NewScheduler", "nil")
	s, s2 := w.schedule(t, 2), other.schedule(t, 1)
	refuses(t, func() { job.NewScheduler(w.World) }, "job: NewScheduler", "already")
	q, q2 := ecs.NewQuery(w.World, ecs.Write(w.count)), ecs.NewQuery(other.World)
	refuses(t, func() { s.For(nil) }, "job: Scheduler.For", "nil")
	refuses(t, func() { s.For(q2) }, "job: Scheduler.For", "another world")
	refuses(t, func() { new(job.Scheduler).For(q) }, "job: Scheduler.For", "zero value")
	refuses(t, func() { new(job.Job).Named("") }, "job: Job.Named", "zero value")
	refuses(t, func() { new(job.Job).After() }, "job: Job.After", "the job is nil or the zero value")
	refuses(t, func() { new(job.Job).Parallel(nil) }, "job: Job.Parallel", "zero value")
	refuses(t, func() { s.For(q).Parallel(nil) }, "job: Job.Parallel", "nil")
	refuses(t, func() { s.For(q).Named("a").Uses(ecs.Write(w.count)).Run(nothing) }, "Count", "twice")
	refuses(t, func() { s.For(q).Uses(ecs.With(w.position)).Run(nothing) }, "ecs: uses of job", "use")

	// Look-ups to write.
	writes := s.For(q).Named("writes").Uses(ecs.Read(w.velocity), ecs.Write(w.position))
	refuses(t, func() { writes.Parallel(nothing) }, "job: Job.Parallel: job writes", "Write", "Position", "Exclusive")
	require.NoError(t, writes.Run(nothing))
	require.NoError(t, writes.Schedule(nothing).Complete())
	require.NoError(t, s.For(q).Exclusive(ecs.Write(w.position)).Parallel(nothing).Complete())

	// Too late.
	p := job.NewPartials[int]()
	for name, f := range map[string]func(){
		"Named": func() { writes.Named("") }, "Uses": func() { writes.Uses() }, "Exclusive": func() { writes.Exclusive() },
		"Indexed": func() { writes.Indexed() }, "Reduces": func() { writes.Reduces(p) },
	} {
		refuses(t, f, "job: Job."+name, "job writes was scheduled before")
	}
	sums := s.For(q).Named("sums").Reduces(p)
	refuses(t, func() { s.For(q).Reduces(p) }, "job: Job.Reduces", "job sums")
	h := sums.Parallel(nothing)
	refuses(t, func() { p.Fold(0, func(a, b int) int { return a + b }) }, "job: Partials.Fold", "job sums is in flight")
	h2 := s2.For(q2).Schedule(nothing)
	refuses(t, func() { writes.After(h2) }, "job: Job.After", "another scheduler")
	refuses(t, func() { _ = job.Combine(h, h2).Complete() }, "job: Handle.Complete", "several schedulers")
	require.NoError(t, s2.Complete())
	require.NoError(t, h.Complete())
	err := writes.Run(func(c *job.Ctx, rows ecs.Rows) { p.At(c) })
	require.ErrorContains(t, err, "job: Partials.At: the partials are not those of job writes")
	err = writes.Run(func(c *job.Ctx, rows ecs.Rows) { c.Index() })
	require.ErrorContains(t, err, "job: Ctx.Index: job writes does not count its rows: make it with Indexed")

	// In a loop, and afterwards.
	for range q.Rows() {
		refuses(t, func() { writes.Schedule(nothing) }, "Borrow.Begin", "inside a loop over")
	}
	require.NoError(t, writes.Schedule(nothing).Complete())
	h = writes.Schedule(nothing)
	require.NoError(t, s.Close())
	for name, f := range map[string]func(){
		"Job.Schedule": func() { writes.Schedule(nothing) }, "Scheduler.For": func() { s.For(q) },
		"Scheduler.Complete": func() { _ = s.Complete() }, "Handle.Complete": func() { _ = h.Complete() },
	} {
		refuses(t, f, "job: "+name+": the scheduler is closed")
	}
}

func nothing(*job.Ctx, ecs.Rows) {}

// A world that is closed completes its jobs, and takes no more.
func TestClosedWorld(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	count := ecs.Register[Count](w)
	ecs.NewArchetype(w, count).Create()
	s := job.NewScheduler(w, job.Workers(2), job.Inline(0))
	ran := false
	j := s.For(ecs.NewQuery(w, ecs.Write(count))).Named("last")
	h := j.Schedule(func(*job.Ctx, ecs.Rows) { ran = true })
	require.NoError(t, w.Close())
	require.True(t, ran)
	require.True(t, h.Done())
	refuses(t, func() { j.Parallel(nothing) }, "job: Job.Parallel: job last: the world is closed")
	refuses(t, func() { job.NewScheduler(w) }, "job: NewScheduler", "closed")
	require.NoError(t, s.Close())
}

// A body on a worker that completes is refused before it has changed what the owner, who
// completes at the same time, wants.
func TestCompletingInABodyLeavesTheOwnersCall(t *testing.T) {
	w := newWorld(t)
	e := w.fill(t, 500)[0]
	s := w.schedule(t, 2)
	first := s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Named("first")
	second := s.For(ecs.NewQuery(w.World, ecs.Write(w.position))).Named("second")
	for name, wrong := range map[string]func(h job.Handle){
		"Scheduler.Complete": func(job.Handle) { _ = s.Complete() },
		"Handle.Complete":    func(h job.Handle) { _ = h.Complete() },
		"Job.Schedule":       func(job.Handle) { second.Schedule(nothing) },
	} {
		began, scheduled := make(chan bool), make(chan bool)
		var other job.Handle
		h := first.Schedule(func(c *job.Ctx, rows ecs.Rows) {
			if c.Ordinal() == 0 {
				close(began)
				<-scheduled
				time.Sleep(20 * time.Millisecond) // the owner is waiting by then
				wrong(other)
			}
		})
		<-began // on a worker, for the owner is here
		other = second.After(h).Schedule(nothing)
		close(scheduled)
		err := h.Complete()
		require.ErrorIs(t, err, job.ErrPanic, name)
		require.Contains(t, err.Error(), "inside a body", name)
		refuses(t, func() { w.position.Get(e) }, "Position", "job second")
		require.NoError(t, other.Complete(), name)
		require.NotNil(t, w.position.Get(e), name)
	}
}
