package system_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// counting returns systems that make one entity a frame of 10 ms.
func counting(t *testing.T) (*ecs.World, *system.Systems) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	purse := ecs.Register[accounts](w)
	_, err = ecs.NewArchetype(w, purse).CreateN(10_000)
	require.NoError(t, err)
	systems := system.New(w)
	t.Cleanup(func() {
		require.NoError(t, systems.Close())
		require.NoError(t, w.Close())
	})
	systems.Add("count", system.Make(func(s *system.State) func() {
		q := s.Query(ecs.Write(purse))
		return func() {
			ecs.NewArchetype(w, purse).Create()
			for rows := range q.Rows() {
				purse.Slice(rows)[0].A++
			}
		}
	}))
	return w, systems
}

// TestLatestSnapshot: nothing is kept until somebody asks; from then on one is taken every few
// frames, and is as old as it may be, until nobody asks any more.
func TestLatestSnapshot(t *testing.T) {
	w, systems := counting(t)
	step := func() { require.NoError(t, systems.Step(10*time.Millisecond)) }
	snapshots := systems.Snapshots()
	snapshots.Every(3)
	step()
	step()
	require.Nil(t, snapshots.Latest(time.Hour), "nobody has asked")
	step()
	a := snapshots.Latest(0)
	require.Equal(t, 10_003, a.Len())
	step()
	require.Nil(t, snapshots.Latest(9*time.Millisecond), "it is 10 ms old")
	b := snapshots.Latest(10 * time.Millisecond)
	require.Same(t, a.Snapshot, b.Snapshot)
	require.Positive(t, b.Kept(), "the frame has copied what it overwrote")
	step()
	old := snapshots.Latest(time.Hour)
	require.Equal(t, 10_003, old.Len(), "the next is taken three frames later")
	old.Release()
	step()
	c := snapshots.Latest(0)
	require.Equal(t, 10_006, c.Len())
	a.Release()
	step()
	require.Equal(t, 10_003, b.Len(), "it is still read")
	require.Positive(t, b.Kept())
	b.Release()
	b.Release()
	step()
	require.PanicsWithValue(t, "ecs: Snapshot.Kept: the snapshot is closed", func() { b.Kept() })
	for range 12 {
		step()
	}
	require.Positive(t, c.Kept())
	c.Release()
	step()
	require.PanicsWithValue(t, "ecs: Snapshot.Kept: the snapshot is closed", func() { c.Kept() })
	require.Nil(t, snapshots.Latest(time.Hour), "nobody asked for 4 * 3 frames")
	require.NoError(t, w.Verify())
}

// TestLatestIsWhatOthersTook: what was taken for others serves, too.
func TestLatestIsWhatOthersTook(t *testing.T) {
	_, systems := counting(t)
	snapshots := systems.Snapshots()
	snapshots.Every(1000)
	require.Nil(t, snapshots.Latest(0))
	require.NoError(t, systems.Step(time.Millisecond))
	taken := make(chan *system.Published)
	go func() {
		s, err := snapshots.Take(context.Background())
		if err != nil {
			t.Error(err)
		}
		taken <- s
	}()
	var s *system.Published
	for s == nil {
		require.NoError(t, systems.Step(time.Millisecond))
		select {
		case s = <-taken:
		case <-time.After(time.Millisecond):
		}
	}
	latest := snapshots.Latest(time.Hour)
	require.Same(t, s.Snapshot, latest.Snapshot)
	s.Release()
	require.Positive(t, latest.Len())
	latest.Release()
}

// TestLatestMisuse: misuse, and calls after Close.
func TestLatestMisuse(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	systems := system.New(w)
	snapshots := systems.Snapshots()
	require.PanicsWithValue(t, "system: Snapshots.Every: frames=0: it must be positive", func() { snapshots.Every(0) })
	require.PanicsWithValue(t, "system: Snapshots.Latest: maxAge=-1ns: it must not be negative",
		func() { snapshots.Latest(-1) })
	for _, none := range []*system.Snapshots{nil, {}} {
		require.PanicsWithValue(t,
			"system: Snapshots.Latest: the snapshots are nil or the zero value; they come from Systems.Snapshots",
			func() { none.Latest(0) })
		require.PanicsWithValue(t,
			"system: Snapshots.Every: the snapshots are nil or the zero value; they come from Systems.Snapshots",
			func() { none.Every(1) })
	}
	require.Nil(t, snapshots.Latest(0))
	require.NoError(t, systems.Step(0))
	kept := snapshots.Latest(0)
	require.NotNil(t, kept)
	require.NoError(t, systems.Close())
	require.Nil(t, snapshots.Latest(time.Hour))
	kept.Release()
	require.NoError(t, w.Close())
}

// TestLatestBesideFrames: goroutines ask and read while frames go on.
func TestLatestBesideFrames(t *testing.T) {
	w, systems := counting(t)
	snapshots := systems.Snapshots()
	snapshots.Every(2)
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for range 50 {
				s := snapshots.Latest(time.Hour)
				if s == nil {
					continue
				}
				if err := s.Verify(); err != nil {
					t.Error(err)
				}
				s.Release()
			}
		})
	}
	for range 60 {
		require.NoError(t, systems.Step(time.Millisecond))
		require.NoError(t, w.Verify())
	}
	readers.Wait()
}
