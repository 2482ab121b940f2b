package ecstest

import (
	"slices"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// Reserve promises n ids.
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
