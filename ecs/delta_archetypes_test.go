package ecs_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"

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
func (x *dented) empties(e ecs.Entity) {
	x.stun.Add(e, Stun{}) // archetypes that nobody holds
	x.owner.Add(e, Owner{})
	x.stun.Remove(e)
	x.hits.Add(e)
	x.team.Add(e, squad{Name: "red"})
	x.hits.Remove(e)
	x.team.Remove(e)
	x.owner.Remove(e)
	ecs.NewArchetype(x.w, x.tag, x.hits)
	ecs.NewArchetype(x.w, x.tag)
}

// fill makes rows in the archetypes of empties, in another order.
func (x *dented) fill(first ecs.Entity) {
	ecs.NewArchetype(x.w, x.tag).Create()
	e := ecs.NewArchetype(x.w, x.position).Create()
	x.team.Add(e, squad{Name: "red"})
	x.owner.Add(e, Owner{first})
	ecs.NewArchetype(x.w, x.position, x.owner).Create()
	ecs.NewArchetype(x.w, x.tag, x.hits).Create()
	x.stun.Add(first, Stun{3})
}

// TestDeltaHasArchetypesWithoutRows: archetypes that have no rows come with a delta and with a
// file, in their order, and those that were given up go, so that rows that come later come in the
// same order everywhere.
func TestDeltaHasArchetypesWithoutRows(t *testing.T) {
	w := newWorld(t)
	x := handles(w)
	first := ecs.NewArchetype(w, x.position).Create()
	x.burning.Add(first, Burning{1, 1})
	x.burning.Remove(first)
	ecs.NewArchetype(w, x.owner)
	x.box.Add(first)
	x.box.Remove(first)
	fork, err := w.Fork()
	require.NoError(t, err)

	w.Shrink(0) // gives up that with the box
	x.empties(first)
	d, err := ecs.DiffWorlds(fork, w)
	require.NoError(t, err)
	require.False(t, d.IsEmpty())
	then := w.Snapshot()
	delta := encoded(t, fork, w)
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(delta)))
	require.Equal(t, w.Stats().Archetypes, fork.Stats().Archetypes)
	d, err = ecs.DiffWorlds(fork, w)
	require.NoError(t, err)
	require.True(t, d.IsEmpty(), "both have the same archetypes")

	loaded, err := door.OpenImage(inMemory(t, then), func(w *ecs.World) {
		x := handles(w)
		ecs.NewArchetype(w, x.tag, x.hits) // before those of the file
	}, nil)
	require.NoError(t, err)
	copied, err := then.Fork()
	require.NoError(t, err)
	then.Close() // it has the archetypes that Shrink gives up
	for _, o := range []*ecs.World{fork, loaded, copied} {
		o := handles(o)
		o.w.Shrink(0)
		o.fill(first)
	}
	w.Shrink(0)
	x.fill(first)
	for _, o := range []*ecs.World{fork, loaded, copied} {
		require.Equal(t, w.Hash(), o.Hash())
		require.Equal(t, visits(w), visits(o))
		require.Equal(t, x.tell(), handles(o).tell())
		require.NoError(t, o.Verify())
	}

	for _, o := range []*ecs.World{fork, loaded, copied} {
		require.NoError(t, o.Close())
	}
}

// TestDeltaOfRestoredArchetypes: where a world goes back, a delta gives up the archetypes that it
// has given up.
func TestDeltaOfRestoredArchetypes(t *testing.T) {
	w := newWorld(t)
	x := handles(w)
	first := ecs.NewArchetype(w, x.position).Create()
	then := w.Snapshot()
	fork, err := w.Fork()
	require.NoError(t, err)
	y := handles(fork)
	x.empties(first)
	x.fill(first)
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
	require.Equal(t, x.tell(), y.tell())
	require.NoError(t, w.Restore(then))
	require.NoError(t, fork.ApplyDelta(bytes.NewReader(encoded(t, fork, w))))
	d, err := ecs.DiffWorlds(fork, w)
	require.NoError(t, err)
	require.True(t, d.IsEmpty())
	require.Equal(t, w.Stats().Archetypes, fork.Stats().Archetypes)
	x.fill(first)
	y.fill(first)
	require.Equal(t, visits(w), visits(fork))
	require.Equal(t, x.tell(), y.tell())
	require.NoError(t, fork.Close())
}

// TestDeltaFitsOtherArchetypes: a world that has made archetypes of its own, or lacks types that
// only archetypes without rows have, takes the delta all the same, and those with rows come in
// order.
func TestDeltaFitsOtherArchetypes(t *testing.T) {
	for own := range 3 {
		w := newWorld(t)
		x := handles(w)
		first := ecs.NewArchetype(w, x.position).Create()
		fork, err := w.Fork()
		require.NoError(t, err)
		y := handles(fork)
		if own > 0 {
			ecs.NewArchetype(fork, y.tag, y.box)
		}
		for round := range 3 {
			older, err := w.Fork()
			require.NoError(t, err)
			if own > 1 {
				ecs.NewArchetype(w, ecs.Register[Stun2](w), x.tag)
			}
			x.empties(first)
			x.owner.Add(first, Owner{})
			if round > 0 {
				x.fill(first)
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
	w := newWorld(t)
	x := handles(w)
	rng := rand.New(rand.NewPCG(1, 13))
	for range 5 {
		ecs.NewArchetype(w, x.position, x.hits).Create()
	}
	fork, err := w.Fork()
	require.NoError(t, err)
	x.position.Set(ecs.NewArchetype(w, x.position, x.hits).Create(), Position{X: rng.Float64()})
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
