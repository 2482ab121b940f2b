package query_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestMirrorFollowsMovedChunks keeps the list of entities that a query gives up to
// date through Ordered, by chunk position, while chunks change hands before one that
// is part full.
func TestMirrorFollowsMovedChunks(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, tag := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w)
	plain, tagged := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, tag)
	per := plain.Plan().Rows
	_, err := plain.CreateN(5)
	require.NoError(t, err)
	_, err = tagged.CreateN(per)
	require.NoError(t, err)
	all := ecs.NewQuery(w, ecs.Read(position), ecs.Absent(tag))
	news := ecs.NewQuery(w, ecs.Read(position), ecs.Absent(tag), ecs.Ordered())
	mirror := all.Entities(nil)
	for range news.Rows() {
		require.True(t, plain.Has(position))
	}
	_, err = ecs.NewChange(w, ecs.Remove(tag)).ApplyQuery(ecs.NewQuery(w, ecs.With(tag)))
	require.NoError(t, err)
	now := all.Entities(nil)
	mirror = append(mirror, make([]ecs.Entity, len(now)-len(mirror))...)
	for rows := range news.Rows() {
		copy(mirror[rows.Chunk()*per:], rows.Entities())
	}
	require.Equal(t, now, mirror)
	require.False(t, plain.Has(tag))
}
