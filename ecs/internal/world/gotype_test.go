package world_test

import (
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestEmptyWorldIsSmall: what a world without archetypes does not need is not made, and no type is
// walked again, neither a built-in one nor a program's.
func TestEmptyWorldIsSmall(t *testing.T) {
	if debug.On {
		t.Skip("checks allocate too")
	}
	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	defer func() { require.NoError(t, u.Close()) }()
	start := func(register func(w *ecs.World)) func() {
		return func() {
			w, err := ecs.NewWorld(ecs.WithUniverse(u))
			if err != nil {
				panic(err)
			}
			register(w)
			if err := w.Close(); err != nil {
				panic(err)
			}
		}
	}
	empty := testing.AllocsPerRun(20, start(func(*ecs.World) {}))
	require.LessOrEqual(t, empty, 14.0)
	few := testing.AllocsPerRun(20, start(func(w *ecs.World) { ecs.Register[struct{ A int8 }](w) }))
	many := testing.AllocsPerRun(20, start(func(w *ecs.World) {
		ecs.Register[struct {
			A, B, C, D, E, F, G, H int8
			I, J, K, L, M, N, O, P struct{ Of ecs.Entity }
		}](w)
	}))
	require.Equal(t, few, many, "a type of one field, and one of many")
}

// TestWorldsInParallel makes worlds in several goroutines, which all ask about the same types
// first: each world must get the same answers.
func TestWorldsInParallel(t *testing.T) {
	type padded struct {
		A int8
		B ecs.Entity
		C [3]struct {
			D int16
			E ecs.Entity
		}
	}
	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	const n = 8
	var hashes [n]uint64
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			w, err := ecs.NewWorld(ecs.WithUniverse(u))
			if err != nil {
				panic(err)
			}
			c := ecs.Register[padded](w)
			other := ecs.NewArchetype(w, ecs.Register[struct{ X int32 }](w)).Create()
			e := ecs.NewArchetype(w, c).Create()
			c.Set(e, padded{A: 1, B: other})
			if got := c.Get(w.Instantiate(e)); *got != *c.Get(e) {
				panic("the copy differs")
			}
			hashes[i] = w.Hash()
			if err := w.Verify(); err != nil {
				panic(err)
			}
			if err := w.Close(); err != nil {
				panic(err)
			}
		})
	}
	running.Wait()
	for _, h := range hashes {
		require.Equal(t, hashes[0], h)
	}
	require.NoError(t, u.Close())
}
