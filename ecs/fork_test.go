package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

// TestForkSharesTheTag: a fork takes the entities of its origin as its own, in handles and in
// components, and the tag counts as in use until both are closed.
func TestForkSharesTheTag(t *testing.T) {
	w := newWorld(t)
	owner := ecs.Register[Owner](w)
	a := ecs.NewArchetype(w, owner)
	e := a.Create()
	owner.Set(e, Owner{e})
	open := ecs.OpenWorlds()
	c, err := w.Fork()
	require.NoError(t, err)
	require.Equal(t, open+1, ecs.OpenWorlds())
	require.Equal(t, w.Hash(), c.Hash())
	there := ecs.Register[Owner](c)
	require.Equal(t, e, there.Get(e).Of, "the same entity value")
	require.True(t, c.Alive(e))
	require.Equal(t, a.Create(), ecs.NewArchetype(c, there).Create(), "the next ids are the same too")
	require.NoError(t, c.Verify())
	require.NoError(t, c.Close())
	require.Equal(t, open, ecs.OpenWorlds())
	require.True(t, w.Alive(e))
	clone, err := w.Clone()
	require.NoError(t, err)
	require.False(t, clone.Alive(e), "a clone has a tag of its own")
	require.NoError(t, clone.Close())
}
