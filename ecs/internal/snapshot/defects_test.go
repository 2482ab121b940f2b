package snapshot_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// What streams of package fuzz have found about snapshots.

// TestBlocksOfSnapshotsAreNoBuffers has a block wait for a snapshot, whose buffer has ended.
func TestBlocksOfSnapshotsAreNoBuffers(t *testing.T) {
	w := ecstest.NewWorld(t)
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

// TestMovesToWorldsKeepNames moves an entity with a name to another world, after a snapshot.
func TestMovesToWorldsKeepNames(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	e := ecs.NewArchetype(w).Create()
	w.SetName(e, "door")
	s := w.Snapshot()
	_, err := other.MoveAll(w)
	require.NoError(t, err)
	require.NoError(t, w.Restore(s))
	require.Equal(t, "door", w.Name(e))
}

// TestMovesToWorldsKeepHeaders moves an entity with a spilled buffer to another world: on the way
// the header in the old row is overwritten.
func TestMovesToWorldsKeepHeaders(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[uint64](w, ecs.Inline(0))
	e := ecs.NewArchetype(w, hits).Create()
	hits.Append(e, 1, 2, 3)
	s := w.Snapshot()
	_, err := other.MoveAll(w)
	require.NoError(t, err)
	require.NoError(t, w.Restore(s))
	require.NoError(t, w.Verify())
	got, _ := hits.Get(e)
	require.Equal(t, []uint64{1, 2, 3}, got.Slice())
}

// TestShrinkKeepsHeaders has Shrink move the elements of a spilled buffer into the row.
func TestShrinkKeepsHeaders(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[uint64](w, ecs.Inline(2))
	e := ecs.NewArchetype(w, hits).Create()
	hits.Append(e, 1, 2, 3)
	b, _ := hits.Mut(e)
	b.Resize(1)
	before := w.Hash()
	s := w.Snapshot()
	for !w.Shrink(1) {
	}
	require.Zero(t, w.Stats().Buffers)
	require.NoError(t, w.Restore(s))
	require.NoError(t, w.Verify())
	require.Equal(t, 1, w.Stats().Buffers)
	require.Equal(t, before, w.Hash())
}

// TestBlocksOfReservationsFollowTheirSnapshots has two blocks of reserved ids with one number, of
// which one snapshot has the first, and a later one the second.
func TestBlocksOfReservationsFollowTheirSnapshots(t *testing.T) {
	w := ecstest.NewWorld(t)
	first, id := w.Snapshot(), make([]ecs.Entity, 1)
	reserve := func() ecs.Entity {
		require.NoError(t, w.Reserve(id))
		return id[0]
	}
	e := reserve()
	second := w.Snapshot()
	require.NoError(t, w.Restore(first))
	require.Zero(t, w.Stats().Reserved)
	require.Equal(t, e, reserve(), "the id that came next")
	reserve()
	third := w.Snapshot()
	for _, s := range []*ecs.Snapshot{second, third, second, first, third} {
		require.NoError(t, w.Restore(s))
		require.NoError(t, w.Verify())
		require.Equal(t, map[*ecs.Snapshot]int{second: 1, third: 2}[s], w.Stats().Reserved)
	}
}

// TestSetValuesKeepsRows writes rows by SetValues, which marks them as it writes them.
func TestSetValuesKeepsRows(t *testing.T) {
	w := ecstest.NewWorld(t)
	place := ecs.Register[snapPlace](w)
	ecs.NewArchetype(w, place).Create()
	q := ecs.NewQuery(w, ecs.Write(place))
	s := w.Snapshot()
	require.NoError(t, place.SetValues(q, []snapPlace{{X: 1}}))
	require.NoError(t, w.Restore(s))
	require.Equal(t, []snapPlace{{}}, place.Values(q, nil))
}

// TestBundlesKeepRows writes a value and a buffer by Bundle.Set.
func TestBundlesKeepRows(t *testing.T) {
	w := ecstest.NewWorld(t)
	type bundle struct {
		Place snapPlace
		Hits  []uint64
	}
	place, hits := ecs.Register[snapPlace](w), ecs.RegisterBuffer[uint64](w, ecs.Inline(1))
	b := ecs.NewBundle[bundle](w)
	for _, before := range [][]uint64{{1}, {1, 2, 3}} {
		e := b.Create(bundle{snapPlace{X: 1}, before})
		s := w.Snapshot()
		for _, after := range [][]uint64{{4}, {4, 5, 6, 7}} {
			b.Set(e, bundle{snapPlace{X: 2}, after})
			require.NoError(t, w.Restore(s))
			require.NoError(t, w.Verify())
			require.Equal(t, snapPlace{X: 1}, *place.Get(e))
			got, _ := hits.Get(e)
			require.Equal(t, before, got.Slice())
		}
		s.Close()
	}
}
