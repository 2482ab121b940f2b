package world_test

import (
	"syscall"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// TestCloseTellsOfARefusal: where the system does not take memory back, here because it is locked,
// Close returns the error. The world is closed all the same, and the next Close gives the memory
// back.
func TestCloseTellsOfARefusal(t *testing.T) {
	if !mmap.Real {
		t.Skip("memory of this build is Go's, which is not given back to the system")
	}
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	e := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w)).Create()
	held := w.Universe().Bytes(alloc.ChunkIndex(0), 1)[:syscall.Getpagesize()]
	if err := syscall.Mlock(held); err != nil {
		t.Skip("no memory may be locked: ", err)
	}
	for range 2 {
		err := w.Close()
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "ecs: World.Close: alloc: Universe.Close: ")
		require.ErrorContains(t, err, "locked memory cannot be decommitted")
		require.True(t, w.Closed())
		require.False(t, w.Alive(e))
	}
	require.NoError(t, syscall.Munlock(held))
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
}
