package snapshot_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// TestForkSharesTheTag: a fork takes the entities of its origin as its own, in handles and in
// components, and the tag counts as in use until both are closed.
func TestForkSharesTheTag(t *testing.T) {
	w := ecstest.NewWorld(t)
	owner := ecs.Register[ecstest.Owner](w)
	a := ecs.NewArchetype(w, owner)
	e := a.Create()
	owner.Set(e, ecstest.Owner{Of: e})
	open := world.Tags.Open()
	c, err := ecstest.Fork(w)
	require.NoError(t, err)
	require.Equal(t, open+1, world.Tags.Open())
	require.Equal(t, w.Hash(), c.Hash())
	there := ecs.Register[ecstest.Owner](c)
	require.Equal(t, e, there.Get(e).Of, "the same entity value")
	require.True(t, c.Alive(e))
	require.Equal(t, a.Create(), ecs.NewArchetype(c, there).Create(), "the next ids are the same too")
	require.NoError(t, c.Verify())
	require.NoError(t, c.Close())
	require.Equal(t, open, world.Tags.Open())
	require.True(t, w.Alive(e))
	clone, err := w.Clone()
	require.NoError(t, err)
	require.False(t, clone.Alive(e), "a clone has a tag of its own")
	require.NoError(t, clone.Close())
}

// TestPrintersPassManagedValues: a printer finds no value of a managed type without CopyWith in
// rows of a snapshot, whatever their slots hold by now.
func TestPrintersPassManagedValues(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, text := ecs.Register[ecstest.Position](w), ecs.RegisterManaged[string](w)
	e := ecs.NewArchetype(w, position, text).Create()
	text.Set(e, "then")
	all := ecs.NewQueryOfAll(w)
	s := w.Snapshot()
	read := func() {
		t.Helper()
		n := 0
		for rows := range s.Rows(all) {
			require.Nil(t, rows.Value(text, 0))
			require.NotNil(t, rows.Value(position, 0))
			n += rows.Count()
		}
		require.Equal(t, 1, n)
		require.NoError(t, s.Verify())
		require.NoError(t, w.Verify())
	}
	read()
	text.Set(e, "now")
	read()
	w.Destroy(e)
	w.Trim()
	read()
	later := w.Snapshot()
	f, err := later.Fork()
	require.NoError(t, err, "rows that are gone are in nobody's way")
	require.NoError(t, f.Close())
}
