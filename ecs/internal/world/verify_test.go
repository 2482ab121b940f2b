package world_test

import (
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestVerifyNamesTheInvariant corrupts each numbered invariant in turn, in chunks of a
// unit and in small ones.
func TestVerifyNamesTheInvariant(t *testing.T) {
	verifyNames(t, ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1))), "L1")
	verifyNames(t, ecstest.NewWorld(t))
}

func verifyNames(t *testing.T, w *ecs.World, more ...string) {
	stun, hits := ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	position := ecs.Register[ecstest.Position](w)
	ecs.NewQuery(w, ecs.Read(position))
	ecs.NewArchetype(w, position).Create()
	a := ecs.NewArchetype(w, stun, hits)
	for range 50 {
		hits.Append(a.Create(), ecstest.Hit{}, ecstest.Hit{}, ecstest.Hit{})
	}
	require.NoError(t, w.Verify())
	for _, name := range append(more, "W1", "W2", "W4", "W6", "W6 count", "W7", "W9", "W12") {
		restore := corrupt(w, name)
		require.ErrorContains(t, w.Verify(), "ecs: "+strings.Fields(name)[0]+":", name)
		restore()
		require.NoError(t, w.Verify())
	}
	for _, name := range []string{"T1", "T1 keys", "T2", "T2 copied", "A1", "A2", "A3", "Q1", "O1", "O1 outer",
		"O1 borrow", "O1 alone", "L2", "C1"} {
		restore := corruptParts(w, name)
		require.ErrorContains(t, w.Verify(), "ecs: "+strings.Fields(name)[0]+":", name)
		restore()
		require.NoError(t, w.Verify())
	}
	restore := corrupt(w, "M1")
	require.ErrorContains(t, w.Verify(), "match: M1:")
	restore()
	require.NoError(t, w.Verify())
}

// TestVerifyNamesKinds corrupts what worlds keep of shared values.
func TestVerifyNamesKinds(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, team := ecs.Register[ecstest.Position](w), ecs.RegisterShared[string](w)
	ecs.NewQuery(w, ecs.Where(team.Of("red")))
	ecs.NewArchetype(w, position, team.Of("red")).Create()
	a := ecs.NewArchetype(w, team.Of("red"))
	for range 2 {
		a.Create()
	}
	require.NoError(t, w.Verify())
	for _, name := range []string{
		"W11 count", "W11 serial", "W11 none", "W11 two", "W11 foreign", "W11 unknown", "W11 idle", "W11 query",
		"W11 query of none",
	} {
		restore := corruptKinds(w, name)
		require.ErrorContains(t, w.Verify(), "ecs: "+name[:3]+":", name)
		restore()
		require.NoError(t, w.Verify())
	}
}

// TestVersionsWrap takes one index over the end of its versions.
func TestVersionsWrap(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	first := a.Create()
	w.Destroy(first)
	setNextVersion(w, uint32(first.Index()), 1<<32-2)
	var last ecs.Entity
	for last.Index() != first.Index() {
		last = a.Create()
	}
	require.Equal(t, uint32(1<<32-1), last.Version())
	require.True(t, w.Destroy(last))
	require.False(t, w.Alive(last))
	var wrapped ecs.Entity
	for wrapped.Index() != first.Index() {
		wrapped = a.Create()
	}
	require.Equal(t, uint32(1), wrapped.Version(), "after 2^31 reuses a version comes again")
}

// TestChangeVersionWraps compares versions across the wrap of the counter.
func TestChangeVersionWraps(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	e := ecs.NewArchetype(w, position).Create()
	ecstest.SetVersion(w, 1<<32-1)
	position.Mut(e)
	require.Equal(t, uint32(1), w.Advance(), "0 is skipped")
	q := ecs.NewQuery(w, ecs.Read(position))
	for rows := range q.Rows() {
		require.False(t, position.Changed(rows, 1<<32-1))
		require.True(t, position.Changed(rows, 1<<32-2))
	}
	position.Mut(e)
	for rows := range q.Rows() {
		require.True(t, position.Changed(rows, 1<<32-1))
	}
}
