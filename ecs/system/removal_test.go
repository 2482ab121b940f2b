package system_test

import (
	"errors"
	"runtime"
	"testing"

	"quarry/ecs"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// hooks is a journal that also does something in each call.
type hooks struct {
	journal
	create, start, stop, destroy func(x *system.State)
}

func (h *hooks) call(f func(x *system.State), x *system.State) {
	if f != nil {
		f(x)
	}
}

func (h *hooks) Create(x *system.State) error {
	err := h.journal.Create(x)
	h.call(h.create, x)
	return err
}
func (h *hooks) Start(x *system.State)   { h.journal.Start(x); h.call(h.start, x) }
func (h *hooks) Stop(x *system.State)    { h.journal.Stop(x); h.call(h.stop, x) }
func (h *hooks) Destroy(x *system.State) { h.journal.Destroy(x); h.call(h.destroy, x) }

const underWay = "an update is under way: it is inside a system, or in another goroutine"

// The calls of a system outside of updates may not call Update or Close.
func TestNoUpdateInsideOtherCalls(t *testing.T) {
	s := newStage(t)
	inside := func(*system.State) {
		require.PanicsWithValue(t, "system: Systems.Step: "+underWay, func() { _ = s.systems.Step(frame) })
		require.PanicsWithValue(t, "system: Systems.Close: "+underWay, func() { _ = s.systems.Close() })
		s.note("refused")
	}
	x := s.systems.Add("x", &hooks{journal: journal{s: s}, create: inside, stop: inside, destroy: inside})
	require.Equal(t, "create:x refused", s.take())
	s.step()
	s.take()
	x.Remove()
	require.Equal(t, "stop:x refused destroy:x refused", s.take())
	s.step()
}

// A system that removes itself in Create is created, and goes.
func TestRemoveInCreate(t *testing.T) {
	s := newStage(t)
	leaves := func(x *system.State) {
		x.Remove()
		require.Nil(t, s.systems.Find("x"))
		require.NotContains(t, s.seen, "destroy:x", "Create is under way")
		x.Query(ecs.Read(s.health))
	}
	s.systems.Add("x", &hooks{journal: journal{s: s}, create: leaves})
	require.Equal(t, "create:x destroy:x", s.take())
	h := &hooks{journal: journal{s: s, refused: errors.New("no")}, create: leaves}
	for range 2 {
		x, err := s.systems.TryAdd("x", h)
		require.ErrorIs(t, err, h.refused)
		require.Nil(t, x)
		require.Equal(t, "create:x", s.take(), "it was not added, so it is not destroyed")
	}
	s.step()
	require.Len(t, s.systems.Timings(), 12)
}

// What Stop and Destroy remove goes when those before it are gone.
func TestRemoveInDestroy(t *testing.T) {
	s := newStage(t)
	group := system.NewGroup()
	a := s.systems.Add("a", &journal{s: s})
	s.systems.Add("group", group)
	b := group.Add("b", &journal{s: s})
	group.Add("c", &hooks{journal: journal{s: s}, stop: func(x *system.State) { a.Remove(); b.Remove(); x.Remove() },
		destroy: func(x *system.State) { s.systems.Add("a", &journal{s: s}) }})
	s.step()
	s.take()
	group.State().Remove()
	require.Equal(t, "stop:c destroy:c create:a stop:b destroy:b stop:a destroy:a", s.take())
	s.step()
	require.Equal(t, "start:a a", s.take())
}

// A group that was removed takes no systems, not even in its own Destroy: nobody would destroy
// them.
func TestRemovedGroupTakesNoSystems(t *testing.T) {
	s := newStage(t)
	x := &closing{Group: system.NewGroup(), s: s}
	s.systems.Add("x", x)
	s.systems.Add("remover", system.Func(func(r *system.State) {
		x.State().Remove()
		require.PanicsWithValue(t,
			"system: Group.Add: plain: the group is added twice: it is x, which was removed and is destroyed when this update ends",
			func() { s.systems.Add("plain", x.Group) })
		r.Remove()
	}))
	s.step()
	require.Equal(t, "refused", s.take())
	s.systems.Add("plain", x.Group)
}

type closing struct {
	*system.Group
	s *stage
}

func (c *closing) Destroy(*system.State) {
	require.PanicsWithValue(c.s.t, "system: Group.Add: late: group x was removed",
		func() { c.Group.Add("late", c.s.update()) })
	c.s.note("refused")
}

// A goroutine that ends in Stop or Destroy leaves the rest to the next call; nothing is lost.
func TestGoexitWhileDestroying(t *testing.T) {
	for _, in := range []string{"stop", "destroy"} {
		s := newStage(t)
		group := system.NewGroup()
		s.systems.Add("group", group)
		group.Add("a", &journal{s: s})
		h := &hooks{journal: journal{s: s}}
		if in == "stop" {
			h.stop = func(*system.State) { runtime.Goexit() }
		} else {
			h.destroy = func(*system.State) { runtime.Goexit() }
		}
		x := group.Add("b", h)
		q := x.Query(ecs.Read(s.health))
		group.Add("c", &journal{s: s})
		s.step()
		s.take()
		ended(func() { group.State().Remove() })
		require.Equal(t, "stop:c destroy:c stop:b destroy:b", s.take())
		require.Panics(t, func() { q.Count() }, "closed")
		require.ErrorIs(t, s.systems.Step(frame), system.ErrPanic)
		require.Equal(t, "stop:a destroy:a", s.take())
		s.systems.Add("group", group)
		s.step()
	}
}

// What was removed in an update that a goroutine left is destroyed by the next, or by Close.
func TestGoexitAndClose(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", &journal{s: s})
	s.systems.Add("leaves", &hooks{journal: journal{s: s, inside: func(*system.State) { x.Remove(); runtime.Goexit() }},
		destroy: func(*system.State) { runtime.Goexit() }})
	s.systems.Presentation().Add("last", &journal{s: s})
	ended(func() { _ = s.systems.Step(frame) })
	s.take()
	ended(func() { _ = s.systems.Close() })
	require.Equal(t, "stop:x destroy:x destroy:last stop:leaves destroy:leaves", s.take())
	require.ErrorIs(t, s.systems.Close(), system.ErrPanic)
	require.NoError(t, s.systems.Close())
	require.Empty(t, s.take())
}

// The same for a group that stops.
func TestGoexitWhileAGroupStops(t *testing.T) {
	s := newStage(t)
	group := system.NewGroup()
	x := s.systems.Add("group", group)
	group.Add("a", &journal{s: s})
	group.Add("b", &hooks{journal: journal{s: s}, stop: func(*system.State) { runtime.Goexit() }})
	s.step()
	s.take()
	x.Disable()
	ended(func() { _ = s.systems.Step(frame) })
	require.Equal(t, "stop:b", s.take())
	require.ErrorIs(t, s.systems.Step(frame), system.ErrPanic)
	require.Equal(t, "stop:a", s.take())
	x.Remove()
	require.Equal(t, "destroy:b destroy:a", s.take())
}

// ended calls f on a goroutine that f ends.
func ended(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
		panic("the goroutine goes on")
	}()
	<-done
}

// What the function of Make makes ends with the system: when it is removed, when its Create fails,
// and when the systems are closed, the last first, behind Destroy, also when one of them panics or
// ends its goroutine.
func TestOnDestroy(t *testing.T) {
	s := newStage(t)
	ends := func(x *system.State, names ...string) {
		for _, name := range names {
			x.OnDestroy(func() { s.note("end:%s:%s", x.Name(), name) })
		}
	}
	x := s.systems.Add("made", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Read(s.health))
		ends(x, "first", "second")
		x.OnDestroy(func() { s.note("open:%v", q.Count() == 0) })
		return func() { s.note("made") }
	}))
	s.step()
	require.Equal(t, "made", s.take())
	x.Remove()
	require.Equal(t, "open:true end:made:second end:made:first", s.take())
	require.PanicsWithValue(t, "system: State.OnDestroy: made was removed", func() { x.OnDestroy(func() {}) })

	failing := &hooks{journal: journal{s: s, refused: errors.New("no")}, create: func(x *system.State) { ends(x, "a") }}
	_, err := s.systems.TryAdd("x", failing)
	require.ErrorIs(t, err, failing.refused)
	require.Equal(t, "create:x end:x:a", s.take())

	h := &hooks{journal: journal{s: s}, create: func(x *system.State) {
		ends(x, "a")
		x.OnDestroy(func() { panic("broken") })
		ends(x, "b")
		x.OnDestroy(func() { runtime.Goexit() })
	}}
	y := s.systems.Add("y", h)
	require.PanicsWithValue(t, "system: State.OnDestroy: y: the function is nil", func() { y.OnDestroy(nil) })
	s.take()
	done := make(chan struct{})
	go func() { defer close(done); y.Remove() }()
	<-done
	require.Equal(t, "destroy:y end:y:b end:y:a", s.take())
	require.ErrorContains(t, s.systems.Step(0), "broken")

	s.systems.Add("z", &hooks{journal: journal{s: s}, create: func(x *system.State) { ends(x, "a") }})
	s.take()
	require.NoError(t, s.systems.Close())
	require.Equal(t, "destroy:z end:z:a", s.take())
}
