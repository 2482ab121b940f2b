package system_test

import (
	"testing"

	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// A system that removes itself when it starts does not update any more.
func TestRemoveInStart(t *testing.T) {
	s := newStage(t)
	s.systems.Add("x", &hooks{journal: journal{s: s}, start: func(x *system.State) { x.Remove() }})
	s.systems.Add("y", &hooks{journal: journal{s: s}, start: func(x *system.State) { x.Disable() }})
	s.step()
	require.Equal(t, "create:x create:y start:x start:y y stop:x destroy:x", s.take(), "Disable is for the next turn")
	s.step()
	require.Equal(t, "stop:y", s.take())
}

// own is a group with a Stop of its own.
type own struct {
	*system.Group
	journal
}

func (o *own) Update(x *system.State) { o.Group.Update(x) }

// The systems of a group stop with it, whatever else its own Stop does.
func TestSystemsOfAGroupWithItsOwnStop(t *testing.T) {
	s := newStage(t)
	o := &own{Group: system.NewGroup(), journal: journal{s: s}}
	x := s.systems.Add("group", o)
	o.Add("a", &journal{s: s})
	s.step()
	s.take()
	x.Disable()
	s.step()
	require.Equal(t, "stop:a stop:group", s.take())
	x.Enable()
	s.step()
	require.Equal(t, "start:group start:a a", s.take())
	x.Remove()
	require.Equal(t, "stop:a destroy:a stop:group destroy:group", s.take())
}

// earlyGroup is a group that does something in Start.
type earlyGroup struct {
	*system.Group
	start func(x *system.State)
}

func (g *earlyGroup) Start(x *system.State) { g.start(x) }

// Groups and points update in their own turn and at no other time.
func TestMisuseOutsideOfATurn(t *testing.T) {
	s := newStage(t)
	group := system.NewGroup()
	other := &hooks{journal: journal{s: s}}
	x := s.systems.Add("group", group)
	group.Add("a", s.update())
	point := s.systems.EndSimulation()
	refused := func(*system.State) {
		require.PanicsWithValue(t, "system: Group.Update: outside of the turn of group", func() { group.Update(x) })
		require.PanicsWithValue(t, "system: Point.Update: outside of the turn of EndSimulation",
			func() { point.Update(s.systems.Find("EndSimulation")) })
	}
	refused(nil)
	early := &earlyGroup{Group: system.NewGroup()}
	early.start = func(x *system.State) {
		require.PanicsWithValue(t, "system: Group.Update: outside of the turn of early",
			func() { early.Group.Update(x) })
	}
	s.systems.Initialization().Add("early", early)
	other.create, other.start, other.inside = refused, refused, refused
	s.systems.Add("other", other)
	s.take()
	s.step()
	require.Equal(t, "a start:other other", s.take())
}
