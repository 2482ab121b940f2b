package ecstest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Reserve reserves n ids.
func Reserve(t testing.TB, w *ecs.World, n int) []ecs.Entity {
	t.Helper()
	ids := make([]ecs.Entity, n)
	require.NoError(t, w.Reserve(ids))
	return ids
}

// CreateReserved makes entities of reserved ids.
func CreateReserved(t testing.TB, a *ecs.Archetype, ids []ecs.Entity) ecs.Batch {
	t.Helper()
	batch, err := a.CreateReserved(ids)
	require.NoError(t, err)
	return batch
}

// TwinIn returns the entity of a clone with e's index and version.
func TwinIn(clone *ecs.World, e ecs.Entity) ecs.Entity {
	f, _ := clone.Entity(e.Index(), e.Version())
	return f
}

// CreateEach creates entities one by one, so that with alloc.Fixed(1) all chunks have 16 KiB: what
// CreateN takes at once comes in larger ones.
func CreateEach(a *ecs.Archetype, n int) (ids []ecs.Entity) {
	for range n {
		ids = append(ids, a.Create())
	}
	return ids
}

// RequireSame requires the same entities in whatever order. It sorts them: ElementsMatch, which
// compares each with each, took half of the time of all tests.
func RequireSame(t testing.TB, want, got []ecs.Entity, text ...any) {
	t.Helper()
	want, got = slices.Clone(want), slices.Clone(got)
	slices.SortFunc(want, ecs.Entity.Compare)
	slices.SortFunc(got, ecs.Entity.Compare)
	require.True(t, slices.Equal(want, got), append([]any{"want %v\ngot %v", want, got}, text...)...)
}

// RequireDead requires that nothing takes e for an entity.
func RequireDead(t testing.TB, w *ecs.World, e ecs.Entity) {
	t.Helper()
	position, stun := ecs.Register[Position](w), ecs.Register[Stun](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[Hit](w, ecs.Inline(1))
	require.False(t, w.Alive(e))
	require.Nil(t, position.Get(e))
	require.Nil(t, position.Mut(e))
	require.False(t, position.Has(e))
	require.False(t, position.Set(e, Position{}))
	require.False(t, position.Remove(e))
	require.Panics(t, func() { position.Add(e, Position{}) })
	require.False(t, stun.Enabled(e))
	_, ok := hits.Get(e)
	require.False(t, ok)
	_, ok = hits.Mut(e)
	require.False(t, ok)
	require.False(t, w.Destroy(e))
	require.False(t, w.SetName(e, "name"))
	require.Empty(t, w.Name(e))
	found, ok := w.Entity(e.Index(), e.Version())
	require.False(t, ok)
	require.Equal(t, ecs.Null, found)
}

// SomeOf returns fewer than n of the entities, chosen at random, some of them twice.
func SomeOf(rng *rand.Rand, ids []ecs.Entity, n int) (some []ecs.Entity) {
	for range rng.IntN(n) {
		if len(ids) > 0 {
			some = append(some, ids[rng.IntN(len(ids))])
		}
	}
	return some
}
