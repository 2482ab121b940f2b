package ecs_test

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestDirectIsGet compares Direct with Get, for entities that live, have ended, lack the component,
// or belong to another world.
func TestDirectIsGet(t *testing.T) {
	v := newViewed(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		for range 20 {
			switch e := v.list[r.IntN(len(v.list))]; r.IntN(4) {
			case 0:
				v.w.Destroy(e)
			case 1:
				v.list = append(v.list, ecs.NewArchetype(v.w, v.position).Create(), ecs.NewArchetype(v.w).Create())
			case 2:
				v.stun.Remove(e)
			case 3:
				if v.w.Alive(e) {
					v.velocity.Add(e, ecstest.Velocity{X: 1})
				}
			}
		}
		positions, velocities := v.position.Direct(), v.velocity.Direct()
		for range 200 {
			e := v.list[r.IntN(len(v.list))]
			p, q := v.position.Get(e), v.velocity.Get(e)
			require.Same(t, p, positions.Get(e))
			require.Same(t, q, velocities.Get(e))
			at := velocities.Locate(e)
			require.Same(t, p, positions.At(at))
			require.Same(t, q, velocities.At(at))
		}
		require.Nil(t, positions.Get(ecs.Null))
		require.Nil(t, positions.At(ecs.Spot{}))
	}
	other := ecstest.NewWorld(t)
	stranger := ecs.NewArchetype(other, ecs.Register[ecstest.Position](other)).Create()
	require.Nil(t, v.position.Direct().Get(stranger))
	if at := ecs.Register[ecstest.Position](other).Direct().Locate(stranger); debug.On {
		require.Contains(t, ecstest.PanicText(func() { v.position.Direct().At(at) }),
			"ecs: Direct.At: the spot is of world")
	}
	var none ecs.Direct[ecstest.Position]
	for _, call := range []func(){func() { none.At(ecs.Spot{}) }, func() { none.Get(v.list[0]) },
		func() { none.Get(ecs.Null) }, func() { none.Locate(v.list[0]) }} {
		require.Contains(t, ecstest.PanicText(call), "ecs: Direct: it is the zero value; ")
	}
}

// TestDirectMut writes beside a snapshot, a query with Changed and one with Masked rows.
func TestDirectMut(t *testing.T) {
	v := newViewed(t)
	fresh := ecs.NewQuery(v.w, ecs.Read(v.position), ecs.Changed(v.position))
	for range fresh.Rows() {
	}
	require.Zero(t, fresh.Count())
	past := v.w.Snapshot()
	defer past.Close()

	positions := v.position.DirectMut()
	for i, e := range v.list {
		positions.Get(e).X = float64(i + 7)
	}
	require.Equal(t, len(v.list), fresh.Count())
	old := v.position.Lookup(past)
	for i, e := range v.list {
		require.Equal(t, float64(i), old.Get(e).X)
		require.Equal(t, float64(i+7), v.position.Get(e).X)
	}
	now := v.w.Snapshot()
	require.NoError(t, v.w.Restore(past))
	require.Equal(t, 3.0, v.position.Get(v.list[3]).X)
	require.NoError(t, v.w.Restore(now))
	require.Equal(t, 10.0, v.position.Get(v.list[3]).X)
	now.Close()
}

// TestDirectMutTracked wants each row to count as changed.
func TestDirectMutTracked(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w, ecs.TrackRows)
	e := ecs.NewArchetype(w, position).Create()
	since := w.Version()
	w.Advance()
	position.DirectMut().Get(e).X = 1
	require.True(t, position.ChangedSince(e, since))
}

func TestDirectRefuses(t *testing.T) {
	v := newViewed(t)
	var none ecs.Component[ecstest.Position]
	require.Contains(t, ecstest.PanicText(func() { none.Direct() }),
		"ecs: Component.Direct: the handle is the zero value")
	b := v.w.Lend()
	require.Contains(t, ecstest.PanicText(func() { v.position.DirectMut() }), "ecs: Component.DirectMut: ")
	v.position.Direct()
	b.End()
	positions := v.position.Direct()
	if debug.On {
		_, err := ecs.NewArchetype(v.w, v.position).CreateN(100_000)
		require.NoError(t, err)
		require.Contains(t, ecstest.PanicText(func() { positions.Get(v.list[0]) }), "take a new Direct")
	}
	require.NoError(t, v.w.Close())
	require.Contains(t, ecstest.PanicText(func() { v.position.Direct() }), "the world is closed")
}

// TestDirectAfterClose: debug builds name a look-up after World.Close; others fault.
func TestDirectAfterClose(t *testing.T) {
	if !debug.On {
		t.Skip("only debug builds compare")
	}
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	position := ecs.Register[ecstest.Position](w)
	e := ecs.NewArchetype(w, position).Create()
	d := position.Direct()
	at := d.Locate(e)
	require.NoError(t, w.Close())
	for _, f := range []func(){func() { d.Get(e) }, func() { d.Locate(e) }, func() { d.At(at) }} {
		require.PanicsWithValue(t, "ecs: Direct.Locate: a structural change, a borrow or World.Close has come after "+
			"Component.Direct; take a new Direct", f)
	}
}
