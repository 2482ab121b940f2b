package world_test

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestWalkShowsWhatHandlesShow: a walk that knows no type sees each row once and each value as the
// handle gives it.
func TestWalkShowsWhatHandlesShow(t *testing.T) {
	type long struct{ A [9]uint32 }
	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
	big, tag := ecs.Register[long](w), ecs.Register[ecstest.Tag](w)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	team := ecs.RegisterShared[string](w)
	log := ecs.RegisterManaged[[]string](w)
	disabled := ecs.Register[ecs.DisabledEntity](w)
	var list []ecs.Entity
	for i, a := range []*ecs.Archetype{
		ecs.NewArchetype(w, position, stun, hits, team.Of("red"), log),
		ecs.NewArchetype(w, big, tag, disabled), ecs.NewArchetype(w, hits, position, team.Of("blue")),
		ecs.NewArchetype(w),
	} {
		batch, err := a.CreateN(900 + i)
		require.NoError(t, err)
		list = batch.Entities(list)
	}
	for i, e := range list {
		position.Set(e, ecstest.Position{X: float64(i)})
		big.Set(e, long{[9]uint32{8: uint32(i)}})
		hits.Append(e, make([]ecstest.Hit, i%40)...)
		if i%3 == 0 && log.Has(e) {
			*log.Mut(e) = []string{e.String()}
		}
		stun.Set(e, ecstest.Stun{Left: float32(i)})
		if i%5 == 0 {
			stun.Disable(e)
		}
	}
	all := ecs.NewQueryOfAll(w)
	defer all.Close()
	seen := map[ecs.Entity]bool{}
	for rows := range all.Rows() {
		types := rows.Archetype().Components()
		for i, e := range rows.Entities() {
			require.False(t, seen[e])
			seen[e] = true
			got := map[string]any{}
			for _, c := range types {
				got[c.Name] = rows.Value(c.Type, i)
				require.Equal(t, got[c.Name], w.Value(e, c.Type))
			}
			want := map[string]any{}
			note := func(name string, has bool, v any) {
				if has {
					want[name] = v
				}
			}
			if p := position.Get(e); p != nil {
				note("Position", true, *p)
				note("Position", true,
					*(*ecstest.Position)(unsafe.Pointer(&rows.Bytes(position)[i*int(unsafe.Sizeof(*p))])))
			}
			if s := stun.Get(e); s != nil {
				note("Stun", true, *s)
			}
			if b := big.Get(e); b != nil {
				note(ecs.InfoOf(big).Name, true, *b)
			}
			note("Tag", tag.Has(e), ecstest.Tag{})
			note("DisabledEntity", disabled.Has(e), ecs.DisabledEntity{})
			note("[]Hit", hits.Has(e), append([]ecstest.Hit{}, hits.Slice(e)...))
			v, ok := team.Get(e)
			note("string", ok, v)
			note("managed []string", log.Has(e), nil)
			if l := log.Get(e); l != nil {
				want["managed []string"] = *l
			}
			require.Equal(t, want, got)
		}
		require.Equal(t, rows.Archetype().Has(big), rows.Bytes(big) != nil)
		require.Nil(t, rows.Bytes(tag))
	}
	require.Len(t, seen, len(list))
	require.NoError(t, w.Verify())
}

// TestWalkOfABorrow: rows of a part, which begin behind the chunk's first, show their own values.
func TestWalkOfABorrow(t *testing.T) {
	w, position, velocity, _ := ecstest.Movers(t, 1000)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	n := 0.0
	for rows := range q.Rows() {
		for i := range position.Slice(rows) {
			position.Slice(rows)[i].X = n
			n++
		}
	}
	b := door.NewBorrow(q, "walk", func(string) {})
	ecstest.Begin(b)
	defer b.End()
	r := ecstest.AccessorOf(b)
	for _, part := range ecstest.Split(b, nil, 64) {
		rows, ok := ecstest.RowsOf(r, part)
		require.True(t, ok)
		for i := range rows.Len() {
			want := position.ReadOnly(rows)[i]
			require.Equal(t, want, rows.Value(position, i))
			require.Equal(t, want.X, *(*float64)(unsafe.Pointer(&rows.Bytes(position)[i*int(unsafe.Sizeof(want))])))
		}
	}
}

// TestComponents: types are reported as they were registered, and the uses of a handle without the
// Go type.
func TestComponents(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	position := ecs.Register[ecstest.Position](w)
	ecs.RegisterBuffer[ecstest.Hit](w, ecs.Cleanup)
	ecs.RegisterShared[string](w)
	ecs.RegisterManaged[map[string]int](w, ecs.Enableable)
	var got []string
	for _, c := range w.Components() {
		got = append(got, fmt.Sprint(c.Name, " ", c.Kind, " ", c.Go, " ", c.Enableable))
		require.Equal(t, c, ecs.InfoOf(c.Type))
	}
	require.Equal(t, []string{
		"DisabledEntity component ecs.DisabledEntity false", "Prefab component ecs.Prefab false",
		"CleanupEntity component ecs.CleanupEntity false", "[]LinkedEntity buffer ecs.LinkedEntity false",
		"Position component ecstest.Position false", "[]Hit buffer ecstest.Hit false",
		"string shared string false", "managed map[string]int managed map[string]int true",
	}, got)
	require.Equal(t, "Kind(9)", ecs.Kind(9).String())
	require.Equal(t, reflect.TypeFor[ecstest.Position](), ecs.InfoOf(position).Go)
	require.Empty(t, w.Archetypes())
	same := ecs.NewArchetype(w, ecs.InfoOf(position).Type)
	require.Same(t, ecs.NewArchetype(w, position), same)
	e := same.Create()
	require.Equal(t, []*ecs.Archetype{same}, w.Archetypes())
	require.Equal(t, []ecs.ComponentInfo{ecs.InfoOf(position)}, same.Components())
	require.Equal(t, 1, ecs.NewQuery(w, ecs.Read(ecs.InfoOf(position).Type)).Count())
	_, err = ecs.NewChange(w, ecs.Remove(ecs.InfoOf(position).Type)).Apply(e)
	require.NoError(t, err)
	require.False(t, position.Has(e))
}

// TestWalkMisuse: wrong rows, types and queries are reported by name.
func TestWalkMisuse(t *testing.T) {
	w, position, velocity, _ := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	other, err := ecs.NewWorld()
	require.NoError(t, err)
	defer other.Close()
	strange := ecs.Register[ecstest.Position](other)
	hits, health := ecs.RegisterBuffer[ecstest.Hit](w), ecs.Register[ecstest.Health](w)
	for want, f := range map[string]func(){
		"ecs: World.Value: a type is nil":                            func() { w.Value(ecs.Null, nil) },
		"ecs: World.Value: Position was registered in another world": func() { w.Value(ecs.Null, strange) },
	} {
		require.PanicsWithValue(t, want, f)
	}
	require.Panics(t, func() { w.Value(ecs.NewArchetype(other, strange).Create(), position) },
		"an entity of another world")
	gone := ecs.NewArchetype(w, position).Create()
	require.Equal(t, ecstest.Position{}, w.Value(gone, position))
	require.Nil(t, w.Value(gone, velocity), "it lacks the type")
	w.Destroy(gone)
	require.Nil(t, w.Value(gone, position))
	require.Nil(t, w.Value(ecs.Null, position))
	var kept ecs.Rows
	for rows := range q.Rows() {
		kept = rows
		for want, f := range map[string]func(){
			"ecs: Rows.Value: row 10 is not in [0, 10)":                                                   func() { rows.Value(position, 10) },
			"ecs: Rows.Value: row -1 is not in [0, 10)":                                                   func() { rows.Value(velocity, -1) },
			"ecs: Rows.Value: a type is nil":                                                              func() { rows.Value(nil, 0) },
			"ecs: Rows.Value: Position and the rows belong to different worlds":                           func() { rows.Value(strange, 0) },
			"ecs: Rows.Bytes: Position and the rows belong to different worlds":                           func() { rows.Bytes(strange) },
			"ecs: Rows.Value: " + q.String() + " does not declare Health: add ecs.Read or ecs.Write":      func() { rows.Value(health, 0) },
			"ecs: Rows.Bytes: " + q.String() + " does not declare Health: add ecs.Read or ecs.Write":      func() { rows.Bytes(health) },
			"ecs: Rows.Bytes: []Hit is a buffer type, whose values are not in the column; use Rows.Value": func() { rows.Bytes(hits) },
		} {
			require.PanicsWithValue(t, want, f)
		}
	}
	require.Panics(t, func() { kept.Value(position, 0) })
	all := ecs.NewQueryOfAll(w)
	late := ecs.Register[ecstest.Stun](w)
	ecs.NewArchetype(w, late).Create()
	for rows := range all.Rows() {
		require.PanicsWithValue(t,
			"ecs: Rows.Value: "+all.String()+
				" does not declare Stun: it was registered after NewQueryOfAll; make the query anew",
			func() { rows.Value(late, 0) })
		break
	}
	require.Panics(t, func() { kept.Bytes(position) })
	require.PanicsWithValue(t,
		"ecs: InfoOf: the handle is the zero value; handles come from Register and RegisterBuffer",
		func() { ecs.InfoOf(ecs.Component[ecstest.Position]{}) })
}
