package job_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

// Readers run together.
func TestBehaviour68ReadersTogether(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Read(w.position))
	m := meeting{n: 2}
	meet := func(c *job.Ctx, rows ecs.Rows) {
		if !m.wait() {
			panic("alone")
		}
	}
	s.For(q).Named("one").Schedule(meet)
	s.For(q).Named("other").Schedule(meet)
	require.NoError(t, s.Complete())
}

// Jobs of which one writes what the other uses run in the order of scheduling; others do not wait.
func TestBehaviour68WritersAlone(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 5000)
	writes := ecs.NewQuery(w.World, ecs.Write(w.count))
	reads := ecs.NewQuery(w.World, ecs.Read(w.count))
	for _, k := range []int{1, 2, 4, 16} {
		s := w.schedule(t, k)
		var writers, accessors, turn atomic.Int64
		write := func(c *job.Ctx, rows ecs.Rows) {
			writers.Add(1)
			if accessors.Load() != 0 {
				panic("accessors inside")
			}
			for i := range w.count.Slice(rows) {
				w.count.Slice(rows)[i].N++
			}
			writers.Add(-1)
		}
		read := func(c *job.Ctx, rows ecs.Rows) {
			accessors.Add(1)
			if writers.Load() != 0 {
				panic("writers inside")
			}
			for _, n := range w.count.Slice(rows) {
				if n.N != turn.Load() {
					panic("the job before has not finished")
				}
			}
			accessors.Add(-1)
		}
		for rows := range writes.Rows() {
			clear(w.count.Slice(rows))
		}
		next := s.For(writes).Named("next")
		var before [2]*job.Job
		for i := range before {
			before[i] = s.For(reads)
		}
		add := []*job.Job{s.For(writes), s.For(writes), s.For(writes)}
		for range 10 {
			for _, j := range add {
				j.Parallel(write)
			}
			next.Schedule(func(c *job.Ctx, rows ecs.Rows) {
				if c.Ordinal() == 0 {
					turn.Add(3)
				}
			})
			before[0].Parallel(read)
			h := before[1].Schedule(read)
			require.NoError(t, h.Complete())
		}
		require.NoError(t, s.Close())
	}
}

// A structural change waits for all jobs, and ends their borrows.
func TestBehaviour68StructuralChangeWaits(t *testing.T) {
	w := newWorld(t)
	b := w.fill(t, 1000)
	first := b[0]
	s := w.schedule(t, 3)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	other := ecs.NewQuery(w.World, ecs.Read(w.position))
	slow := func(c *job.Ctx, rows ecs.Rows) {
		time.Sleep(100 * time.Microsecond)
		for i := range w.count.Slice(rows) {
			w.count.Slice(rows)[i].N++
		}
	}
	var looked atomic.Int64
	j, l := s.For(q).Named("slow"), s.For(other).Named("look")
	wants := int64(0)
	for name, change := range map[string]func(){
		"create":   func() { w.all.Create() },
		"destroy":  func() { w.Destroy(first) },
		"add":      func() { w.target.Add(w.all.Create(), Target{}) },
		"register": func() { ecs.RegisterBuffer[Position](w.World) },
		"make":     func() { ecs.NewArchetype(w.World, w.target, w.position) },
		"verify":   func() { require.NoError(t, w.Verify()) },
	} {
		h := j.Parallel(slow)
		hl := l.Schedule(func(c *job.Ctx, rows ecs.Rows) { looked.Add(int64(rows.Len())) })
		wants++
		change()
		require.True(t, h.Done(), name)
		require.True(t, hl.Done(), name)
		last := b[500]
		require.Equal(t, wants, w.count.Get(last).N, name)
	}
	require.NoError(t, s.Complete())
}

// After orders jobs that do not conflict, and handles are combined.
func TestAfterAndCombine(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	s := w.schedule(t, 4)
	reads := ecs.NewQuery(w.World, ecs.Read(w.position))
	var done atomic.Int64
	slow := func(c *job.Ctx, rows ecs.Rows) {
		time.Sleep(time.Millisecond)
		done.Add(1)
	}
	a, b, c := s.For(reads).Named("a"), s.For(reads).Named("b"), s.For(reads).Named("c")
	for range 5 {
		done.Store(0)
		ha, hb := a.Schedule(slow), b.Schedule(slow)
		both := job.Combine(ha, job.Handle{}, job.Combine(hb))
		var saw atomic.Int64
		hc := c.After(both).Parallel(func(c *job.Ctx, rows ecs.Rows) { saw.Store(done.Load()) })
		require.NoError(t, hc.Complete())
		require.EqualValues(t, done.Load(), saw.Load())
		require.True(t, both.Done(), "what the completed one waited for is completed too")
		require.NoError(t, both.Complete())
	}
	require.NoError(t, s.Complete())
}

// A job without rows passes on what it waits for: what comes after it comes after that.
func TestAfterAJobWithoutRows(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 3)
	reads, none := ecs.NewQuery(w.World, ecs.Read(w.position)), ecs.NewQuery(w.World, ecs.Read(w.target))
	var begun, over atomic.Bool
	quick, slow, empty, last := s.For(reads), s.For(reads), s.For(none), s.For(reads)
	hq := quick.Schedule(func(*job.Ctx, ecs.Rows) {
		for end := time.Now().Add(20 * time.Second); !begun.Load() && time.Now().Before(end); {
			time.Sleep(time.Microsecond)
		}
	})
	hs := slow.Schedule(func(*job.Ctx, ecs.Rows) {
		for end := time.Now().Add(20 * time.Second); !begun.Load() && time.Now().Before(end); {
			time.Sleep(time.Microsecond)
		}
		time.Sleep(5 * time.Millisecond)
		over.Store(true)
	})
	he := empty.After(hq, hs).Parallel(nothing)
	last.After(he).Schedule(func(*job.Ctx, ecs.Rows) {
		if !over.Load() {
			panic("before what the job without rows waited for")
		}
	})
	begun.Store(true) // all have been scheduled
	require.NoError(t, s.Complete())
}

// The handle of a flight that was completed is not that of the job's next one.
func TestAfterAFormerFlight(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 3)
	reads := ecs.NewQuery(w.World, ecs.Read(w.position))
	j, other := s.For(reads), s.For(reads)
	former := j.Schedule(nothing)
	require.NoError(t, former.Complete())
	m := meeting{n: 2}
	meet := func(*job.Ctx, ecs.Rows) {
		if !m.wait() {
			panic("the other waits")
		}
	}
	j.Schedule(meet)
	other.After(former).Schedule(meet)
	require.NoError(t, s.Complete())
}

// The zero Handle is one of work that is done.
func TestZeroHandle(t *testing.T) {
	var h job.Handle
	require.True(t, h.Done())
	require.NoError(t, h.Complete())
	require.True(t, job.Combine().Done())
	require.NoError(t, job.Combine(h, h).Complete())
	w := newWorld(t)
	w.fill(t, 1)
	s := w.schedule(t, 1)
	require.NoError(t, s.For(ecs.NewQuery(w.World)).After(h).Run(func(*job.Ctx, ecs.Rows) {}))
}

// Done waits for nothing but comes true in the end, whichever goroutines are awake.
func TestDone(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 500)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	for _, k := range []int{1, 2, 4} {
		s := w.schedule(t, k, job.Inline(time.Hour))
		h := s.For(q).Parallel(func(c *job.Ctx, rows ecs.Rows) {})
		h2 := s.For(q).Schedule(func(c *job.Ctx, rows ecs.Rows) {})
		for end := time.Now().Add(20 * time.Second); !job.Combine(h, h2).Done(); time.Sleep(10 * time.Microsecond) {
			require.True(t, time.Now().Before(end))
		}
		require.NoError(t, s.Close())
	}
}

// TestSpinEnds: the owner, who waits for a body that sleeps, parks, though the time of a bubble
// goes on only when all do.
func TestSpinEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(t, 500)
		s := w.schedule(t, 2)
		var begun atomic.Bool
		h := s.For(ecs.NewQuery(w.World, ecs.Write(w.count))).Schedule(func(*job.Ctx, ecs.Rows) {
			begun.Store(true)
			time.Sleep(time.Hour)
		})
		for !begun.Load() {
			// A loop that does not sleep would hold the bubble's clock, and workers that sleep.
			time.Sleep(time.Nanosecond)
		}
		before := time.Now()
		require.NoError(t, h.Complete())
		require.Positive(t, time.Since(before))
	})
}

// Done yields the processor when it returns false: on one thread, a loop over Done would otherwise
// wait for ever for the goroutines that it keeps from working, for nothing else takes the thread
// away from it where goroutines are not preempted (WebAssembly).
func TestDoneOnOneThread(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 10)
	s := w.schedule(t, 2)
	begun, end := make(chan struct{}), make(chan struct{})
	h := s.For(ecs.NewQuery(w.World, ecs.Read(w.position))).Schedule(func(*job.Ctx, ecs.Rows) {
		close(begun)
		<-end
	})
	defer close(end) // before the scheduler is closed
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	<-begun
	var ran atomic.Bool
	go ran.Store(true)
	// Many, because the Go scheduler may prefer the one that yields now and then; still less than
	// the 10 ms after which it takes the thread away by itself.
	for range 100 {
		require.False(t, h.Done())
	}
	require.True(t, ran.Load(), "another goroutine had the thread meanwhile")
}

// Short work wakes nobody.
func TestInline(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 5000)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	s := w.schedule(t, 4, job.Inline(time.Hour))
	for end := time.Now().Add(20 * time.Second); s.Parked() < 3; time.Sleep(10 * time.Microsecond) {
		require.True(t, time.Now().Before(end))
	}
	j := s.For(q)
	for range 20 {
		h := j.Parallel(func(c *job.Ctx, rows ecs.Rows) {
			if c.Worker() != 0 {
				panic("another worker")
			}
		})
		require.NoError(t, h.Complete())
	}
	require.Equal(t, 3, s.Parked())
}

// One job has one flight: scheduling it again completes the former.
func TestScheduledTwice(t *testing.T) {
	w := newWorld(t)
	b := w.fill(t, 300)
	s := w.schedule(t, 3)
	j := s.For(ecs.NewQuery(w.World, ecs.Write(w.count)))
	add := func(c *job.Ctx, rows ecs.Rows) {
		for i := range w.count.Slice(rows) {
			w.count.Slice(rows)[i].N++
		}
	}
	h1 := j.Parallel(add)
	h2 := j.Schedule(add)
	require.True(t, h1.Done())
	require.NoError(t, h1.Complete())
	require.NoError(t, h2.Complete())
	require.EqualValues(t, 2, w.count.Get(b[299]).N)
}

// A job waits for the last of those that it depends on, not for each: 2,000 in a chain would else
// keep two million dependencies, and take seconds.
func TestBehaviour68ChainsAreShort(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 100)
	s := w.schedule(t, 2)
	q := ecs.NewQuery(w.World, ecs.Write(w.count))
	const n = 2000
	next := int64(0)
	for i := range int64(n) {
		s.For(q).Named(fmt.Sprint("job ", i, ";")).Schedule(func(c *job.Ctx, rows ecs.Rows) {
			if c.Ordinal() == 0 && atomic.AddInt64(&next, 1) != i+1 {
				panic(fmt.Sprint("job ", i, " is not the next"))
			}
		})
	}
	require.Equal(t, 2*n-1, strings.Count(s.String(), "job ")-1, "each names itself and the one before")
	require.NoError(t, s.Complete())
	require.EqualValues(t, n, next)
}
