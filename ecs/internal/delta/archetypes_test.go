package delta_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// visits returns the entities of all archetypes in the order in which queries go.
func visits(w *ecs.World) (all []ecs.Entity) {
	q := ecs.NewQueryOfAll(w)
	defer q.Close()
	for rows := range q.Rows() {
		all = append(all, rows.Entities()...)
	}
	return all
}

// empties makes archetypes without rows, by NewArchetype and by changes of types.
func empties(x *ecstest.Kinds, e ecs.Entity) {
	x.Stun.Add(e, ecstest.Stun{}) // archetypes that nobody holds
	x.Owner.Add(e, ecstest.Owner{})
	x.Stun.Remove(e)
	x.Hits.Add(e)
	x.Team.Add(e, ecstest.Squad{Name: "red"})
	x.Hits.Remove(e)
	x.Team.Remove(e)
	x.Owner.Remove(e)
	ecs.NewArchetype(x.World, x.Tag, x.Hits)
	ecs.NewArchetype(x.World, x.Tag)
}

// fillEmpties makes rows in the archetypes of empties, in another order.
func fillEmpties(x *ecstest.Kinds, first ecs.Entity) {
	ecs.NewArchetype(x.World, x.Tag).Create()
	e := ecs.NewArchetype(x.World, x.Position).Create()
	x.Team.Add(e, ecstest.Squad{Name: "red"})
	x.Owner.Add(e, ecstest.Owner{Of: first})
	ecs.NewArchetype(x.World, x.Position, x.Owner).Create()
	ecs.NewArchetype(x.World, x.Tag, x.Hits).Create()
	x.Stun.Add(first, ecstest.Stun{Left: 3})
}

// TestDeltaHasArchetypesWithoutRows: archetypes that have no rows come with a delta and with a
// file, in their order, and those that were given up go, so that rows that come later come in the
// same order everywhere.
func TestDeltaHasArchetypesWithoutRows(t *testing.T) {
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	first := ecs.NewArchetype(w, x.Position).Create()
	x.Burning.Add(first, ecstest.Burning{Heat: 1, For: 1})
	x.Burning.Remove(first)
	ecs.NewArchetype(w, x.Owner)
	x.Box.Add(first)
	x.Box.Remove(first)
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)

	w.Shrink(0) // gives up that with the box
	empties(x, first)
	d, err := diffWorlds(fork, w)
	require.NoError(t, err)
	require.False(t, d.IsEmpty())
	then := w.Snapshot()
	delta := encoded(t, fork, w)
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(delta)))
	require.Equal(t, w.Stats().Archetypes, fork.Stats().Archetypes)
	d, err = diffWorlds(fork, w)
	require.NoError(t, err)
	require.True(t, d.IsEmpty(), "both have the same archetypes")

	loaded, err := door.OpenImage(ecstest.NewFile(t, then), func(w *ecs.World) {
		x := ecstest.RegisterKinds(w)
		ecs.NewArchetype(w, x.Tag, x.Hits) // before those of the file
	}, nil)
	require.NoError(t, err)
	copied, err := then.Fork()
	require.NoError(t, err)
	then.Close() // it has the archetypes that Shrink gives up
	for _, o := range []*ecs.World{fork, loaded, copied} {
		o := ecstest.RegisterKinds(o)
		o.World.Shrink(0)
		fillEmpties(o, first)
	}
	w.Shrink(0)
	fillEmpties(x, first)
	for _, o := range []*ecs.World{fork, loaded, copied} {
		require.Equal(t, w.Hash(), o.Hash())
		require.Equal(t, visits(w), visits(o))
		require.Equal(t, x.State(), ecstest.RegisterKinds(o).State())
		require.NoError(t, o.Verify())
	}

	for _, o := range []*ecs.World{fork, loaded, copied} {
		require.NoError(t, o.Close())
	}
}

// TestDeltaOfRestoredArchetypes: where a world goes back, a delta gives up the archetypes that it
// has given up.
func TestDeltaOfRestoredArchetypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	first := ecs.NewArchetype(w, x.Position).Create()
	then := w.Snapshot()
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	y := ecstest.RegisterKinds(fork)
	empties(x, first)
	fillEmpties(x, first)
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
	require.Equal(t, x.State(), y.State())
	require.NoError(t, w.Restore(then))
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
	d, err := diffWorlds(fork, w)
	require.NoError(t, err)
	require.True(t, d.IsEmpty())
	require.Equal(t, w.Stats().Archetypes, fork.Stats().Archetypes)
	fillEmpties(x, first)
	fillEmpties(y, first)
	require.Equal(t, visits(w), visits(fork))
	require.Equal(t, x.State(), y.State())
	require.NoError(t, fork.Close())
}

// TestDeltaFitsOtherArchetypes: a world that has made archetypes of its own, or lacks types that
// only archetypes without rows have, takes the delta all the same, and those with rows come in
// order.
func TestDeltaFitsOtherArchetypes(t *testing.T) {
	for own := range 3 {
		w := ecstest.NewWorld(t)
		x := ecstest.RegisterKinds(w)
		first := ecs.NewArchetype(w, x.Position).Create()
		fork, err := ecstest.Fork(w)
		require.NoError(t, err)
		y := ecstest.RegisterKinds(fork)
		if own > 0 {
			ecs.NewArchetype(fork, y.Tag, y.Box)
		}
		for round := range 3 {
			older, err := ecstest.Fork(w)
			require.NoError(t, err)
			if own > 1 {
				ecs.NewArchetype(w, ecs.Register[Stun2](w), x.Tag)
			}
			empties(x, first)
			x.Owner.Add(first, ecstest.Owner{})
			if round > 0 {
				fillEmpties(x, first)
			}
			require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, older, w))))
			require.Equal(t, visits(w), visits(fork))
			require.Equal(t, w.Hash(), fork.Hash())
			require.NoError(t, fork.Verify())
			require.NoError(t, older.Close())
		}
		require.NoError(t, fork.Close())
	}
}

// Stun2 is a type that only one of two worlds has.
type Stun2 struct{ X uint8 }

// TestDeltaOfFormat1: deltas of format 1, which have no archetypes without rows, are applied.
func TestDeltaOfFormat1(t *testing.T) {
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	rng := rand.New(rand.NewPCG(1, 13))
	for range 5 {
		ecs.NewArchetype(w, x.Position, x.Hits).Create()
	}
	fork, err := ecstest.Fork(w)
	require.NoError(t, err)
	x.Position.Set(ecs.NewArchetype(w, x.Position, x.Hits).Create(), ecstest.Position{X: rng.Float64()})
	delta := encoded(t, fork, w)
	n := len(delta) - 4
	require.Zero(t, delta[n-1], "there is no roster")
	old := append(bytes.Clone(delta[:n-1]), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(old[8:], 1)
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(seal(old))))
	require.Equal(t, w.Hash(), fork.Hash())
	require.Equal(t, visits(w), visits(fork))
	require.NoError(t, fork.Close())
}
