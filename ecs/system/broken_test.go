package system_test

import (
	"errors"
	"iter"
	"testing"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// A system that closes the world or the scheduler is named, nothing updates after it, and
// Close does the rest.
func TestSystemThatClosesTheWorld(t *testing.T) {
	for what, why := range map[string]string{
		"world":     "the world is closed; Systems.Close comes before World.Close",
		"scheduler": "the scheduler is closed; it is closed behind the systems",
	} {
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		s := &stage{t: t, w: w, systems: system.New(w, system.Jobs(job.Workers(2)))}
		health := ecs.Register[health](w)
		a := s.systems.Add("a", &journal{s: s})
		a.For(a.Query(ecs.Read(health)))
		s.systems.Add("closes", &journal{s: s, inside: func(*system.State) {
			s.systems.Find("a").Remove()
			if what == "world" {
				require.NoError(t, w.Close())
			} else {
				require.NoError(t, s.systems.Scheduler().Close())
			}
		}})
		s.systems.Add("b", &journal{s: s})
		s.take()
		require.EqualError(t, s.systems.Step(frame),
			"system: closes: Update closed the world or the scheduler; nothing updates after it")
		require.Equal(t, "start:a a start:closes closes stop:a destroy:a", s.take())
		for range 2 {
			require.PanicsWithValue(t, "system: Systems.Step: "+why, func() { _ = s.systems.Step(frame) })
		}
		require.NoError(t, s.systems.Close())
		require.Equal(t, "destroy:b stop:closes destroy:closes", s.take())
		require.NoError(t, w.Close())
	}
}

// A scheduler that was given may be closed first.
func TestCloseBehindTheScheduler(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	jobs := job.NewScheduler(w)
	s := &stage{t: t, w: w, systems: system.New(w, system.WithScheduler(jobs))}
	s.systems.Add("x", &journal{s: s})
	require.NoError(t, jobs.Close())
	require.NoError(t, s.systems.Close())
	require.Equal(t, "create:x destroy:x", s.take())
	require.NoError(t, w.Close())
}

// leaving is a system that leaves a loop open, and panics perhaps; stop ends it.
type leaving struct {
	q     *ecs.Query
	panic bool
	stop  func()
}

func (l *leaving) Update(*system.State) {
	next, stop := iter.Pull(l.q.Rows())
	next()
	l.stop = stop
	if l.panic {
		panic("left")
	}
}

// Who left the world locked is named, and neither the systems after it nor the groups around it
// are; a panic does not hide it.
func TestWorldLeftLockedNamesOne(t *testing.T) {
	for _, panics := range []bool{false, true} {
		s := newStage(t)
		ecs.NewArchetype(s.w, s.health).Create()
		l := &leaving{q: ecs.NewQuery(s.w, ecs.Read(s.health)), panic: panics}
		group := system.NewGroup()
		s.systems.Add("group", group)
		leaves := group.Add("leaves", l)
		group.Add("b", s.update())
		err := s.systems.Step(frame)
		l.stop()
		require.ErrorIs(t, err, system.ErrLocked)
		require.ErrorContains(t, err, "system: leaves left the world locked: ")
		for _, name := range []string{"b", "group", "Simulation", "root"} {
			require.NotContains(t, err.Error(), "system: "+name+" left")
		}
		leaves.Remove()
		s.step()
		require.Equal(t, "b b", s.take())
	}
}

// wrongLoop leaves the loops of two cursors.
type wrongLoop struct {
	m     *ecs.View[healthView]
	panic bool
}

type healthView struct{ Health ecs.W[health] }

func (l *wrongLoop) Update(*system.State) {
	outer := l.m.Cursor()
	outer.Next()
	inner := l.m.Cursor()
	inner.Next()
	if l.panic {
		panic("left")
	}
}

// A system that leaves a Cursor without Close is named, and does not leave the world locked.
func TestCursorLeftOpenEnds(t *testing.T) {
	for _, terms := range [][]func(s *stage) ecs.Term{nil, {func(s *stage) ecs.Term { return ecs.Changed(s.health) }}} {
		for _, panics := range []bool{false, true} {
			s := newStage(t)
			a := ecs.NewArchetype(s.w, s.health)
			a.Create()
			var of []ecs.Term
			for _, term := range terms {
				of = append(of, term(s))
			}
			l := &wrongLoop{m: ecs.NewView[healthView](s.w, of...), panic: panics}
			s.systems.Add("leaves", l)
			s.systems.Add("creates", system.Func(func(*system.State) { a.Create() }))
			err := s.systems.Step(frame)
			require.ErrorIs(t, err, system.ErrLocked)
			name := l.m.Query().String()
			require.ErrorContains(t, err,
				"system: leaves left a Cursor of "+name+" and one of "+name+" without Close, ended here: ")
			require.NotContains(t, err.Error(), "creates")
			require.Equal(t, panics, errors.Is(err, system.ErrPanic))
			require.Equal(t, 2, a.Len())
			require.NoError(t, s.w.Verify())
		}
	}
}

// A system whose function of Make leaves a Cursor open is named and not added, and the world is not
// locked. A loop around Add goes on.
func TestCursorLeftOpenByMake(t *testing.T) {
	s := newStage(t)
	a := ecs.NewArchetype(s.w, s.health)
	a.Create()
	v := ecs.NewView[healthView](s.w)
	closed := false
	leaves := func() system.System {
		return system.Make(func(s *system.State) func() {
			s.OnDestroy(func() { closed = true })
			c := v.Cursor()
			c.Next()
			return func() {}
		})
	}
	x, err := s.systems.TryAdd("leaves", leaves())
	require.ErrorIs(t, err, system.ErrLocked)
	require.ErrorContains(t, err, "system: leaves left a Cursor of "+v.Query().String()+" without Close, ended here: ")
	require.Nil(t, x)
	require.Nil(t, s.systems.Find("leaves"))
	require.True(t, closed)
	a.Create()
	require.Panics(t, func() { s.systems.Add("leaves", leaves()) })
	require.Panics(t, func() {
		s.systems.Add("panics", system.Make(func(*system.State) func() {
			c := v.Cursor()
			c.Next()
			panic("no")
		}))
	})
	require.NoError(t, s.systems.Step(frame))
	require.NoError(t, s.w.Verify())

	n := 0
	for c := v.Cursor(); c.Next(); n += c.Rows().Len() {
		s.systems.Add("fine", system.Make(func(*system.State) func() { return func() {} }))
	}
	require.Equal(t, 2, n)
	require.NoError(t, s.w.Verify())
}

// A loop that was left open changes nothing for Changed.
func TestBehaviour52LockedWorldMissesNothing(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.health).Create()
	l := &leaving{q: ecs.NewQuery(s.w, ecs.With(s.health))}
	leaves := s.systems.Add("leaves", l)
	s.systems.Add("reads", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Read(s.health), ecs.Changed(s.health))
		return func() { s.note("%d", q.Count()) }
	}))
	writes := s.systems.Add("writes", system.Func(func(*system.State) { s.health.Set(e, health{1}) }))
	leaves.Disable()
	s.step()
	s.step()
	require.Equal(t, "1 1", s.take())
	leaves.Enable()
	require.ErrorIs(t, s.systems.Step(frame), system.ErrLocked)
	l.stop()
	s.take()
	leaves.Disable()
	writes.Disable()
	s.step()
	require.Equal(t, "1", s.take(), "what was written behind reads, in the same version")
	s.step()
	require.Equal(t, "0", s.take())
}

// looping is a group that updates inside a loop over rows.
type looping struct {
	*system.Group
	q *ecs.Query
}

func (l *looping) Update(s *system.State) {
	for range l.q.Rows() {
		l.Group.Update(s)
	}
}

// Systems that update inside a loop see what changed, as others do; nobody left that loop open.
func TestBehaviour52InsideALoop(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.health, s.position).Create()
	l := &looping{Group: system.NewGroup(), q: ecs.NewQuery(s.w, ecs.Read(s.position))}
	s.systems.Add("group", l)
	l.Group.Add("reads", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Read(s.health), ecs.Changed(s.health))
		return func() { s.note("%d", q.Count()) }
	}))
	writes := l.Group.Add("writes", system.Func(func(*system.State) { s.health.Set(e, health{1}) }))
	writes.Disable()
	for range 3 {
		s.step()
		writes.Enable()
	}
	writes.Disable()
	s.step()
	s.step()
	require.Equal(t, "1 0 1 1 0", s.take())
}

// While the world is lent no new version begins: Changed shows too much then, and misses nothing.
func TestBehaviour52InAShare(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.stun).Create()
	var p *ecs.Borrow
	lends := s.systems.Add("lends", system.Func(func(*system.State) { p = s.w.Lend() }))
	lends.Disable()
	s.systems.Add("reads", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Changed(s.stun), ecs.Present(ecs.Read(s.stun)))
		return func() {
			if !s.w.Lent() {
				s.note("%d", q.Count())
			}
		}
	}))
	toggles := s.systems.Add("toggles", system.Func(func(*system.State) { s.stun.Disable(e) }))
	toggles.Disable()
	s.step()
	s.step()
	require.Equal(t, "1 0", s.take())
	lends.Enable()
	toggles.Enable()
	require.ErrorIs(t, s.systems.Step(frame), system.ErrLocked)
	p.End()
	lends.Disable()
	toggles.Disable()
	s.step()
	s.step()
	require.Equal(t, "1 0", s.take(), "what was toggled behind it, in the same version")
}
