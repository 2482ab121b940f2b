package edit_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestSinceZeroPassesEverythingByQuery: a query that never ran passes chunks that lack
// its Changed types in loops; calls by query have to agree, where enable bits decide.
func TestSinceZeroPassesEverythingByQuery(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun, health := ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.Register[ecstest.Health](w)
	_, err := ecs.NewArchetype(w, stun).CreateN(10)
	require.NoError(t, err)
	q := ecs.NewQuery(w, ecs.With(stun), ecs.Changed(health))
	stun.Disable(q.Entities(nil)[0]) // bits decide
	require.Equal(t, 9, q.Count())
	require.Equal(t, 9, stun.DisableQuery(q))
}

// TestFailedChangeTakesNothing: a change whose second target has no room gives back
// what the first one took.
func TestFailedChangeTakesNothing(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	position := ecs.Register[ecstest.Position](w)
	health := ecs.Register[ecstest.Health](w)
	tag := ecs.Register[ecstest.Tag](w)
	ecs.NewArchetype(w, position).Create()
	ecs.NewArchetype(w, health).Create()
	w.Trim()
	for u.Stats().LiveChunks < 127 {
		_, err = u.AllocExact(1)
		require.NoError(t, err)
	}
	add := ecs.NewChange(w, ecs.Add(tag, ecs.Register[ecstest.Stun](w)))
	_, err = add.ApplyQuery(ecs.NewQuery(w))
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.Equal(t, 127, u.Stats().LiveChunks)
	require.Zero(t, w.Stats().Reserve)
}

// TestChangeSharesTheRoom: what the first target would like beyond its need is there
// for the second.
func TestChangeSharesTheRoom(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(2)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	position := ecs.Register[ecstest.Position](w)
	health := ecs.Register[ecstest.Health](w)
	stun := ecs.Register[ecstest.Stun](w)
	ecs.NewArchetype(w, position).Create()
	ecs.NewArchetype(w, health).Create()
	w.Trim()
	for u.Stats().LiveChunks < 126 {
		_, err = u.AllocExact(1)
		require.NoError(t, err)
	}
	_, err = ecs.NewChange(w, ecs.Add(stun)).ApplyQuery(ecs.NewQuery(w))
	require.NoError(t, err)
}
