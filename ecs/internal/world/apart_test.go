package world_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestStrangersOfManyWorlds: in debug builds no world takes an entity of another for its own,
// however many are open at once. Release builds cannot distinguish those that have the same tag.
func TestStrangersOfManyWorlds(t *testing.T) {
	if !debug.On {
		t.Skip("versions start apart in debug builds only")
	}
	u := ecstest.NewUniverse(t, 64<<20)
	var worlds []*ecs.World
	var ids []ecs.Entity
	for range 50 {
		w := ecstest.NewWorld(t, ecs.WithUniverse(u))
		reserved := make([]ecs.Entity, 1)
		require.NoError(t, w.Reserve(reserved))
		_, err := ecs.NewArchetype(w).CreateReserved(reserved)
		require.NoError(t, err)
		worlds, ids = append(worlds, w), append(ids, ecs.NewArchetype(w).Create(), reserved[0])
	}
	for i, w := range worlds {
		for k, e := range ids {
			require.Equal(t, i == k/2, w.Alive(e), "world %d, an entity of world %d", i, k/2)
		}
		require.NoError(t, w.Verify())
	}
}
