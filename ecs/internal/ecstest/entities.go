package ecstest

import (
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
