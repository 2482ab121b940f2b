package ecs_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestOccupancy: the list has the figures that the archetypes return one by one, and all that the
// universe counts.
func TestOccupancy(t *testing.T) {
	w := ecstest.NewWorld(t)
	require.Empty(t, w.Occupancy())
	a, b, tag := ecs.Register[[16]byte](w), ecs.Register[uint32](w), ecs.Register[struct{}](w)
	few, many := ecs.NewArchetype(w, a, tag), ecs.NewArchetype(w, a, b)
	ecs.NewArchetype(w, b) // which holds nothing
	for range 3 {
		few.Create()
	}
	_, err := many.CreateN(10_000)
	require.NoError(t, err)
	list := w.Occupancy()
	require.Len(t, list, 2)
	require.Equal(t, ecs.Occupancy{Archetype: few, Rows: 3, Chunks: 1, Bytes: 2048, RowBytes: 24}, list[0])
	require.Equal(t, 2048-72, list[0].Waste())
	f := list[1]
	bytes, rows := 0, 0
	for i := range many.Chunks() {
		_, n, k := many.Chunk(i)
		bytes += n
		rows += k
	}
	require.Equal(t, []int{10_000, 28, many.Chunks(), bytes}, []int{f.Rows, f.RowBytes, f.Chunks, f.Bytes})
	require.Equal(t, rows, f.Rows)
	require.Equal(t, 280_000, f.Used())
	s := w.Stats()
	require.Equal(t, s.Reserve*alloc.ChunkSize, f.Reserve)
	require.Equal(t, s.Chunks*alloc.ChunkSize, f.Bytes)
	sum := ecstest.Occupied(w)
	require.Equal(t, []int{10_003, f.Chunks + 1, f.Bytes + 2048, f.Reserve}, []int{
		sum.Rows, sum.Chunks, sum.Bytes, sum.Reserve,
	})
	w.Clear()
	w.Trim()
	for _, f := range w.Occupancy() {
		require.Zero(t, f.Rows)
	}
	require.NoError(t, w.Close())
	require.Empty(t, w.Occupancy())
}

// TestArchetypesDoNotCompeteForLines: where archetypes lie 1,024 bytes apart, the same fields of
// all of them share few lines of the cache.
func TestArchetypesDoNotCompeteForLines(t *testing.T) {
	require.LessOrEqual(t, int(ecs.ArchetypeBytes), 896, "the allocator's next size is 1,024")
}
