package ecs_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestFills: the table says what the archetypes say one by one, and all that the
// universe counts.
func TestFills(t *testing.T) {
	w := newWorld(t)
	require.Empty(t, w.Occupancy())
	a, b, tag := ecs.Register[[16]byte](w), ecs.Register[uint32](w), ecs.Register[struct{}](w)
	few, many := ecs.NewArchetype(w, a, tag), ecs.NewArchetype(w, a, b)
	ecs.NewArchetype(w, b) // which holds nothing
	for range 3 {
		few.Create()
	}
	_, err := many.CreateN(10_000)
	require.NoError(t, err)
	fills := w.Occupancy()
	require.Len(t, fills, 2)
	require.Equal(t, ecs.Occupancy{Archetype: few, Rows: 3, Chunks: 1, Bytes: 2048, RowBytes: 24}, fills[0])
	require.Equal(t, 2048-72, fills[0].Waste())
	f := fills[1]
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
	sum := fills.Sum()
	require.Equal(t, []int{10_003, f.Chunks + 1, f.Bytes + 2048, f.Reserve}, []int{sum.Rows, sum.Chunks, sum.Bytes, sum.Reserve})
	w.Clear()
	w.Trim()
	for _, f := range w.Occupancy() {
		require.Zero(t, f.Rows)
	}
	require.NoError(t, w.Close())
	require.Empty(t, w.Occupancy())
}

func ExampleOccupancyTable() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	ecs.NewArchetype(w, position).Create()
	if _, err := ecs.NewArchetype(w, position, velocity).CreateN(1600); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(w.Occupancy())
	// Output:
	// rows  B a row  chunks  KiB  reserve  used  types
	//   1600       40       1   64        0  97 %  [Position Velocity]
	//      1       24       1    2        0   1 %  [Position]
	//   1601       39       2   66        0  94 %  all
}

// TestArchetypesDoNotCompeteForLines: where archetypes lie 1,024 bytes apart, the same fields of
// all of them share few lines of the cache.
func TestArchetypesDoNotCompeteForLines(t *testing.T) {
	require.LessOrEqual(t, int(ecs.ArchetypeBytes), 896, "the allocator's next size is 1,024")
}
