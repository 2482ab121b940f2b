package edit_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBehaviour08Clear: after Clear every entity is dead, and indices are given again
// from the lowest on with new versions, in every world alike. Peers disagree: hecs
// repeats the very ids. Ids that are reserved stay so.
func TestBehaviour08Clear(t *testing.T) {
	run := func(growth alloc.Growth) (ids []ecs.Entity, w *ecs.World) {
		x := ecstest.NewFullTwin(t, growth)
		w = x.World
		full := x.Sets[len(x.Sets)-1]
		old := x.Fill(t, 9000) // more than a block
		for i := 10; i < 9000; i += 7 {
			w.Destroy(old[i])
		}
		x.Fill(t, 20) // the word at hand is partly used
		reserved := ecstest.Reserve(t, w, 40)
		ecstest.CreateReserved(t, full, reserved[:20])
		w.SetName(old[0], "name")
		versions := map[int]uint32{}
		for _, e := range append(old, x.Queries[0].Entities(nil)...) {
			versions[e.Index()] = max(versions[e.Index()], e.Version())
		}
		all := x.Queries[0].Entities(nil)
		w.Clear()
		require.NoError(t, w.Verify())
		s := w.Stats()
		require.Equal(t, []int{0, 0, 0, 20}, []int{s.Alive, s.Buffers, s.Chunks, s.Reserved})
		require.Equal(t, s.Created, s.Destroyed)
		for _, e := range all {
			require.False(t, w.Alive(e))
		}
		_, ok := w.Named("name")
		require.False(t, ok)
		for _, q := range x.Queries {
			require.Zero(t, q.Count())
		}
		b, err := full.CreateN(9500)
		require.NoError(t, err)
		ids = b.Entities(nil)
		for i := range ids {
			index := i + 1
			require.Equal(t, index, ids[i].Index(), "from the lowest on")
			want := uint32(1)
			if v, ok := versions[index]; ok {
				want = v + 2
			}
			require.Equal(t, want, ids[i].Version(), "index %d", index)
		}
		ecstest.CreateReserved(t, full, reserved[20:])
		require.Equal(t, 9520, x.Queries[0].Count())
		require.NoError(t, w.Verify())
		return ids, w
	}
	for _, growth := range ecstest.ChunkSizes {
		one, w := run(growth)
		two, v := run(growth)
		for i := range one {
			require.Equal(t, one[i].String(), two[i].String())
		}
		require.Equal(t, w.Hash(), v.Hash())
	}
}

// TestBehaviour09VersionsSurvive: a handle from before Clear is dead for good, though
// its index is reserved or created again.
func TestBehaviour09VersionsSurvive(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	ids := ecstest.Reserve(t, w, 1)
	ecstest.CreateReserved(t, a, ids)
	own, lent := a.Create(), ids[0]
	seen := map[ecs.Entity]bool{own: true, lent: true}
	for range 5 {
		w.Clear()
		again := ecstest.Reserve(t, w, 1)[0]
		for ; again.Index() != lent.Index(); again = ecstest.Reserve(t, w, 1)[0] {
			w.Unreserve([]ecs.Entity{again})
		}
		ecstest.RequireDead(t, w, again)
		ecstest.CreateReserved(t, a, []ecs.Entity{again})
		e := a.Create()
		require.Equal(t, own.Index(), e.Index())
		for old := range seen {
			ecstest.RequireDead(t, w, old)
		}
		require.False(t, seen[again] || seen[e])
		seen[again], seen[e] = true, true
		require.True(t, w.Alive(again) && w.Alive(e))
	}
}

// TestClearTakesAll: entities that queries do not show go too; types, archetypes,
// queries, changes and look-ups stay and work on; batches and buffers are void.
func TestClearTakesAll(t *testing.T) {
	x := ecstest.NewFullTwin(t, ecstest.ChunkSizes[1])
	w := x.World
	prefab, off := ecs.Register[ecs.Prefab](w), ecs.Register[ecs.DisabledEntity](w)
	hidden := []ecs.Entity{ecs.NewArchetype(w, prefab).Create(), ecs.NewArchetype(w, off, x.Hits).Create()}
	x.Hits.Append(hidden[1], make([]ecstest.Hit, 100)...)
	ids := x.Fill(t, 2000)
	add := ecs.NewChange(w, ecs.Add(ecs.Register[extraData](w)))
	b, err := add.ApplyQuery(x.Queries[0])
	require.NoError(t, err)
	view, _ := x.Hits.Get(ids[0])
	require.NotNil(t, x.Position.Get(ids[0]))
	archetypes := w.Stats().Archetypes
	w.Clear()
	require.False(t, w.Alive(hidden[0]) || w.Alive(hidden[1]))
	require.Nil(t, x.Position.Get(ids[0]))
	require.Panics(t, func() { b.Entities(nil) })
	require.Panics(t, func() { view.Len() })
	require.Equal(t, archetypes, w.Stats().Archetypes)
	require.Zero(t, w.Stats().Buffers)
	ids = x.Fill(t, 300)
	require.Len(t, ids, 300)
	b, err = add.ApplyQuery(x.Queries[0])
	require.NoError(t, err)
	require.Equal(t, 300, b.Len())
	require.Equal(t, float64(ids[7].Index()), x.Position.Get(ids[7]).X)
	require.NoError(t, w.Verify())
}

// TestClearOfNothing: a world without entities is not changed.
func TestClearOfNothing(t *testing.T) {
	w := ecstest.NewWorld(t)
	w.Clear()
	require.Zero(t, w.Stats().Destroyed)
	b, err := ecs.NewArchetype(w).CreateN(3)
	require.NoError(t, err)
	w.DestroyQuery(ecs.NewQuery(w))
	stats := w.Stats()
	w.Clear()
	w.Clear()
	require.Equal(t, stats, w.Stats())
	require.Equal(t, 3, b.Len())
	require.Equal(t, "1v3", ecs.NewArchetype(w).Create().String())
}
