package system_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// Jobs of two systems that share nothing run at the same time: each waits for the other.
func TestBehaviour68SystemsOverlap(t *testing.T) {
	s := newStage(t)
	_, err := ecs.NewArchetype(s.w, s.position, s.velocity).CreateN(10)
	require.NoError(t, err)
	meet := [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	met := [2]bool{}
	add := func(i int, q ...ecs.Term) {
		s.systems.Add(fmt.Sprint("s", i), system.Make(func(x *system.State) func() {
			j := x.For(x.Query(q...))
			body := func(*job.Ctx, ecs.Rows) {
				meet[i] <- struct{}{}
				select {
				case <-meet[1-i]:
					met[i] = true
				case <-time.After(20 * time.Second):
				}
			}
			return func() {
				j.Schedule(body)
				s.note("scheduled")
			}
		}))
	}
	// Work that is too short to wake a worker for waits for the owner; these are to wake one.
	s.systems.Close()
	s.systems = system.New(s.w, system.Jobs(job.Workers(2), job.Inline(0)))
	add(0, ecs.Write(s.position))
	add(1, ecs.Write(s.velocity))
	s.step()
	require.Equal(t, [2]bool{true, true}, met)
	require.Equal(t, "scheduled scheduled", s.take())
}

// A job waits for those of earlier systems that it conflicts with; an update that touches a
// type itself waits for the jobs of it, and for no others.
func TestBehaviour68SystemsWait(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.position, s.velocity, s.health).Create()
	flights := map[string]job.Handle{}
	write := func(name string, f func(rows ecs.Rows), terms ...ecs.Term) {
		s.systems.Add(name, system.Make(func(x *system.State) func() {
			j := x.For(x.Query(terms...))
			body := func(_ *job.Ctx, rows ecs.Rows) { f(rows) }
			return func() { flights[name] = j.Schedule(body) }
		}))
	}
	write("velocity", func(rows ecs.Rows) { s.velocity.Slice(rows)[0].X = 2 }, ecs.Write(s.velocity))
	write("health", func(rows ecs.Rows) { s.health.Slice(rows)[0].Points++ }, ecs.Write(s.health))
	write("position", func(rows ecs.Rows) { s.position.Slice(rows)[0].X += s.velocity.Slice(rows)[0].X },
		ecs.Write(s.position), ecs.Read(s.velocity))
	s.systems.Add("loop", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Read(s.position))
		return func() {
			require.True(t, flights["position"].Done())
			require.Contains(t, s.systems.Scheduler().String(), "health", "in flight: nobody needs it")
			require.NotContains(t, s.systems.Scheduler().String(), "position")
			for rows := range q.Rows() {
				s.note("%v", s.position.Slice(rows)[0].X)
			}
			require.PanicsWithError(t,
				"ecs: Component.Get: health is lent to job health, which writes it: complete it first; inside it use its rows",
				func() { s.health.Get(e) })
		}
	}))
	s.systems.Add("get", system.Make(func(x *system.State) func() {
		x.Uses(ecs.Read(s.health))
		return func() { s.note("%d", s.health.Get(e).Points) }
	}))
	s.step()
	require.Equal(t, "2 1", s.take())
	require.Equal(t, int64(1), s.health.Get(e).Points, "all are completed behind a frame")
}

// A system that updates several times a frame finds its own jobs completed each time: what its
// bodies read, as a variable with the time, is its own again.
func TestOwnJobsAreCompletedFirst(t *testing.T) {
	s := newStage(t)
	_, err := ecs.NewArchetype(s.w, s.position).CreateN(100)
	require.NoError(t, err)
	s.systems.FixedStep().Add("steps", system.Make(func(x *system.State) func() {
		j, dt := x.For(x.Query(ecs.Write(s.position))), 0.0
		body := func(_ *job.Ctx, rows ecs.Rows) {
			for i := range s.position.Slice(rows) {
				s.position.Slice(rows)[i].X += dt
			}
		}
		return func() {
			require.NotContains(t, s.systems.Scheduler().String(), "steps")
			dt++
			j.Parallel(body)
		}
	}))
	require.NoError(t, s.systems.Step(4*frame))
	for rows := range ecs.NewQuery(s.w, ecs.Read(s.position)).Rows() {
		require.Equal(t, 1.0+2+3+4, s.position.Slice(rows)[0].X)
	}
}

// A flight that is handed over comes before one that its query knows nothing of.
func TestHandOver(t *testing.T) {
	s := newStage(t)
	_, err := ecs.NewArchetype(s.w, s.position, s.velocity).CreateN(100)
	require.NoError(t, err)
	var sum []float64 // filled by one job and read by the other
	s.systems.Add("index", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Read(s.position)))
		body := func(_ *job.Ctx, rows ecs.Rows) {
			time.Sleep(time.Millisecond)
			sum = append(sum, float64(rows.Count()))
		}
		return func() {
			sum = sum[:0]
			x.SetDependency(j.Schedule(body))
		}
	}))
	s.systems.Add("use", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.velocity)))
		body := func(_ *job.Ctx, rows ecs.Rows) { s.velocity.Slice(rows)[0].X = sum[0] }
		return func() { j.After(s.systems.Find("index").Dependency()).Schedule(body) }
	}))
	for range 20 {
		require.NoError(t, s.systems.Step(frame))
	}
	for rows := range ecs.NewQuery(s.w, ecs.Read(s.velocity)).Rows() {
		require.Equal(t, 100.0, s.velocity.Slice(rows)[0].X)
	}
}

// Whole frames of jobs, commands and changes end with one hash for 1 to 16 workers.
func TestBehaviour64WholeFrames(t *testing.T) {
	var want uint64
	for _, workers := range []int{1, 2, 3, 4, 8, 16} {
		hash := runFrames(t, workers)
		if workers == 1 {
			want = hash
		}
		require.Equal(t, want, hash, "%d workers", workers)
		runtime.GC()
	}
}

// runFrames runs a game of walkers that are hurt, die and split, and returns the world's hash.
func runFrames(t *testing.T, workers int) uint64 {
	s := newStage(t, system.Jobs(job.Workers(workers), job.Inline(0)))
	walkers := ecs.NewArchetype(s.w, s.position, s.velocity, s.health, s.stun)
	_, err := walkers.CreateN(3000)
	require.NoError(t, err)
	y := s.systems
	y.Initialization().Add("seed", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Write(s.velocity), ecs.Changed(s.velocity))
		return func() {
			for rows := range q.Rows() {
				for i, e := range rows.Entities() {
					s.velocity.Slice(rows)[i] = velocity{float64(e.Index() % 7), float64(e.Index() % 5)}
				}
			}
		}
	}))
	y.FixedStep().Add("move", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.position), ecs.Read(s.velocity), ecs.Without(s.stun)))
		dt := 0.0
		body := func(_ *job.Ctx, rows ecs.Rows) {
			p, v := s.position.Slice(rows), s.velocity.Slice(rows)
			for i := range rows.Each() {
				p[i].X += v[i].X * dt
				p[i].Y += v[i].Y * dt
			}
		}
		return func() { dt = x.Time().Seconds(); j.Parallel(body) }
	}))
	y.Add("hurt", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.health), ecs.Read(s.position), ecs.Present(ecs.Write(s.stun))))
		var cb *command.Buffer
		var number int64
		body := func(c *job.Ctx, rows ecs.Rows) {
			out, h := cb.Parallel(c), s.health.Slice(rows)
			for i, e := range rows.Entities() {
				h[i].Points += int64(e.Index()) + number
				if h[i].Points%5 == 0 {
					s.stun.DisableAt(rows, i)
				}
				if h[i].Points%11 == 0 {
					out.Destroy(e)
				} else if h[i].Points%13 == 0 {
					twin := out.Instantiate(e)
					command.Set(out, twin, s.position, position{X: float64(number)})
				}
			}
		}
		return func() {
			number = int64(x.Time().Frame)
			cb = x.Commands(y.EndSimulation())
			j.Parallel(body)
		}
	}))
	y.Presentation().Add("wake", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Disabled(s.stun))
		return func() {
			if x.Time().Frame%3 == 0 {
				s.stun.EnableQuery(q)
			}
		}
	}))
	for range 30 {
		s.step()
	}
	require.Greater(t, walkers.Len(), 500)
	return s.w.Hash()
}

// An update waits neither for what only its jobs touch nor, while it is disabled, for anything:
// with one worker a job flies until somebody asks for it.
func TestBehaviour68UpdatesWaitForNoMore(t *testing.T) {
	s := newStage(t, system.Jobs(job.Workers(1)))
	e := ecs.NewArchetype(s.w, s.position, s.velocity, s.stun).Create()
	s.systems.Add("writes", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.position), ecs.Present(ecs.Write(s.stun))))
		body := func(_ *job.Ctx, rows ecs.Rows) { s.position.Slice(rows)[0].X++ }
		return func() { j.Parallel(body) }
	}))
	flies := func() bool { return strings.Contains(s.systems.Scheduler().String(), "\nwrites ") }
	s.systems.Add("reads", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Read(s.position), ecs.Write(s.velocity)))
		body := func(_ *job.Ctx, rows ecs.Rows) { s.velocity.Slice(rows)[0].X = s.position.Slice(rows)[0].X }
		return func() {
			require.True(t, flies())
			j.Parallel(body)
		}
	}))
	off := s.systems.Add("off", s.update())
	off.Require(ecs.NewQuery(s.w, ecs.With(s.stun))) // its bits decide
	off.Uses(ecs.Read(s.position))
	off.Disable()
	s.systems.Add("between", system.Func(func(*system.State) { s.note("%v", flies()) }))
	on := s.systems.Add("on", system.Make(func(x *system.State) func() {
		x.Require(ecs.NewQuery(s.w, ecs.With(s.stun)), ecs.NewQuery(s.w, ecs.With(s.health)))
		return func() { s.note("%v", flies()) }
	}))
	s.step()
	require.Equal(t, "true false", s.take())
	require.Equal(t, 1.0, s.velocity.Get(e).X)
	on.Disable()
	off.Enable()
	s.step()
	require.Equal(t, "off false", s.take())
}

// Jobs are named after their system, the second and later ones with their number.
func TestJobsAreNamed(t *testing.T) {
	s := newStage(t, system.Jobs(job.Workers(1)))
	ecs.NewArchetype(s.w, s.position).Create()
	s.systems.Add("x", system.Make(func(x *system.State) func() {
		var jobs []*job.Job
		for range 3 {
			jobs = append(jobs, x.For(x.Query(ecs.Read(s.position))))
		}
		return func() {
			for _, j := range jobs {
				j.Parallel(func(*job.Ctx, ecs.Rows) {})
			}
			for line := range strings.Lines(s.systems.Scheduler().String()) {
				s.note("%s", strings.TrimSpace(line[:10]))
			}
		}
	}))
	s.step()
	require.Equal(t, "job x x 2 x 3", s.take())
}

// A system that goes is destroyed when its jobs, and those of others, are completed.
func TestJobsOfASystemThatGoes(t *testing.T) {
	s := newStage(t, system.Jobs(job.Workers(1)))
	e := ecs.NewArchetype(s.w, s.health).Create()
	s.systems.Add("goes", &leaver{s: s, e: e})
	s.systems.Add("writes", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.health)))
		body := func(_ *job.Ctx, rows ecs.Rows) { s.health.Slice(rows)[0].Points++ }
		return func() { j.Parallel(body) }
	}), system.After("goes"))
	s.step()
	require.Equal(t, "destroyed:1", s.take())
}

// leaver removes itself in its first update.
type leaver struct {
	s *stage
	e ecs.Entity
}

func (l *leaver) Update(x *system.State)  { x.Remove() }
func (l *leaver) Destroy(x *system.State) { l.s.note("destroyed:%d", l.s.health.Get(l.e).Points) }
