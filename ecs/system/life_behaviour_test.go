package system_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

func TestBehaviour71Lives(t *testing.T) {
	s := newStage(t)
	a := s.systems.Add("a", &journal{s: s})
	s.systems.Add("b", &journal{s: s})
	require.Equal(t, "create:a create:b", s.take())
	s.step()
	require.Equal(t, "start:a a start:b b", s.take())
	a.Disable()
	require.True(t, a.Running(), "until its turn")
	s.step()
	require.Equal(t, "stop:a b", s.take())
	require.False(t, a.Enabled() || a.Running())
	s.step()
	require.Equal(t, "b", s.take())
	a.Enable()
	s.step()
	require.Equal(t, "start:a a b", s.take())
	a.Remove()
	a.Remove()
	require.Equal(t, "stop:a destroy:a", s.take())
	s.systems.Add("a", &journal{s: s})
	s.step()
	require.Equal(t, "create:a b start:a a", s.take())
}

// Destroyed in the reverse order of creation, not of update; in groups as well.
func TestBehaviour71DestroyedInReverse(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	s := &stage{t: t}
	systems := system.New(w)
	group := system.NewGroup()
	systems.Add("one", &journal{s: s}, system.Last())
	systems.Add("group", group, system.First())
	systems.Presentation().Add("two", &journal{s: s})
	group.Add("three", &journal{s: s})
	off := systems.Add("four", &journal{s: s})
	off.Disable()
	require.NoError(t, systems.Update())
	s.take()
	require.NoError(t, systems.Close())
	require.Equal(t, "destroy:four stop:three destroy:three stop:two destroy:two stop:one destroy:one", s.take())
	require.NoError(t, systems.Close())
	require.NoError(t, w.Close())
}

func TestBehaviour71GroupsStopWithTheirSystems(t *testing.T) {
	s := newStage(t)
	inner := system.NewGroup()
	outer := system.NewGroup()
	s.systems.Add("outer", outer)
	outer.Add("inner", inner)
	inner.Add("a", &journal{s: s})
	inner.Add("b", &journal{s: s})
	s.step()
	s.take()
	outer.State().Disable()
	s.step()
	require.Equal(t, "stop:b stop:a", s.take())
	outer.State().Enable()
	s.step()
	require.Equal(t, "start:a a start:b b", s.take())
	outer.State().Remove()
	require.Equal(t, "stop:b destroy:b stop:a destroy:a", s.take())
	require.Nil(t, s.systems.Find("a"))
	s.systems.Presentation().Add("outer", outer) // may be added again, without what was in it
	require.Empty(t, outer.Systems())
}

// Systems come and go while others update: those that come wait for the next round, those
// that go do not update any more.
func TestBehaviour71ChangesInsideAnUpdate(t *testing.T) {
	s := newStage(t)
	s.systems.Add("a", &journal{s: s, inside: func(x *system.State) {
		if s.systems.Find("new") == nil {
			s.systems.Add("new", &journal{s: s}, system.First())
			s.systems.Find("c").Remove()
			require.NotContains(t, s.seen, "destroy:c", "later")
			s.systems.Find("b").Disable()
		}
	}})
	b := s.systems.Add("b", &journal{s: s})
	s.systems.Add("c", &journal{s: s})
	s.systems.Add("self", &journal{s: s, inside: func(x *system.State) {
		x.Remove()
		require.Equal(t, 0, x.Query(ecs.Read(s.health)).Count(), "its own until the end of its turn")
	}})
	s.step()
	require.Equal(t,
		"create:a create:b create:c create:self start:a a create:new start:self self destroy:c stop:self destroy:self",
		s.take())
	b.Enable()
	s.step()
	require.Equal(t, "start:new new a start:b b", s.take())
}

// What one system throws is an error with its name; the others run, and nothing is locked.
func TestBehaviour71FailureOfOne(t *testing.T) {
	s := newStage(t)
	q := ecs.NewQuery(s.w, ecs.Write(s.position))
	e := ecs.NewArchetype(s.w, s.position, s.velocity).Create()
	wrong := errors.New("wrong")
	s.systems.Add("bad", &journal{s: s, inside: func(*system.State) {
		for range q.Rows() {
			panic(wrong)
		}
	}})
	s.systems.Add("job", system.Make(func(x *system.State) func() {
		j := x.For(x.Query(ecs.Write(s.velocity)))
		body := func(*job.Ctx, ecs.Rows) { panic("in a body") }
		return func() { j.Parallel(body) }
	}))
	s.systems.Add("good", system.Func(func(*system.State) {
		s.note("good")
		s.health.Add(e, health{1}) // structural
	}))
	for range 2 {
		err := s.systems.Step(frame)
		var panicked *system.PanicError
		require.ErrorAs(t, err, &panicked)
		require.Equal(t, "bad", panicked.System)
		require.Equal(t, "Update", panicked.Call)
		require.ErrorIs(t, err, system.ErrPanic)
		require.ErrorIs(t, err, wrong)
		require.Contains(t, string(panicked.Stack), "TestBehaviour71FailureOfOne")
		require.True(t, strings.HasPrefix(panicked.Error(), "system: bad: Update panicked: wrong\n\n"))
		var body *job.PanicError
		require.ErrorAs(t, err, &body)
		require.Equal(t, "job", body.Job)
		require.False(t, door.Locked(s.w))
		require.Contains(t, s.take(), "good")
	}
	s.systems.Find("bad").Remove()
	s.systems.Find("job").Remove()
	s.step()
}

// Each kind of call may panic, and the frame goes on.
func TestBehaviour71FailureOfEachCall(t *testing.T) {
	s := newStage(t)
	f := &failing{on: map[string]bool{"Start": true}}
	x := s.systems.Add("f", f)
	s.systems.Add("after", s.update())
	call := func() string {
		var p *system.PanicError
		require.ErrorAs(t, s.systems.Step(frame), &p)
		require.Equal(t, "after", s.take())
		require.Equal(t, "f", p.System)
		return p.Call
	}
	require.Equal(t, "Start", call())
	require.Equal(t, "Start", call(), "again: it is not running")
	require.False(t, x.Running())
	f.on = map[string]bool{"Stop": true}
	s.step()
	s.take()
	x.Disable()
	require.Equal(t, "Stop", call())
	require.False(t, x.Running())
	f.on = map[string]bool{"Destroy": true}
	x.Remove()
	require.Equal(t, "Destroy", call(), "in the next update")
	require.Nil(t, s.systems.Find("f"))
	f.on = map[string]bool{"Create": true}
	require.PanicsWithValue(t, "Create", func() { s.systems.Add("f", f) })
	require.Nil(t, s.systems.Find("f"))
	f.on = nil
	s.systems.Add("f", f)
	s.step()
}

type failing struct{ on map[string]bool }

func (f *failing) at(call string) {
	if f.on[call] {
		panic(call)
	}
}
func (f *failing) Create(*system.State) error { f.at("Create"); return nil }
func (f *failing) Start(*system.State)        { f.at("Start") }
func (f *failing) Update(*system.State)       { f.at("Update") }
func (f *failing) Stop(*system.State)         { f.at("Stop") }
func (f *failing) Destroy(*system.State)      { f.at("Destroy") }

// runtime.Goexit, as of t.FailNow, ends the goroutine; the systems can be used after it.
func TestBehaviour71Goexit(t *testing.T) {
	s := newStage(t)
	group := system.NewGroup()
	s.systems.Add("group", group)
	leave := group.Add("leaves", system.Func(func(*system.State) { runtime.Goexit() }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.systems.Step(frame)
		t.Error("the goroutine goes on")
	}()
	<-done
	leave.Remove()
	s.systems.Add("next", s.update())
	err := s.systems.Step(frame)
	require.ErrorContains(t, err, "leaves: Update ended its goroutine by runtime.Goexit")
	require.NotContains(t, err.Error(), "group: ")
	require.Equal(t, "next", s.take())
	s.step()
}

// It is reported each time.
func TestBehaviour71GoexitAgain(t *testing.T) {
	s := newStage(t)
	leave := s.systems.Add("leaves", system.Func(func(*system.State) { runtime.Goexit() }))
	for range 2 {
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.systems.Step(frame) })
		wg.Wait()
	}
	leave.Remove()
	require.Equal(t, 2, strings.Count(s.systems.Step(frame).Error(), "ended its goroutine by runtime.Goexit"))
}

func TestCreateThatFails(t *testing.T) {
	s := newStage(t)
	wrong := errors.New("no window")
	j := &journal{s: s, refused: wrong}
	_, err := s.systems.TryAdd("window", j)
	require.ErrorIs(t, err, wrong)
	require.EqualError(t, err, "system: Group.Add: window: Create: no window")
	require.Nil(t, s.systems.Find("window"))
	require.PanicsWithError(t, err.Error(), func() { s.systems.Add("window", j) })
	j.refused = nil
	s.systems.Add("window", j)
	s.step()
	require.Equal(t, "create:window create:window create:window start:window window", s.take())
}

// family is a group whose Create adds systems and then fails.
type family struct {
	*system.Group
	s *stage
}

func (f *family) Create(*system.State) error {
	f.Group.Add("child", &journal{s: f.s})
	return errors.New("too late")
}

func TestCreateOfAGroupThatFails(t *testing.T) {
	s := newStage(t)
	f := &family{Group: system.NewGroup(), s: s}
	_, err := s.systems.TryAdd("family", f)
	require.ErrorContains(t, err, "too late")
	require.Equal(t, "create:child destroy:child", s.take())
	require.Nil(t, s.systems.Find("child"))
	s.systems.Add("plain", f.Group)
	s.step()
}

// What a Create that fails had made of its State is closed.
func TestCreateThatFailsClosesItsQueries(t *testing.T) {
	s := newStage(t)
	var q *ecs.Query
	_, err := s.systems.TryAdd("x", &picky{make: func(x *system.State) { q = x.Query(ecs.Read(s.health)) }})
	require.ErrorContains(t, err, "not today")
	require.PanicsWithValue(t, "ecs: Query.Count: query(Read health) is closed", func() { q.Count() })
}

// In an update that removed others too, it is gone at once, and they later.
func TestCreateThatFailsInsideAnUpdate(t *testing.T) {
	s := newStage(t)
	s.systems.Add("a", &journal{s: s, inside: func(x *system.State) {
		s.systems.Find("b").Remove()
		var q *ecs.Query
		_, err := s.systems.TryAdd("x", &picky{make: func(x *system.State) { q = x.Query(ecs.Read(s.health)) }})
		require.ErrorContains(t, err, "not today")
		require.Panics(t, func() { q.Count() })
		require.NotContains(t, s.seen, "destroy:b")
		x.Remove()
	}})
	s.systems.Add("b", &journal{s: s})
	s.step()
	require.Equal(t, "create:a create:b start:a a destroy:b stop:a destroy:a", s.take())
}

// What it had added is destroyed once, also when it had removed itself before it failed.
func TestCreateThatRemovesItselfAndFails(t *testing.T) {
	s := newStage(t)
	group := system.NewGroup()
	_, err := s.systems.TryAdd("x", &pickyGroup{Group: group, picky: picky{make: func(x *system.State) {
		group.Add("child", &journal{s: s})
		x.Remove()
	}}})
	require.ErrorContains(t, err, "not today")
	require.Equal(t, "create:child destroy:child", s.take())
	s.step()
	require.Empty(t, s.take())
}

type pickyGroup struct {
	*system.Group
	picky
}

func (p *pickyGroup) Update(x *system.State) { p.Group.Update(x) }

// picky is a system that cannot be created.
type picky struct{ make func(x *system.State) }

func (p *picky) Create(x *system.State) error { p.make(x); return errors.New("not today") }
func (p *picky) Update(*system.State)         {}

// nothing is a system without data: pointers to two of them may be the same.
type nothing struct{}

func (*nothing) Update(*system.State) {}

func TestSystemsWithoutData(t *testing.T) {
	s := newStage(t)
	s.systems.Add("one", &nothing{})
	s.systems.Add("two", &nothing{})
	s.step()
	require.Equal(t, uint64(1), s.systems.Find("two").Timing().Updates)
}

// A group keeps its rate, and a point what it is for, when they are removed and added again.
func TestAddedAgain(t *testing.T) {
	s := newStage(t)
	group, point := system.NewGroup(), system.NewPoint()
	a := ecs.NewArchetype(s.w, s.health)
	for round := range 3 {
		g := s.systems.Add("group", group)
		if round == 0 {
			group.SetRate(system.NewFixed(frame/2, 10))
		}
		group.Add("spawn", system.Func(func(x *system.State) {
			x.Commands(point).Create(a)
			s.note("x")
		}))
		p := s.systems.Add("point", point)
		s.step()
		g.Remove()
		p.Remove()
		require.Equal(t, []string{"x x", "x x", "x x"}[round], s.take())
	}
	require.Equal(t, 6, a.Len())
}
