package door_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"

	"github.com/stretchr/testify/require"
)

// anyPair is a value with an entity, in each kind of type.
type (
	anyPair    struct{ A, B ecs.Entity }
	anyElement struct {
		N  int32
		Of [2]ecs.Entity
	}
	anyManaged struct {
		Text string
		Of   ecs.Entity
	}
	anySparse struct{ Of ecs.Entity }
	anyShared struct{ N int }
	anyChunk  struct{ N int64 }
)

// TestSetValue: what World.Value returned is written again, in each kind of type, and marks it.
func TestSetValue(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	pair := ecs.Register[anyPair](w, ecs.Enableable)
	elements := ecs.RegisterBuffer[anyElement](w)
	managed := ecs.RegisterManaged[anyManaged](w)
	sparse := ecs.RegisterSparse[anySparse](w, ecs.Enableable)
	shared := ecs.RegisterShared[anyShared](w)
	chunk := ecs.RegisterChunk[anyChunk](w)
	e := ecs.NewArchetype(w, pair, elements, managed, shared, chunk).Create()
	none := ecs.NewArchetype(w).Create()
	sparse.Add(e, anySparse{})
	for _, c := range []struct {
		t     ecs.Type
		value any
	}{
		{pair, anyPair{e, none}}, {elements, []anyElement{{N: 1}, {2, [2]ecs.Entity{e, none}}}}, {managed, anyManaged{"x", e}},
		{sparse, anySparse{e}}, {shared, anyShared{3}}, {chunk, anyChunk{4}},
	} {
		since := w.Version()
		w.Advance()
		ok, err := door.SetValue(w, e, c.t, c.value)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, c.value, w.Value(e, c.t), c.t)
		if c.t == ecs.Type(pair) {
			require.True(t, pair.ChangedSince(e, since))
			require.False(t, elements.ChangedSince(e, since))
		}
		for _, other := range []ecs.Entity{none, ecs.Null} {
			ok, err = door.SetValue(w, other, c.t, c.value)
			require.NoError(t, err)
			require.False(t, ok, c.t)
			require.Nil(t, w.Value(other, c.t))
		}
		require.Panics(t, func() { _, _ = door.SetValue(w, e, c.t, 3.5) })
		require.Panics(t, func() { _, _ = door.SetValue(w, e, c.t, nil) })
	}
	require.PanicsWithValue(t, "ecs: door.SetValue: a value of anyPair is a door_test.anyPair, not a int",
		func() { _, _ = door.SetValue(w, e, pair, 3) })
	require.Equal(t, shared.Of(anyShared{3}).String(), door.SharedOf(w, shared, anyShared{3}).String())
	for _, of := range []ecs.Type{pair, sparse} {
		require.True(t, door.Enabled(w, e, of))
		require.True(t, door.SetEnabled(w, e, of, false))
		require.False(t, door.Enabled(w, e, of))
		require.True(t, door.SetEnabled(w, e, of, true))
		require.False(t, door.SetEnabled(w, none, of, true))
		require.False(t, door.Enabled(w, none, of))
	}
	require.NoError(t, w.Verify())
}

// TestVisitLinks: all entities of a value are visited in order, and replaced where they lie.
func TestVisitLinks(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	pair := ecs.Register[anyPair](w)
	elements := ecs.RegisterBuffer[anyElement](w, ecs.Inline(1))
	managed := ecs.RegisterManaged[anyManaged](w)
	sparse, shared := ecs.RegisterSparse[anySparse](w), ecs.RegisterShared[anyShared](w)
	a := ecs.NewArchetype(w, pair, elements, managed, shared)
	e, x, y := a.Create(), a.Create(), a.Create()
	sparse.Add(e, anySparse{x})
	pair.Set(e, anyPair{x, y})
	elements.Append(e, anyElement{Of: [2]ecs.Entity{x, y}}, anyElement{Of: [2]ecs.Entity{y, x}})
	managed.Set(e, anyManaged{"m", x})
	for _, c := range []struct {
		t    ecs.Type
		was  []ecs.Entity
		then any
	}{
		{pair, []ecs.Entity{x, y}, anyPair{y, y}},
		{elements, []ecs.Entity{x, y, y, x}, []anyElement{{Of: [2]ecs.Entity{y, y}}, {Of: [2]ecs.Entity{y, y}}}},
		{managed, []ecs.Entity{x}, anyManaged{"m", y}}, {sparse, []ecs.Entity{x}, anySparse{y}},
	} {
		before, s := w.Hash(), w.Snapshot() // written through the barrier: the snapshot keeps what was
		var seen []ecs.Entity
		require.True(t, door.VisitLinks(w, e, c.t, func(to *ecs.Entity) {
			seen = append(seen, *to)
			*to = y
		}))
		require.Equal(t, c.was, seen)
		require.Equal(t, c.then, w.Value(e, c.t))
		require.Equal(t, before, s.Hash())
		s.Close()
		require.False(t, door.VisitLinks(w, ecs.Null, c.t, func(*ecs.Entity) { t.Error("visited") }))
	}
	require.Panics(t, func() { door.VisitLinks(w, e, shared, func(*ecs.Entity) {}) })
	require.NoError(t, w.Verify())
}

// TestSetTag: a world gets the tag of any other before it has entities, and never afterwards.
func TestSetTag(t *testing.T) {
	var list []*ecs.World
	for range 3 {
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		door.SetTag(w, 5)
		list = append(list, w)
	}
	e := ecs.NewArchetype(list[0]).Create()
	require.Equal(t, e, ecs.NewArchetype(list[1]).Create())
	require.True(t, list[2].Owns(e))
	require.PanicsWithValue(t, "ecs: door.SetTag: the world has had entities, or is closed",
		func() { door.SetTag(list[0], 6) })
	for _, w := range list {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	}
}
