package snapshot_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// besideReaders calls owner some times in a world with reserved ids and two snapshots that are
// read for the first time meanwhile, as only first reads make anything.
func besideReaders(t *testing.T, owner func(s *snapWorld, older, newer *ecs.Snapshot)) {
	s := newSnapWorld(t, 7)
	for range 60 {
		s.step()
	}
	ids := make([]ecs.Entity, 20)
	require.NoError(t, s.Reserve(ids))
	for range 25 {
		older := s.Snapshot()
		more := make([]ecs.Entity, 9000) // a block of ids more, and fewer in use after a restore
		require.NoError(t, s.Reserve(more))
		_, err := ecs.NewArchetype(s.World, s.place).CreateReserved(more[:5000])
		require.NoError(t, err)
		newer := s.Snapshot()
		var readers sync.WaitGroup
		var damaged atomic.Int32
		for _, m := range []*ecs.Snapshot{older, newer, newer} {
			readers.Go(func() {
				if m.Verify() != nil || !m.Alive(more[0]) && m == newer {
					damaged.Add(1)
				}
			})
		}
		owner(s, older, newer)
		readers.Wait()
		require.Zero(t, damaged.Load(), "snapshots that are damaged")
		require.NoError(t, s.Restore(older))
		require.NoError(t, s.Verify())
		older.Close()
		newer.Close()
	}
}

// TestRestoreBesideReaders: a world with reserved ids goes back and forth while goroutines read the
// snapshots.
func TestRestoreBesideReaders(t *testing.T) {
	besideReaders(t, func(s *snapWorld, older, newer *ecs.Snapshot) {
		ids := make([]ecs.Entity, 100)
		for range 4 {
			for _, m := range []*ecs.Snapshot{older, newer} {
				require.NoError(t, s.Restore(m))
				require.NoError(t, s.Reserve(ids))
				s.Unreserve(ids)
			}
		}
		s.collect()
	})
}

// TestVerifyBesideReaders: a sound world is not called damaged, nor is one that is cloned, while
// goroutines read snapshots.
func TestVerifyBesideReaders(t *testing.T) {
	besideReaders(t, func(s *snapWorld, _, _ *ecs.Snapshot) {
		for range 3 {
			require.NoError(t, s.Verify())
		}
		c, err := s.Clone()
		require.NoError(t, err)
		require.NoError(t, c.Verify())
		require.NoError(t, c.Close())
	})
}
