package world_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	e, f := a.Create(), a.Create()
	_, ok := w.Named("door")
	require.False(t, ok)
	require.Empty(t, w.Name(e))
	require.True(t, w.SetName(e, ""))
	require.False(t, hasNames(w), "worlds without names pay nothing")
	hash := w.Hash()
	long := strings.Repeat("long ", 1_000_000) + "\xff\x00 Tür 门"
	for _, text := range []string{"door", "Tür", "门", "\x00", "null", long} {
		require.True(t, w.SetName(e, text))
		require.Equal(t, text, w.Name(e))
		named, ok := w.Named(text)
		require.True(t, ok)
		require.Equal(t, e, named)
		require.NoError(t, w.Verify())
	}
	_, ok = w.Named("door")
	require.False(t, ok, "it has another name now")
	require.Empty(t, w.Name(f))
	require.Equal(t, hash, w.Hash(), "names are no part of the hash")
	require.True(t, w.SetName(e, ""))
	require.Empty(t, w.Name(e))
	_, ok = w.Named(long)
	require.False(t, ok)
	_, ok = w.Named("")
	require.False(t, ok, "no entity is named so")
}

// TestNameEndsWithItsEntity creates another under the same index.
func TestNameEndsWithItsEntity(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	reserved := ecstest.Reserve(t, w, 1)
	require.False(t, w.SetName(reserved[0], "early"), "not alive yet")
	ecstest.CreateReserved(t, a, reserved)
	for _, old := range []ecs.Entity{a.Create(), reserved[0]} {
		require.True(t, w.SetName(old, "door"))
		require.True(t, w.Destroy(old))
		require.NoError(t, w.Verify())
		require.False(t, w.SetName(old, "door"))
		require.Empty(t, w.Name(old))
		_, ok := w.Named("door")
		require.False(t, ok)
		var again ecs.Entity
		for again.Index() != old.Index() {
			if old == reserved[0] {
				id := ecstest.Reserve(t, w, 1)
				ecstest.CreateReserved(t, a, id)
				again = id[0]
			} else {
				again = a.Create()
			}
		}
		require.Empty(t, w.Name(again))
	}
	require.False(t, w.SetName(ecs.Null, "nothing"))
	require.Empty(t, w.Name(ecs.Null))
	stranger := ecs.NewArchetype(other).Create()
	require.PanicsWithValue(t, "ecs: World.SetName: entity 1v1 belongs to another world",
		func() { w.SetName(stranger, "x") })
	require.PanicsWithValue(t, "ecs: World.Name: entity 1v1 belongs to another world", func() { w.Name(stranger) })
	require.NoError(t, other.Close())
	require.PanicsWithValue(t, "ecs: World.Named: the world is closed", func() { other.Named("x") })
	require.PanicsWithValue(t, "ecs: World.SetName: the world is closed", func() { other.SetName(stranger, "x") })
}

// TestEqualNames compares with a model that keeps for each name a plain list.
func TestEqualNames(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	r := rand.New(rand.NewPCG(8, 9))
	texts := []string{"", "a", "b", "c"}
	lists := map[string][]ecs.Entity{}
	names := map[ecs.Entity]string{}
	forget := func(e ecs.Entity) {
		list := lists[names[e]]
		for i := range list {
			if list[i] == e {
				lists[names[e]] = append(list[:i:i], list[i+1:]...)
				break
			}
		}
	}
	var ids []ecs.Entity
	for range 3000 {
		switch {
		case len(ids) < 10 || r.IntN(10) == 0:
			ids = append(ids, a.Create())
		case r.IntN(4) == 0:
			i := r.IntN(len(ids))
			forget(ids[i])
			delete(names, ids[i])
			w.Destroy(ids[i])
			ids = append(ids[:i], ids[i+1:]...)
		default:
			e, text := ids[r.IntN(len(ids))], texts[r.IntN(len(texts))]
			require.True(t, w.SetName(e, text))
			if names[e] != text {
				forget(e)
				names[e] = text
				lists[text] = append(lists[text], e)
			}
		}
		for _, text := range texts[1:] {
			e, ok := w.Named(text)
			if list := lists[text]; len(list) == 0 {
				require.False(t, ok)
			} else {
				require.Equal(t, list[len(list)-1], e, "the one that got it last")
			}
		}
	}
	for _, e := range ids {
		require.Equal(t, names[e], w.Name(e))
	}
	require.NoError(t, w.Verify())
}

// TestVerifyChecksNames corrupts W8; N1 to N4 are package name's.
func TestVerifyChecksNames(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	require.True(t, w.SetName(a.Create(), "somebody"))
	restore := corruptNames(w)
	require.ErrorContains(t, w.Verify(), `ecs: W8: index 134217727 has the name "nobody"`)
	restore()
	require.NoError(t, w.Verify())
}

// hasNames reports whether the world has paid for names.
func hasNames(w *ecs.World) bool { return door.World(w).Names.Len() > 0 }
