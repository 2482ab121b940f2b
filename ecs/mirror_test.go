package ecs_test

import (
	"encoding/binary"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// TestMirrorFollowsRelabelling keeps the list of entities that a query gives up to
// date through Ordered, by chunk position, while chunks change hands before one that
// is part full.
func TestMirrorFollowsRelabelling(t *testing.T) {
	w := newWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, tag := ecs.Register[Position](w), ecs.Register[Tag](w)
	plain, tagged := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, tag)
	per := plain.Plan().Rows
	_, err := plain.CreateN(5)
	require.NoError(t, err)
	_, err = tagged.CreateN(per)
	require.NoError(t, err)
	all := ecs.NewQuery(w, ecs.Read(position), ecs.Absent(tag))
	news := ecs.NewQuery(w, ecs.Read(position), ecs.Absent(tag), ecs.Ordered())
	mirror := all.Entities(nil)
	for range news.Rows() {
		require.True(t, plain.Has(position))
	}
	_, err = ecs.NewChange(w, ecs.Remove(tag)).ApplyQuery(ecs.NewQuery(w, ecs.With(tag)))
	require.NoError(t, err)
	now := all.Entities(nil)
	mirror = append(mirror, make([]ecs.Entity, len(now)-len(mirror))...)
	for rows := range news.Rows() {
		copy(mirror[rows.Chunk()*per:], rows.Entities())
	}
	require.Equal(t, now, mirror)
	require.False(t, plain.Has(tag))
}

// TestPlaceholderIsNobody makes an entity with the placeholder's bit through the bytes
// of a buffer, and one by Placeholder: no call takes them for the entity whose index they have, and
// all but Alive say what they are.
func TestPlaceholderIsNobody(t *testing.T) {
	w := newWorld(t)
	position, words := ecs.Register[Position](w), ecs.RegisterBuffer[uint64](w)
	e := ecs.NewArchetype(w, position, words).Create()
	b, err := e.MarshalBinary()
	require.NoError(t, err)
	words.Append(e, binary.LittleEndian.Uint64(b)|1<<31)
	d, _ := words.Mut(e)
	p := ecs.Reinterpret[ecs.Entity](d).Slice()[0]
	made := door.Placeholder(e.Index(), e.Version())
	number, buffer := door.Number(made)
	require.Equal(t, []any{e.Index(), e.Version(), true, false}, []any{number, buffer, made.IsPlaceholder(), e.IsPlaceholder()})
	for _, p := range []ecs.Entity{p, made} {
		require.False(t, w.Alive(p))
		require.False(t, w.Owns(p))
		for _, f := range []func(){
			func() { position.Remove(p) }, func() { position.Get(p) }, func() { w.DestroyList([]ecs.Entity{p}) },
			func() { w.Destroy(p) }, func() { position.Add(p, Position{}) }, func() { w.Instantiate(p) },
		} {
			require.Panics(t, f)
		}
	}
	require.PanicsWithValue(t, "ecs: World.Destroy: placeholder 1: a placeholder names an entity in its command buffer only, until that is played",
		func() { w.Destroy(made) })
	require.Panics(t, func() { door.Placeholder(-1, 0) })
	require.Panics(t, func() { door.Placeholder(world.MaxPlaceholders, 0) })
	require.True(t, position.Has(e))
	require.NoError(t, w.Verify())
}

// TestZeroHandlesHaveNames calls what is nil or zero.
func TestZeroHandlesHaveNames(t *testing.T) {
	w := newWorld(t)
	position := ecs.Register[Position](w)
	var q ecs.Query
	nobody := ": the query is nil or the zero value; queries come from NewQuery"
	for text, f := range map[string]func(){
		"ecs: Query.Rows" + nobody: func() {
			for range q.Rows() {
				t.Error("rows of nothing")
			}
		},
		"ecs: Query.Count" + nobody:      func() { q.Count() },
		"ecs: Query.Close" + nobody:      func() { q.Close() },
		"ecs: Query.SetSince" + nobody:   func() { q.SetSince(1) },
		"ecs: door.PinSince" + nobody:    func() { door.PinSince(&q, 1) },
		"ecs: door.Looks" + nobody:       func() { door.Looks(&q) },
		"ecs: Component.Values" + nobody: func() { position.Values(nil, nil) },
		"ecs: World.Close: the world is nil or the zero value; worlds come from NewWorld":  func() { _ = (*ecs.World)(nil).Close() },
		"ecs: World.Stats: the world is nil or the zero value; worlds come from NewWorld":  func() { new(ecs.World).Stats() },
		"ecs: NewQuery: the world is nil or the zero value; worlds come from NewWorld":     func() { ecs.NewQuery(nil) },
		"ecs: NewChange: the world is nil or the zero value; worlds come from NewWorld":    func() { ecs.NewChange(nil) },
		"ecs: NewArchetype: the world is nil or the zero value; worlds come from NewWorld": func() { ecs.NewArchetype(nil) },
	} {
		require.PanicsWithValue(t, text, f)
	}
	require.Equal(t, "change of no world", new(ecs.Change).String())
}
