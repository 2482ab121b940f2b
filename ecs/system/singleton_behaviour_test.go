package system_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

func TestBehaviour72Singleton(t *testing.T) {
	s := newStage(t)
	one := system.NewSingleton(s.w, s.health)
	missing := func(n string) {
		_, err := one.Entity()
		require.ErrorIs(t, err, ecs.ErrNotSingle)
		require.ErrorContains(t, err, "matches "+n)
		p, err := one.Get()
		require.Nil(t, p)
		require.ErrorIs(t, err, ecs.ErrNotSingle)
		p, err = one.Mut()
		require.Nil(t, p)
		require.ErrorIs(t, err, ecs.ErrNotSingle)
		require.ErrorIs(t, one.Set(health{5}), ecs.ErrNotSingle)
	}
	missing("0")
	a := ecs.NewArchetype(s.w, s.health)
	e := a.Create()
	found, err := one.Entity()
	require.NoError(t, err)
	require.Equal(t, e, found)
	require.NoError(t, one.Set(health{3}))
	p, err := one.Mut()
	require.NoError(t, err)
	p.Points++
	p, err = one.Get()
	require.NoError(t, err)
	require.Equal(t, int64(4), p.Points)

	second := ecs.NewArchetype(s.w, s.health, s.position).Create() // of another archetype
	missing("2")
	require.Equal(t, int64(4), s.health.Get(e).Points, "Set changed neither")
	s.w.Destroy(e)
	found, err = one.Entity()
	require.NoError(t, err)
	require.Equal(t, second, found)
	one.Close()
	require.Panics(t, func() { _, _ = one.Entity() })
}

func TestBehaviour72EnableableIsRefused(t *testing.T) {
	s := newStage(t)
	require.PanicsWithValue(t, "system: NewSingleton: stun is Enableable, and a singleton is there or not",
		func() { system.NewSingleton(s.w, s.stun) })
	require.PanicsWithValue(t,
		"system: NewSingleton: unregistered is not a type of the world: a zero handle, or registered in another world",
		func() { system.NewSingleton(s.w, ecs.Component[health]{}) })
}

// Mut marks the component changed, Get does not.
func TestBehaviour72SingletonChanges(t *testing.T) {
	s := newStage(t)
	one := system.NewSingleton(s.w, s.health)
	ecs.NewArchetype(s.w, s.health).Create()
	var q *ecs.Query
	s.systems.Add("watch", system.Make(func(x *system.State) func() {
		q = x.Query(ecs.Read(s.health), ecs.Changed(s.health))
		return func() { s.note("%d", q.Count()) }
	}))
	s.step()
	_, err := one.Get()
	require.NoError(t, err)
	s.step()
	_, err = one.Mut()
	require.NoError(t, err)
	s.step()
	require.NoError(t, one.Set(health{}))
	s.step()
	require.Equal(t, "1 0 1 1", s.take())
}

func TestBehaviour72Require(t *testing.T) {
	s := newStage(t)
	x := s.systems.Add("x", &journal{s: s})
	x.Require(system.NewSingleton(s.w, s.health).Query())
	x.Require(ecs.NewQuery(s.w, ecs.With(s.position)), ecs.NewQuery(s.w, ecs.With(s.stun))) // one of two
	s.step()
	require.Equal(t, "create:x", s.take())
	h := ecs.NewArchetype(s.w, s.health).Create()
	s.step()
	require.Empty(t, s.take(), "one condition holds")
	e := ecs.NewArchetype(s.w, s.stun).Create()
	s.step()
	s.step()
	require.Equal(t, "start:x x x", s.take())
	s.stun.Disable(e)
	s.step()
	require.Equal(t, "stop:x", s.take(), "what is disabled does not match")
	s.position.Add(h, position{})
	s.step()
	require.Equal(t, "start:x x", s.take())
	s.w.Destroy(h)
	s.step()
	s.step()
	require.Equal(t, "stop:x", s.take())
}

// A requirement of a query with Changed: the system sleeps until something was written.
func TestBehaviour72RequireChanged(t *testing.T) {
	s := newStage(t)
	e := ecs.NewArchetype(s.w, s.health, s.position).Create()
	s.systems.Add("sleeper", system.Make(func(x *system.State) func() {
		q := x.Query(ecs.Write(s.health), ecs.Changed(s.health))
		x.Require(q)
		return func() {
			for rows := range q.Rows() {
				s.health.Slice(rows)[0].Points++
			}
			s.note("woken")
		}
	}))
	s.step()
	s.step()
	s.step()
	require.Equal(t, "woken", s.take(), "its own writes do not wake it")
	s.position.Set(e, position{1, 1})
	s.step()
	require.Empty(t, s.take())
	s.health.Set(e, health{1})
	s.step()
	s.step()
	require.Equal(t, "woken", s.take())
	require.Equal(t, int64(2), s.health.Get(e).Points)
}
