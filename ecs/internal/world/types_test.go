package world_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"quarry/asm"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Behaviours 17, 18, 25 and 26: sets of types, and types that are not there.

// TestBehaviour17OrderOfTypes: the order in which an archetype's types are named does
// not matter, however one comes to it.
func TestBehaviour17OrderOfTypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	types := []ecs.Type{ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w),
		ecs.RegisterBuffer[ecstest.Hit](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)}
	a := ecs.NewArchetype(w, types...)
	n := w.Stats().Archetypes
	for range 50 {
		rand.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
		require.Same(t, a, ecs.NewArchetype(w, types...))
	}
	require.Equal(t, n, w.Stats().Archetypes)
	e := ecs.NewArchetype(w).Create()
	_, err := ecs.NewChange(w, ecs.Add(types...)).Apply(e)
	require.NoError(t, err)
	require.Equal(t, 1, a.Len())
}

type wideA struct{ B [9000]byte }
type wideB struct{ B [9000]byte }

// TestBehaviour18TooBig: an archetype whose row fits no chunk is refused with the
// sizes, however one comes to it, and the world stays as it was: what a batch of
// several archetypes had found is forgotten, and later changes are not led astray.
func TestBehaviour18TooBig(t *testing.T) {
	w := ecstest.NewWorld(t)
	a, b, tag := ecs.Register[wideA](w), ecs.Register[wideB](w), ecs.Register[ecstest.Tag](w)
	err := ecs.Try(func() { ecs.NewArchetype(w, a, b) })
	require.ErrorIs(t, err, ecs.ErrLimit)
	line := asm.CacheLine()
	needs := line + 2*((9000+line-1)/line*line) // the entity and both columns
	require.EqualError(t, err, "ecs: NewArchetype: the limit is 16384 bytes of columns a chunk: "+
		fmt.Sprintf("layout: New: one row needs %d bytes in whole cache lines, a chunk has 16384; wideA alone is 9000 bytes: row does not fit a chunk",
			needs))
	for _, known := range []bool{false, true} {
		small, wide := ecs.NewArchetype(w, tag), ecs.NewArchetype(w, a)
		if known {
			ecs.NewArchetype(w, b, tag) // so it is there when the batch fails
		}
		_, err := small.CreateN(50)
		require.NoError(t, err)
		e := wide.Create()
		all, add := ecs.NewQuery(w), ecs.NewChange(w, ecs.Add(b))
		before, hash, live := w.Stats(), w.Hash(), w.Universe().Stats()
		for name, f := range map[string]func() error{
			"Component.Add":     func() error { err := ecs.Try(func() { b.Add(e, wideB{}) }); return err },
			"Change.Apply":      func() error { _, err := add.Apply(e); return err },
			"Change.ApplyQuery": func() error { _, err := add.ApplyQuery(all); return err },
			"Change.ApplyList":  func() error { _, err := add.ApplyList(all.Entities(nil)); return err },
		} {
			err := f()
			require.ErrorContains(t, err, "ecs: "+name+": the limit is 16384 bytes of columns a chunk")
			require.ErrorIs(t, err, ecs.ErrLimit)
			require.NoError(t, w.Verify(), name)
			require.Equal(t, []any{before, hash, live}, []any{w.Stats(), w.Hash(), w.Universe().Stats()}, name)
		}
		one, err := add.ApplyQuery(ecs.NewQuery(w, ecs.With(tag), ecs.Without(b)))
		require.NoError(t, err)
		require.Equal(t, 50, one.Len())
		require.NoError(t, w.Verify(), "nothing is left of the room that the failed batch wanted")
		require.Equal(t, 50, w.Stats().Chunks-1, "a row of 9,000 bytes has a chunk of its own")
		w.Clear()
	}
}

// TestBehaviour25Absent: a component that is absent, or of a dead entity, is nil or
// false on every path.
func TestBehaviour25Absent(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	health := ecs.Register[ecstest.Health](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	a := ecs.NewArchetype(w, position)
	gone, e := a.Create(), a.Create()
	w.Destroy(gone)
	q := ecs.NewQuery(w, ecs.Read(position), ecs.Optional(ecs.Write(health), ecs.Read(stun), ecs.Write(hits)))
	for _, e := range []ecs.Entity{e, gone, ecs.Null} {
		require.Nil(t, health.Get(e))
		require.Nil(t, health.Mut(e))
		require.False(t, health.Has(e) || health.Set(e, ecstest.Health{}) || health.Enabled(e) || health.Remove(e))
		require.False(t, stun.Has(e) || stun.Enabled(e) || stun.Enable(e) || stun.Disable(e))
		_, ok := hits.Get(e)
		_, ok2 := hits.Mut(e)
		require.False(t, ok || ok2 || hits.Has(e) || hits.Append(e, ecstest.Hit{}) || hits.Remove(e))
		require.Nil(t, hits.Slice(e))
		require.Equal(t, []*ecstest.Health{nil}, health.GetList(nil, []ecs.Entity{e}))
		require.Equal(t, []*ecstest.Health{nil}, health.MutList(nil, []ecs.Entity{e}))
		require.Equal(t, 1, health.CopyList([]ecstest.Health{{}}, []ecs.Entity{e}))
		require.Zero(t, stun.EnableList([]ecs.Entity{e})+stun.DisableList([]ecs.Entity{e}))
	}
	require.Zero(t, stun.EnableQuery(q)+stun.DisableQuery(q))
	seen := 0
	for rows := range q.Rows() {
		require.False(t, health.In(rows) || stun.In(rows) || hits.In(rows))
		require.Nil(t, health.Slice(rows))
		require.Nil(t, health.ReadOnly(rows))
		require.False(t, health.Changed(rows, 0))
		seen += rows.Len()
	}
	require.Equal(t, 1, seen)
}

// TestBehaviour26Types: the 1,025th type is refused with the limit's name, and so is
// every type that a Go pointer hides in. The world works on.
func TestBehaviour26Types(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	for _, f := range []func(){
		func() { ecs.Register[*int](w) }, func() { ecs.Register[string](w) }, func() { ecs.Register[[]int](w) },
		func() { ecs.Register[map[int]int](w) }, func() { ecs.Register[chan int](w) },
		func() { ecs.Register[func()](w) },
		func() { ecs.Register[any](w) }, func() { ecs.Register[unsafe.Pointer](w) },
		func() { ecs.RegisterBuffer[error](w) },
		func() { ecs.Register[[3]struct{ A [2]*int }](w) }, func() { ecs.Register[struct{ A struct{ B string } }](w) },
	} {
		text := ecstest.PanicText(f)
		require.Contains(t, text, "ecs: Register")
		require.Contains(t, text, "components must hold no Go pointers")
	}
	ids := 0
	for n := 1; ; n++ {
		if text := ecstest.PanicText(func() {
			ecstest.RegisterType(w, reflect.ArrayOf(n, reflect.TypeFor[uint16]()))
		}); text != "" {
			require.Equal(t, fmt.Sprintf("ecs: Register[[%d]uint16]: %s", n, ecstest.TooManyTypes), text)
			break
		}
		ids++
	}
	require.Equal(t, ecs.MaxTypes-5, ids, "four are built in, and Position")
	require.PanicsWithError(t, "ecs: RegisterBuffer[Hit]: "+ecstest.TooManyTypes,
		func() { ecs.RegisterBuffer[ecstest.Hit](w) })
	require.Equal(t, position, ecs.Register[ecstest.Position](w), "those that are known are found")
	position.Set(ecs.NewArchetype(w, position).Create(), ecstest.Position{X: 1, Y: 2})
}
