package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

// What streams of package fuzz have found about snapshots.

// TestBlocksOfSnapshotsAreNoBuffers has a block wait for a snapshot, whose buffer has ended.
func TestBlocksOfSnapshotsAreNoBuffers(t *testing.T) {
	w := newWorld(t)
	hits := ecs.RegisterBuffer[uint64](w, ecs.Inline(0))
	e := ecs.NewArchetype(w, hits).Create()
	hits.Append(e, 1, 2, 3)
	s := w.Snapshot()
	w.Destroy(e)
	require.Zero(t, w.Stats().Buffers)
	require.NoError(t, w.Verify())
	s.Close()
	require.Zero(t, w.Stats().Spilled)
}
