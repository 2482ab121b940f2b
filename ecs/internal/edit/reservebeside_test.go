package edit_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestReserveBesideSnapshots: goroutines reserve and release ids at any time, while the owner takes
// snapshots and goes back to some. Snapshots have no id that is half released, and after each step
// the world is sound.
func TestReserveBesideSnapshots(t *testing.T) {
	w := ecstest.NewWorld(t)
	values := ecs.Register[int64](w)
	_, err := ecs.NewArchetype(w, values).CreateN(1000)
	require.NoError(t, err)
	require.NoError(t, w.Reserve(make([]ecs.Entity, 10_000))) // some blocks
	var stop atomic.Bool
	var all sync.WaitGroup
	reserve := func(n int, release bool) {
		ids := make([]ecs.Entity, n)
		for !stop.Load() {
			if err := w.Reserve(ids); err != nil {
				t.Error(err)
				return
			}
			if release {
				w.Unreserve(ids)
			}
		}
	}
	for range 3 {
		all.Go(func() { reserve(100, true) })
	}
	keep := w.Snapshot()
	for range 100 {
		keep.Renew()
		require.NoError(t, keep.Verify())
	}
	stop.Store(true)
	all.Wait()
	stop.Store(false)
	for range 3 {
		all.Go(func() { reserve(10, false) }) // what Restore has released cannot be released again
	}
	for range 100 {
		require.NoError(t, w.Restore(keep))
		require.NoError(t, w.Verify())
	}
	stop.Store(true)
	all.Wait()
	keep.Close()
	require.NoError(t, w.Verify())
}
