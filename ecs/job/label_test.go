package job_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// of returns a context with a label.
func of(system string) context.Context {
	return pprof.WithLabels(context.Background(), pprof.Labels("system", system))
}

// alone is what labels are left alone with.
var alone context.Context

// labels returns the labels of the calling goroutine in a profile of goroutines.
//
//go:noinline
func labels() string {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return err.Error()
	}
	for g := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(g, "job_test.labels+") {
			_, text, _ := strings.Cut(g, "# labels: ")
			text, _, _ = strings.Cut(text, "\n")
			return text
		}
	}
	return "the goroutine is not in the profile"
}

// seen is the labels of bodies, by job and worker: "move 0".
type seen struct {
	sync.Mutex
	labels map[string]string
}

// note notes the labels of the first call of a body; one goroutine at a time is inside of labels.
func (s *seen) note(name string) {
	s.Lock()
	defer s.Unlock()
	if s.labels == nil {
		s.labels = map[string]string{}
	}
	if _, ok := s.labels[name]; !ok {
		s.labels[name] = labels()
	}
}

// onBoth runs a job on the caller and on a worker and returns the labels of each.
func onBoth(t *testing.T, j *job.Job, also func(worker int)) (caller, worker string) {
	t.Helper()
	m := meeting{n: 2}
	var s seen
	err := j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
		if !m.wait() {
			panic("the other does not come")
		}
		s.note([]string{"caller", "worker"}[c.Worker()])
		also(c.Worker())
	}).Complete()
	if err != nil {
		require.ErrorIs(t, err, job.ErrPanic) // of also
	}
	require.Len(t, s.labels, 2)
	return s.labels["caller"], s.labels["worker"]
}

const (
	none   = ""
	moving = `{"system":"move"}`
	owning = `{"system":"owner"}`
)

// Bodies run under the labels that the scheduler had when they were scheduled, on any goroutine;
// afterwards the caller has its own again and the worker none.
func TestLabels(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	defer pprof.SetGoroutineLabels(context.Background())
	s := w.schedule(t, 2)
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Named("count")
	both := func(also func(worker int)) []string {
		caller, worker := onBoth(t, j, also)
		return []string{caller, worker, labels()}
	}
	for name, also := range map[string]func(worker int){
		"returns": func(int) {},
		"panics":  func(int) { panic("down") },
		"leaves": func(worker int) {
			if worker == 1 {
				runtime.Goexit()
			}
		},
		"labels itself": func(int) { pprof.SetGoroutineLabels(of("body")) },
	} {
		pprof.SetGoroutineLabels(of("owner"))
		require.Equal(t, []string{owning, none, owning}, both(func(int) {}), "%s: left alone at first", name)
		s.Label(of("move"))
		require.Equal(t, moving, labels(), "at once")
		require.Equal(t, []string{moving, moving, moving}, both(also), name)
		s.Label(alone)
		require.Equal(t, moving, labels(), "nil leaves them alone")
		require.Equal(t, []string{moving, none, moving}, both(func(int) {}), "%s: the worker gave them back", name)
	}
}

// Several flights are completed at once, each with its own labels.
func TestLabelsAreOfTheFlight(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	defer pprof.SetGoroutineLabels(context.Background())
	for _, k := range []int{1, 2, 4} {
		s := w.schedule(t, k)
		var all seen
		want := map[string]string{}
		queries := []*ecs.Query{ecs.NewQuery(w.World, ecs.Write(w.count)), ecs.NewQuery(w.World, ecs.Read(w.position))}
		for i, name := range []string{"a", "b", "c", "d"} {
			s.Label(of(name))
			want[name] = `{"system":"` + name + `"}`
			s.For(queries[i%2]).Named(name).Parallel(func(*job.Ctx, ecs.Rows) { all.note(name) })
		}
		s.Label(of("owner"))
		require.NoError(t, s.Complete())
		require.Equal(t, want, all.labels, "%d workers", k)
		require.Equal(t, owning, labels())
		require.NoError(t, s.For(queries[0]).Run(func(*job.Ctx, ecs.Rows) { all.note("run") }))
		require.Equal(t, owning, all.labels["run"])
		h := s.For(queries[0]).Schedule(func(*job.Ctx, ecs.Rows) { all.note("late") })
		s.Label(alone)
		pprof.SetGoroutineLabels(of("mine"))
		for end := time.Now().Add(20 * time.Second); !h.Done() && time.Now().Before(end); {
			runtime.Gosched()
		}
		require.NoError(t, s.Complete())
		require.Equal(t, `{"system":"mine"}`, labels(), "nobody knows how to give them back, so they are not taken")
		if k > 1 {
			require.Equal(t, owning, all.labels["late"], "by a worker")
		}
		require.NoError(t, s.Close())
	}
}

// While a trace is taken, a labelled job is a region on the goroutine that runs it.
func TestRegions(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	defer pprof.SetGoroutineLabels(context.Background())
	for _, k := range []int{1, 2} {
		s := w.schedule(t, k)
		q := ecs.NewQuery(w.World, ecs.Write(w.count))
		labelled, other := s.For(q).Named("a job with labels"), s.For(q).Named("a job left alone")
		var b bytes.Buffer
		require.NoError(t, trace.Start(&b))
		other.Parallel(nothing)
		ctx, task := trace.NewTask(of("move"), "a task of frames")
		s.Label(ctx)
		h := labelled.Parallel(nothing)
		// By a worker, where there is one.
		for end := time.Now().Add(20 * time.Second); !h.Done() && time.Now().Before(end); {
			runtime.Gosched()
		}
		require.NoError(t, s.Complete())
		task.End()
		trace.Stop()
		for text, is := range map[string]bool{
			"a job with labels": true, "a task of frames": true, "a job left alone": false,
		} {
			require.Equal(t, is, bytes.Contains(b.Bytes(), []byte(text)), text)
		}
		require.NoError(t, s.Close())
	}
}

func TestLabelsAllocateNothing(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	defer pprof.SetGoroutineLabels(context.Background())
	s := w.schedule(t, 1)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	move, own, j := of("move"), of("owner"), s.For(q)
	require.NoError(t, j.Run(nothing))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Label(move)
		j.Parallel(nothing)
		s.Label(own)
		if s.Complete() != nil {
			t.Error("an error")
		}
		s.Label(alone)
	}))
}

func TestLabelMisuse(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	s := w.schedule(t, 2)
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.count)))
	zero := "job: Scheduler.Label: the scheduler is nil or the zero value"
	refuses(t, func() { (*job.Scheduler)(nil).Label(alone) }, zero)
	refuses(t, func() { new(job.Scheduler).Label(of("move")) }, zero)
	require.Contains(t, inBody(t, s, j, false, func(*job.Ctx, ecs.Rows) { s.Label(of("move")) }),
		"job: Scheduler.Label: inside a body")
	require.NoError(t, s.Close())
	refuses(t, func() { s.Label(of("move")) }, "job: Scheduler.Label: the scheduler is closed")
	require.Equal(t, none, labels(), "a call that is refused labels nobody")
}
