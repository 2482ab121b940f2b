package ecs_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

// TestReserveBesideSnapshots: goroutines reserve and release ids at any time, while the owner takes
// snapshots and goes back to some. Snapshots have no id that is half released, and after each step
// the world is sound.
func TestReserveBesideSnapshots(t *testing.T) {
	w := newWorld(t)
	values := ecs.Register[int64](w)
	_, err := ecs.NewArchetype(w, values).CreateN(1000)
	require.NoError(t, err)
	require.NoError(t, w.Reserve(make([]ecs.Entity, 10_000))) // some blocks
	var stop, back atomic.Bool
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			ids := make([]ecs.Entity, 100)
			for !stop.Load() {
				if err := w.Reserve(ids); err != nil {
					t.Error(err)
					return
				}
				if !back.Load() { // what Restore has released cannot be released again
					w.Unreserve(ids)
				}
			}
		})
	}
	keep := w.Snapshot()
	for range 100 {
		keep.Renew()
		require.NoError(t, keep.Verify())
	}
	back.Store(true)
	stop.Store(true)
	all.Wait()
	stop.Store(false)
	for range 3 {
		all.Go(func() {
			ids := make([]ecs.Entity, 10)
			for !stop.Load() {
				if err := w.Reserve(ids); err != nil {
					t.Error(err)
					return
				}
			}
		})
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
