package system_test

import (
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/command"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// What is recorded for each of the five points is there from that point on.
func TestFivePoints(t *testing.T) {
	for i, want := range []string{
		"sim1:0 late1:0 present1:0 init2:1 sim2:1 late2:1 present2:1",
		"sim1:0 late1:0 present1:0 init2:0 sim2:1 late2:1 present2:1",
		"sim1:0 late1:0 present1:0 init2:0 sim2:1 late2:1 present2:1",
		"sim1:0 late1:0 present1:1 init2:1 sim2:1 late2:1 present2:1",
		"sim1:0 late1:0 present1:1 init2:1 sim2:1 late2:1 present2:1",
	} {
		s := newStage(t)
		y := s.systems
		points := []*system.Point{y.BeginInitialization(), y.EndInitialization(), y.BeginSimulation(),
			y.EndSimulation(), y.BeginPresentation()}
		q := ecs.NewQuery(s.w, ecs.With(s.health))
		count := func(name string) system.System {
			return system.Func(func(x *system.State) { s.note("%s%d:%d", name, x.Time().Frame, q.Count()) })
		}
		y.Initialization().Add("i", count("init"))
		a := ecs.NewArchetype(s.w, s.health)
		y.Add("record", system.Func(func(x *system.State) {
			if x.Time().Frame == 1 {
				x.Commands(points[i]).Create(a)
			}
		}), system.First())
		y.Add("s", count("sim"))
		y.LateSimulation().Add("l", count("late"))
		y.Presentation().Add("p", count("present"))
		s.step()
		s.step()
		require.Equal(t, "init1:0 "+want, s.take(), points[i].String())
	}
}

// Buffers are played in the order in which they were asked for; a system that asks twice in a
// round has one; a system in steps records to the same until the point has updated.
func TestPointsPlayInOrder(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.health).Create()
	var buffers []*command.Buffer
	record := func(n int64) system.System {
		return system.Func(func(x *system.State) {
			cb := x.Commands(s.systems.EndSimulation())
			require.Same(t, cb, x.Commands(s.systems.EndSimulation()))
			command.Set(cb, e, s.health, health{n})
			buffers = append(buffers, cb)
		})
	}
	s.systems.Add("two", record(2))
	s.systems.Add("one", record(1), system.Before("two"))
	s.systems.FixedStep().Add("three", record(3))
	require.NoError(t, s.systems.Step(3*frame))
	require.Len(t, buffers, 5)
	require.Same(t, buffers[0], buffers[2])
	require.Equal(t, int64(2), s.health.Get(e).Points)
	s.systems.Find("two").Disable()
	s.step()
	require.Equal(t, int64(1), s.health.Get(e).Points)
}

func TestPointAfterPlayback(t *testing.T) {
	s := newStage(t)
	a := ecs.NewArchetype(s.w, s.health)
	var cb *command.Buffer
	var promised ecs.Entity
	x := s.systems.Add("spawn", system.Func(func(x *system.State) {
		cb = x.Commands(s.systems.EndSimulation())
		promised = cb.Create(a)
	}))
	s.step()
	made := cb.Made(promised)
	require.True(t, s.w.Alive(made), "Made tells until the buffer is asked for again")
	const text = "command: Writer.Create: the buffer is sealed: it was handed out by the command point EndSimulation, which has updated since: ask State.Commands in every update"
	require.PanicsWithValue(t, text, func() { cb.Create(a) })
	require.PanicsWithValue(t, strings.Replace(text, "Writer.Create", "Buffer.Play", 1), func() { _ = cb.Play() })
	again := x.Commands(s.systems.EndSimulation())
	require.Same(t, cb, again)
	again.Create(a)
	x.Disable()
	s.step()
	require.Equal(t, 2, a.Len())
}

// A command that cannot apply is an error with the names of the point and of the system; the
// others are applied, those of other systems too.
func TestPointReportsFailures(t *testing.T) {
	s := newStage(t, system.TraceCommands())
	a := ecs.NewArchetype(s.w, s.health)
	dead := a.Create()
	s.w.Destroy(dead)
	s.systems.Add("bad", system.Func(func(x *system.State) {
		cb := x.Commands(s.systems.EndSimulation())
		cb.Create(a)
		command.Set(cb, dead, s.health, health{1})
	}))
	s.systems.Add("good", system.Func(func(x *system.State) { x.Commands(s.systems.EndSimulation()).Create(a) }))
	err := s.systems.Step(frame)
	var failed *command.PlayError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.Count)
	require.True(t, failed.Applied)
	require.Contains(t, failed.Failures[0].Line, "point_test.go")
	require.True(t,
		strings.HasPrefix(err.Error(),
			"system: EndSimulation: commands of bad: command: Buffer.PlayRest: 1 command cannot apply, the others were applied:"),
		err.Error())
	require.Equal(t, 2, a.Len())
	s.systems.Find("bad").Remove()
	s.step()
	require.Equal(t, 3, a.Len())
}

// A system cannot close the buffer that a point lent it: it fails by name, and the point plays its
// commands and the commands of the systems after it.
func TestPointKeepsItsBuffers(t *testing.T) {
	s := newStage(t)
	a := ecs.NewArchetype(s.w, s.health)
	s.systems.Add("closes", system.Func(func(x *system.State) {
		cb := x.Commands(s.systems.EndSimulation())
		cb.Create(a)
		cb.Close()
	}))
	s.systems.Add("good", system.Func(func(x *system.State) { x.Commands(s.systems.EndSimulation()).Create(a) }))
	require.ErrorContains(t, s.systems.Step(frame),
		"closes: Update panicked: command: Buffer.Close: the buffer is lent")
	require.Equal(t, 2, a.Len())
}

// Commands that bodies of jobs record are played when the point comes, which completes the jobs.
func TestPointCompletesJobs(t *testing.T) {
	s := newStage(t)
	_, err := ecs.NewArchetype(s.w, s.position).CreateN(5000)
	require.NoError(t, err)
	q := ecs.NewQuery(s.w, ecs.With(s.health))
	s.systems.Add("mark", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Read(s.position), ecs.Without(s.health)))
		var cb *command.Buffer
		body := func(c *job.Ctx, rows ecs.Rows) {
			out := cb.Parallel(c)
			for _, e := range rows.Entities() {
				command.Add(out, e, s.health, health{int64(e.Index())})
			}
		}
		return func() {
			cb = x.Commands(s.systems.EndSimulation())
			j.Parallel(body)
		}
	}))
	s.systems.Presentation().Add("count", system.Func(func(*system.State) { s.note("%d", q.Count()) }))
	s.step()
	require.Equal(t, "5000", s.take())
}

// A buffer of a point that was removed is closed, whether it was played or not; commands that no
// point has played when all is closed are dropped, and nobody warns of them.
func TestBuffersOfPointsThatGo(t *testing.T) {
	s := newStage(t)
	a := ecs.NewArchetype(s.w, s.health)
	p := system.NewPoint()
	s.systems.Add("point", p, system.Last())
	var cb *command.Buffer
	s.systems.Add("spawn", system.Func(func(x *system.State) {
		if cb == nil {
			cb = x.Commands(p)
			cb.Create(a)
		}
		x.Commands(s.systems.BeginSimulation()).Create(a)
	}))
	s.step()
	s.systems.Find("point").Remove()
	require.PanicsWithValue(t, "command: Writer.Create: the buffer is closed", func() { cb.Create(a) })
	s.step()
	require.Equal(t, 2, a.Len())
	require.NoError(t, s.systems.Close())
	require.Equal(t, 2, a.Len())
	require.Empty(t, s.log.String())
}

// A system that is removed has its commands played all the same; a point that is removed reports
// the commands that it did not play.
func TestPointsAndRemoval(t *testing.T) {
	s := newStage(t)
	a := ecs.NewArchetype(s.w, s.health)
	p := system.NewPoint()
	s.systems.Add("point", p, system.Last())
	a.Create()
	s.w.Clear()
	s.w.Shrink(0)
	chunks := s.w.Universe().Stats().LiveChunks
	spawn := func(x *system.State) {
		x.Commands(p).Create(a)
		x.Commands(s.systems.BeginSimulation()).Create(a)
	}
	s.systems.Add("spawn", system.Func(func(x *system.State) {
		spawn(x)
		x.Remove()
	}))
	s.step()
	require.Equal(t, 1, a.Len())
	s.step()
	require.Equal(t, 2, a.Len())
	s.systems.Find("point").Disable()
	s.systems.Add("spawn", system.Func(spawn))
	s.step()
	require.Equal(t, 2, a.Len())
	s.systems.Find("point").Remove()
	require.Equal(t, []string{"point was removed before it played 1 commands of spawn"}, s.systems.Warnings())
	spawning := s.systems.Find("spawn")
	require.Panics(t, func() { spawning.Commands(p) })
	spawning.Remove()
	s.step()
	require.Equal(t, 3, a.Len())
	s.w.Clear()
	s.w.Shrink(0)
	require.Equal(t, chunks, s.w.Universe().Stats().LiveChunks, "buffers gave their memory back")
}

// What a system records in Destroy is played too, also when a point has played it since it was
// removed.
func TestPointAndDestroy(t *testing.T) {
	s := newStage(t)
	a := ecs.NewArchetype(s.w, s.health)
	record := func(x *system.State) { x.Commands(s.systems.EndSimulation()).Create(a) }
	s.systems.Add("x", &hooks{journal: journal{s: s, inside: func(x *system.State) {
		record(x)
		x.Remove()
	}}, destroy: record})
	s.step()
	require.Equal(t, 1, a.Len())
	s.step()
	require.Equal(t, 2, a.Len())
}
