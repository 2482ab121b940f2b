package world_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestLocateFindsTheRow: the rows that a query gives, in chunks of every order, are where Locate
// finds them.
func TestLocateFindsTheRow(t *testing.T) {
	for _, g := range append(chunkPolicies, alloc.Fixed(1), alloc.Doubling().Capped(64)) {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(g))
		position, tag := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w)
		for _, a := range []*ecs.Archetype{ecs.NewArchetype(w, position), ecs.NewArchetype(w, tag, position),
			ecs.NewArchetype(w)} {
			_, err := a.CreateN(9*a.Plan().Rows + 5)
			require.NoError(t, err)
		}
		seen := 0
		for rows := range ecs.NewQuery(w).Rows() {
			var archetype *ecs.Archetype
			for i, e := range rows.Entities() {
				p, ok := w.Locate(e)
				require.True(t, ok)
				_, _, inChunk := p.Archetype.Chunk(p.Chunk)
				require.Equal(t, i, p.Row)
				require.Equal(t, rows.Len(), inChunk)
				require.True(t, archetype == nil || archetype == p.Archetype)
				archetype = p.Archetype
				seen++
			}
		}
		require.Equal(t, w.Stats().Alive, seen)
	}
}

func TestLocateOfTheDead(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w))
	first, second := a.Create(), a.Create()
	p, ok := w.Locate(second)
	require.True(t, ok)
	require.Equal(t, ecs.Location{Archetype: a, Row: 1}, p)
	require.True(t, w.Destroy(first))
	p, _ = w.Locate(second)
	require.Equal(t, ecs.Location{Archetype: a}, p, "the last row took the first one's place")
	for _, e := range []ecs.Entity{first, ecs.Null} {
		p, ok = w.Locate(e)
		require.False(t, ok)
		require.Zero(t, p)
	}
}
