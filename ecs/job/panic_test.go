package job_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// failing runs body in all three ways and gives check what came of it.
func failing(t *testing.T, w *world, workers int, body func(c *job.Ctx, rows ecs.Rows),
	check func(t *testing.T, e *job.PanicError)) {
	t.Helper()
	s := w.schedule(t, workers)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	defer q.Close()
	j := s.For(q).Named("failing")
	for name, run := range map[string]func() error{
		"Parallel": func() error { return j.Parallel(body).Complete() },
		"Schedule": func() error { return j.Schedule(body).Complete() },
		"Run":      func() error { return j.Run(body) },
	} {
		var e *job.PanicError
		err := run()
		require.ErrorAs(t, err, &e, name)
		require.ErrorIs(t, err, job.ErrPanic, name)
		require.Equal(t, "failing", e.Job, name)
		check(t, e)
		require.NoError(t, s.Complete(), "an error is returned once")
		require.NoError(t, w.Verify())
		w.Destroy(w.all.Create()) // the structure is free
	}
	n := 0
	require.NoError(t, j.Schedule(func(c *job.Ctx, rows ecs.Rows) { n += rows.Len() }).Complete())
	require.Equal(t, q.Count(), n, "the job runs again")
	require.NoError(t, s.Close())
}

func TestPanicIsReturned(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 2000)
	for _, k := range []int{1, 2, 8} {
		failing(t, w, k, func(c *job.Ctx, rows ecs.Rows) {
			if c.Ordinal() >= 2 || rows.Len() > 128 {
				goDown(c)
			}
		}, func(t *testing.T, e *job.PanicError) {
			require.ErrorIs(t, e, io.ErrUnexpectedEOF)
			require.Contains(t, string(e.Stack), "goDown")
			require.Contains(t, e.Error(), "job: the body of job failing, rows of ordinal ")
			require.Contains(t, e.Error(), "panicked: down: unexpected EOF\n")
		})
	}
}

//go:noinline
func goDown(*job.Ctx) { panic(fmt.Errorf("down: %w", io.ErrUnexpectedEOF)) }

// A body that ends its goroutine costs the job, and nothing else. Where the caller runs it,
// the caller's goroutine ends.
func TestGoexit(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 2000)
	s := w.schedule(t, 3)
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Named("leaving")
	for range 20 { // more than there are workers
		h := j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			if c.Worker() != 0 {
				runtime.Goexit()
			}
			for end := time.Now().Add(20 * time.Second); s.Parked() == 2 && time.Now().Before(end); {
				time.Sleep(time.Microsecond)
			}
		})
		if err := h.Complete(); err != nil {
			require.ErrorContains(t, err, "job leaving")
			require.ErrorContains(t, err, "runtime.Goexit")
		}
		done := make(chan bool)
		go func() {
			defer close(done)
			_ = j.Run(func(*job.Ctx, ecs.Rows) { runtime.Goexit() })
		}()
		<-done
		var e *job.PanicError
		require.ErrorAs(t, s.Complete(), &e)
		require.Nil(t, e.Value)
	}
	m := meeting{n: 3}
	require.NoError(t, j.Parallel(func(*job.Ctx, ecs.Rows) {
		if !m.wait() {
			panic("nobody took the place of one that ended")
		}
	}).Complete())
}

// Jobs that depend on one that failed run; all errors come, once.
func TestErrorsAreJoined(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 300)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	first, second, third := s.For(q).Named("first"), s.For(q).Named("second"), s.For(q).Named("third")
	bad := func(*job.Ctx, ecs.Rows) { panic("bad") }
	var ran atomic.Bool
	first.Parallel(bad)
	second.Schedule(bad)
	err := third.Schedule(func(*job.Ctx, ecs.Rows) { ran.Store(true) }).Complete()
	require.True(t, ran.Load())
	require.ErrorContains(t, err, "job first")
	require.ErrorContains(t, err, "job second")
	require.NoError(t, s.Complete())

	first.Parallel(bad)
	w.all.Create() // waits, and leaves the error
	h := first.Parallel(bad)
	first.Parallel(func(*job.Ctx, ecs.Rows) {})
	err = h.Complete()
	require.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), 2, "both that nobody had asked for")
	require.NoError(t, s.Complete())
	first.Parallel(bad)
	require.ErrorIs(t, s.Close(), job.ErrPanic)
	require.NoError(t, s.Close())
}

// The error is that of the lowest ordinal where all parts fail.
func TestLowestOrdinal(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 1000)
	const k = 4
	s := w.schedule(t, k)
	m := meeting{n: k}
	p := job.NewPartials[int]()
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Reduces(p)
	ordinals := make([]int, k)
	err := j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		ordinals[c.Worker()] = c.Ordinal()
		if !m.wait() {
			panic("the others do not come")
		}
		panic(c.Ordinal())
	}).Complete()
	var e *job.PanicError
	require.True(t, errors.As(err, &e))
	require.Equal(t, slices.Min(ordinals), e.Ordinal)
	require.Equal(t, e.Ordinal, e.Value)
	require.Equal(t, 1, strings.Count(err.Error(), "job: the body"))
}
