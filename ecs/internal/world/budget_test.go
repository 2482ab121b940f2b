package world_test

import (
	"errors"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestWorldsUnderABudget: a batch that would pass the budget of the process is refused and
// leaves its world as it was; it succeeds when another world has given memory back.
func TestWorldsUnderABudget(t *testing.T) {
	one, two := ecstest.NewWorld(t), ecstest.NewWorld(t)
	of := func(w *ecs.World) *ecs.Archetype { return ecs.NewArchetype(w, ecs.Register[ecstest.Position](w)) }
	first, second := of(one), of(two)
	e := first.Create()
	before, err := alloc.SetBudget(alloc.Budget{OffHeap: alloc.ReadBudget().Committed + 24<<20})
	require.NoError(t, err)
	defer func() {
		_, err := alloc.SetBudget(before)
		require.NoError(t, err)
	}()
	_, err = second.CreateN(500_000)
	require.NoError(t, err)

	stats, hash, live := one.Stats(), one.Hash(), one.Universe().Stats().LiveChunks
	for range 2 { // again, to meet what the first one left
		b, err := first.CreateN(500_000)
		require.ErrorIs(t, err, alloc.ErrBudget)
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.ErrorIs(t, err, ecs.ErrLimit)
		var l *ecs.LimitError
		require.True(t, errors.As(err, &l))
		require.Equal(t, "Archetype.CreateN", l.Op)
		require.Zero(t, b.Len())
		require.NoError(t, one.Verify())
		require.Equal(t, []any{stats, hash, live}, []any{one.Stats(), one.Hash(), one.Universe().Stats().LiveChunks})
	}
	made := 0
	for err = nil; err == nil; made++ {
		err = ecs.Try(func() { first.Create() })
	}
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.Equal(t, made, first.Len())
	require.True(t, one.Alive(e))
	require.NoError(t, one.Verify())

	two.DestroyQuery(ecs.NewQuery(two))
	two.Trim()
	_, err = first.CreateN(300_000)
	require.NoError(t, err, "what the other world has no use for")
	require.NoError(t, one.Verify())
	require.NoError(t, two.Verify())
}
