package edit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// nest is a world with everything that Instantiate has to copy, and with what it has to leave out.
type nest struct {
	w        *ecs.World
	position ecs.Component[ecstest.Position]
	owner    ecs.Component[ecstest.Owner]
	stun     ecs.Component[ecstest.Stun]
	hits     ecs.Buffer[ecstest.Hit]
	team     ecs.Shared[string]
	socket   ecs.Component[ecstest.Socket]
	prefab   ecs.Component[ecs.Prefab]
	linked   ecs.Buffer[ecs.LinkedEntity]
	kinds    []*ecs.Archetype
}

func newNest(t *testing.T, options ...ecs.Option) *nest {
	return nestOf(ecstest.NewWorld(t, options...))
}

// nestOf returns the handles of a world.
func nestOf(w *ecs.World) *nest {
	x := &nest{w: w, position: ecs.Register[ecstest.Position](w), owner: ecs.Register[ecstest.Owner](w),
		stun: ecs.Register[ecstest.Stun](w, ecs.Enableable), hits: ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(3)),
		team: ecs.RegisterShared[string](w), socket: ecs.Register[ecstest.Socket](w, ecs.Cleanup),
		prefab: ecs.Register[ecs.Prefab](w), linked: ecs.RegisterBuffer[ecs.LinkedEntity](w)}
	x.kinds = []*ecs.Archetype{
		ecs.NewArchetype(w, x.position, x.owner, x.stun, x.hits, x.team.Of("red"), x.socket, x.prefab),
		ecs.NewArchetype(w, x.position, x.owner, x.stun, x.hits, x.team.Of("red")),
		ecs.NewArchetype(w, x.hits, x.owner),
		ecs.NewArchetype(w, x.owner, x.socket),
	}
	return x
}

// make makes an entity with so many hits that names others.
func (x *nest) make(kind, hits int, names ...ecs.Entity) ecs.Entity {
	e := x.kinds[kind].Create()
	x.position.Set(e, ecstest.Position{X: float64(e.Index())})
	x.owner.Set(e, ecstest.Owner{Of: names[0]})
	for i := range hits {
		x.hits.Append(e, ecstest.Hit{By: names[i%len(names)], Damage: int32(i)})
	}
	return e
}

// same checks that a copy is as its source, with what is in from named as in to.
func (x *nest) same(t *testing.T, source, copied ecs.Entity, from, to []ecs.Entity) {
	t.Helper()
	named := func(e ecs.Entity) ecs.Entity {
		if i := slices.Index(from, e); i >= 0 {
			return to[i]
		}
		return e
	}
	require.True(t, x.w.Alive(copied))
	require.NotEqual(t, source, copied)
	require.False(t, x.socket.Has(copied))
	require.False(t, x.prefab.Has(copied))
	require.Equal(t, "", x.w.Name(copied))
	require.Equal(t, x.position.Get(source), x.position.Get(copied))
	require.Equal(t, x.stun.Enabled(source), x.stun.Enabled(copied))
	require.Equal(t, named(x.owner.Get(source).Of), x.owner.Get(copied).Of)
	var hits []ecstest.Hit
	for _, h := range x.hits.Slice(source) {
		hits = append(hits, ecstest.Hit{By: named(h.By), Damage: h.Damage})
	}
	require.Equal(t, hits, append([]ecstest.Hit(nil), x.hits.Slice(copied)...))
	v, ok := x.team.Get(source)
	w, ok2 := x.team.Get(copied)
	require.True(t, v == w && ok == ok2)
}

// TestInstantiateOne: a copy has all that its source has, but Prefab and cleanup types; entities
// that name the source name the copy, others stay. Elements are its own.
func TestInstantiateOne(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for _, hits := range []int{0, 1, 3, 4, 100, 5000} {
			for kind := range 4 {
				t.Run(fmt.Sprintf("kind %d, %d hits, chunks grow %v", kind, hits, growth), func(t *testing.T) {
					x := newNest(t, ecs.ChunkGrowth(growth))
					other := x.make(2, 1, ecs.Null)
					e := x.make(kind, hits*min(1, 3-kind), other)
					x.owner.Set(e, ecstest.Owner{Of: e})
					if x.hits.Has(e) && hits > 1 {
						x.hits.Append(e, ecstest.Hit{By: e})
					}
					x.stun.Disable(e)
					x.w.SetName(e, "source")
					copied := x.w.Instantiate(e)
					require.NoError(t, x.w.Verify())
					x.same(t, e, copied, []ecs.Entity{e}, []ecs.Entity{copied})
					x.hits.Append(copied, ecstest.Hit{Damage: -1})
					if s := x.hits.Slice(e); len(s) > 0 {
						require.NotEqual(t, int32(-1), s[len(s)-1].Damage)
					}
					require.True(t, x.w.Destroy(e))
					require.True(t, x.w.Alive(copied))
					require.NoError(t, x.w.Verify())
				})
			}
		}
	}
}

// TestInstantiateN: n copies are as n calls make them, over the borders of chunks.
func TestInstantiateN(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for _, n := range []int{0, 1, 2, 63, 500, 3000} {
			t.Run(fmt.Sprintf("%d, chunks grow %v", n, growth), func(t *testing.T) {
				x := newNest(t, ecs.ChunkGrowth(growth))
				other := x.make(2, 1, ecs.Null)
				e := x.make(1, 5, other)
				x.hits.Append(e, ecstest.Hit{By: e, Damage: 9})
				b, err := x.w.InstantiateN(e, n)
				require.NoError(t, err)
				require.NoError(t, x.w.Verify())
				ids := b.Entities(nil)
				require.Len(t, ids, n)
				for _, c := range ids {
					x.same(t, e, c, []ecs.Entity{e}, []ecs.Entity{c})
				}
				require.Equal(t, n+2, x.w.Stats().Alive)
			})
		}
	}
}

// TestInstantiateGroup: entities that name members of the group name their copies of the same
// number, in components and buffers; others stay.
func TestInstantiateGroup(t *testing.T) {
	x := newNest(t)
	outside := x.make(2, 0, ecs.Null)
	var group []ecs.Entity
	for i := range 40 {
		names := append([]ecs.Entity{outside}, group...)
		group = append(group, x.make(i%3, i%7, names[i/2:]...))
	}
	x.owner.Set(group[0], ecstest.Owner{Of: group[39]})
	for _, n := range []int{0, 1, 2, 130} {
		b, err := x.w.InstantiateGroup(group, n)
		require.NoError(t, err)
		require.NoError(t, x.w.Verify())
		ids := b.Entities(nil)
		require.Len(t, ids, n*len(group))
		for i := range n {
			var copies []ecs.Entity
			for m := range group {
				copies = append(copies, ids[m*n+i])
			}
			for m, e := range group {
				x.same(t, e, copies[m], group, copies)
			}
		}
	}
	require.PanicsWithValue(t, fmt.Sprintf("ecs: World.InstantiateGroup: entity 2 of the group, %v, is in it twice",
		group[0]),
		func() { _, _ = x.w.InstantiateGroup([]ecs.Entity{group[0], group[1], group[0]}, 1) })
}

// TestInstantiateLinked: an entity with a group is copied with it, and the copy's group is that of
// the copies; what is dead or dying is not copied.
func TestInstantiateLinked(t *testing.T) {
	x := newNest(t)
	root := ecs.NewArchetype(x.w, x.linked, x.owner, x.prefab).Create()
	part, dead, dying := x.make(1, 4, root), x.make(1, 0, root), x.make(3, 0, root)
	for _, e := range []ecs.Entity{root, part, dead, dying, part} {
		x.linked.Append(root, ecs.LinkedEntity{Entity: e})
	}
	x.owner.Set(root, ecstest.Owner{Of: part})
	x.w.Destroy(dead)
	x.w.Destroy(dying)
	b, err := x.w.InstantiateN(root, 3)
	require.NoError(t, err)
	require.NoError(t, x.w.Verify())
	ids := b.Entities(nil)
	require.Len(t, ids, 6)
	for i := range 3 {
		require.Equal(t, []ecs.LinkedEntity{{Entity: ids[i]}, {Entity: ids[3+i]}, {Entity: dead}, {Entity: dying},
			{Entity: ids[3+i]}}, x.linked.Slice(ids[i]))
		require.Equal(t, ecstest.Owner{Of: ids[3+i]}, *x.owner.Get(ids[i]))
		require.Equal(t, ecstest.Owner{Of: ids[i]}, *x.owner.Get(ids[3+i]))
		for _, h := range x.hits.Slice(ids[3+i]) {
			require.Equal(t, ids[i], h.By)
		}
	}
	require.True(t, x.w.Destroy(ids[1]))
	require.False(t, x.w.Alive(ids[4]), "the copy's group goes with it")
	require.True(t, x.w.Alive(part))
	require.NoError(t, x.w.Verify())
}

// TestInstantiateMisuse: what cannot be copied is refused.
func TestInstantiateMisuse(t *testing.T) {
	x := newNest(t)
	dead, dying := x.make(1, 0, ecs.Null), x.make(3, 0, ecs.Null)
	x.w.Destroy(dead)
	x.w.Destroy(dying)
	stranger := newNest(t).make(1, 0, ecs.Null)
	require.PanicsWithValue(t, fmt.Sprintf("ecs: World.Instantiate: %v is not alive, there is nothing to copy", dead),
		func() { x.w.Instantiate(dead) })
	require.PanicsWithValue(t, "ecs: World.Instantiate: null is not alive, there is nothing to copy",
		func() { x.w.Instantiate(ecs.Null) })
	require.PanicsWithValue(t,
		fmt.Sprintf("ecs: World.Instantiate: %v was destroyed, only its Cleanup types are left; those are not copied",
			dying), func() { x.w.Instantiate(dying) })
	require.PanicsWithValue(t, "ecs: World.InstantiateN: n=-1 is negative",
		func() { _, _ = x.w.InstantiateN(dying, -1) })
	require.PanicsWithValue(t, fmt.Sprintf("ecs: World.Instantiate: entity %v belongs to another world", stranger),
		func() { x.w.Instantiate(stranger) })
	e := x.make(1, 0, ecs.Null)
	q := ecs.NewQuery(x.w, ecs.Read(x.owner))
	require.Panics(t, func() {
		for range q.Rows() {
			x.w.Instantiate(e)
		}
	})
	group := []ecs.Entity{e, x.make(1, 0, ecs.Null)}
	for text, one := range map[string]ecs.Entity{
		"%v is not alive, there is nothing to copy":                               dead,
		"%v was destroyed, only its Cleanup types are left; those are not copied": dying,
		"entity 2 of the group, %v, is in it twice":                               e,
	} {
		require.PanicsWithValue(t, fmt.Sprintf("ecs: World.InstantiateGroup: "+text, one),
			func() { _, _ = x.w.InstantiateGroup(append(group[:2:2], one), 1) })
	}
	for _, n := range []int{1 << 40, math.MaxInt/2 + 1, math.MaxInt} { // two times the second is less than 0
		b, err := x.w.InstantiateGroup(group, n)
		require.EqualError(t, err, "ecs: World.InstantiateGroup: the limit is 134217726 entities a world")
		require.Zero(t, b.Len())
	}
	require.Equal(t, 3, x.w.Stats().Alive)
	require.NoError(t, x.w.Verify())
}

// TestInstantiateWithoutMemory: all copies are made or none, whatever is refused.
func TestInstantiateWithoutMemory(t *testing.T) {
	failed := 0
	for n := 1; n < 60_000; n = n*3/2 + 1 {
		u := ecstest.NewUniverse(t, 4<<20)
		x := newNest(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Doubling()))
		e := x.make(0, 40, ecs.Null)
		part := x.make(2, 20, e)
		hash, stats := x.w.Hash(), x.w.Stats()
		b, err := x.w.InstantiateGroup([]ecs.Entity{e, part}, n)
		require.NoError(t, x.w.Verify())
		if err == nil {
			require.Equal(t, 2*n, b.Len())
			continue
		}
		failed++
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.Equal(t, hash, x.w.Hash())
		require.Equal(t, stats, x.w.Stats())
		require.Equal(t, ecs.Entity.Index(part)+1, x.w.Instantiate(part).Index(), "the same ids are next")
	}
	require.Positive(t, failed)
}

// TestInstantiateAgainstModel copies groups of copies at random.
func TestInstantiateAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	x := newNest(t)
	ids := []ecs.Entity{x.make(1, 2, ecs.Null)}
	for range ecstest.StepsOf(600) {
		if len(ids) < 5 || rng.IntN(3) == 0 {
			ids = append(ids, x.make(rng.IntN(3), rng.IntN(9), append(ecstest.SomeOf(rng, ids, 4), ecs.Null)...))
			continue
		}
		rng.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		group, n := ids[:1+rng.IntN(5)], rng.IntN(4)
		b, err := x.w.InstantiateGroup(group, n)
		require.NoError(t, err)
		require.NoError(t, x.w.Verify())
		made := b.Entities(nil)
		for i := range n {
			var copies []ecs.Entity
			for m := range group {
				copies = append(copies, made[m*n+i])
			}
			for m := range group {
				x.same(t, group[m], copies[m], group, copies)
			}
		}
		ids = append(slices.Clone(ids), made...)
		for len(ids) > 60 {
			x.w.Destroy(ids[0])
			ids = ids[1:]
		}
	}
}

// alike is same for an entity without owner and hits.
func (x *nest) alike(t *testing.T, source, copied ecs.Entity) {
	t.Helper()
	require.True(t, x.w.Alive(copied))
	require.NotEqual(t, source, copied)
	require.False(t, x.socket.Has(copied) || x.prefab.Has(copied))
	require.Equal(t, x.position.Get(source), x.position.Get(copied))
	require.Equal(t, x.stun.Enabled(source), x.stun.Enabled(copied))
	v, ok := x.team.Get(source)
	w, ok2 := x.team.Get(copied)
	require.True(t, v == w && ok == ok2)
}

// TestInstantiateAgain: the second copy of an entity that is nothing but its row takes a short way
// of its own. It is as the copies that InstantiateN makes beside it: values, enable bits, types,
// versions and places, over the borders of chunks.
func TestInstantiateAgain(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for _, kind := range []struct {
			name  string
			types func(x *nest) []ecs.Type
		}{
			{"plain", func(x *nest) []ecs.Type { return []ecs.Type{x.position} }},
			{"prefab", func(x *nest) []ecs.Type { return []ecs.Type{x.position, x.prefab} }},
			{"bits", func(x *nest) []ecs.Type { return []ecs.Type{x.position, x.stun, x.prefab} }},
			{"value", func(x *nest) []ecs.Type { return []ecs.Type{x.position, x.team.Of("red"), x.prefab} }},
			{"cleanup", func(x *nest) []ecs.Type { return []ecs.Type{x.position, x.stun, x.socket} }},
			{"only hidden", func(x *nest) []ecs.Type { return []ecs.Type{x.socket, x.prefab} }},
		} {
			t.Run(fmt.Sprintf("%s, chunks grow %v", kind.name, growth), func(t *testing.T) {
				const n = 700
				fast, slow := newNest(t, ecs.ChunkGrowth(growth)), newNest(t, ecs.ChunkGrowth(growth))
				var copied [2][]ecs.Location
				for i, x := range []*nest{fast, slow} {
					e := ecs.NewArchetype(x.w, kind.types(x)...).Create()
					x.position.Set(e, ecstest.Position{X: 1, Y: 2})
					x.socket.Set(e, ecstest.Socket{FD: 3})
					q := ecs.NewQuery(x.w, ecs.Read(x.position), ecs.Changed(x.position))
					for k := range n {
						if k == n/2 {
							x.stun.Disable(e)
						}
						q.SetSince(x.w.Version())
						x.w.Advance()
						var c ecs.Entity
						if i == 0 {
							c = x.w.Instantiate(e)
						} else {
							b, err := x.w.InstantiateN(e, 1)
							require.NoError(t, err)
							c = b.Entities(nil)[0]
						}
						require.Equal(t, x.position.Has(e), slices.Contains(q.Entities(nil), c), "the copy is new")
						x.alike(t, e, c)
						at, ok := x.w.Locate(c)
						require.True(t, ok)
						copied[i] = append(copied[i], at)
					}
					require.NoError(t, x.w.Verify())
					require.Equal(t, n+1, x.w.Stats().Alive)
				}
				for k := range n {
					require.Equal(t, copied[1][k].String(), copied[0][k].String())
				}
				require.Equal(t, fast.w.Hash(), slow.w.Hash())
			})
		}
	}
}

// TestInstantiateAgainGivenUp: the short way ends with the archetype of the copies, and begins
// again with the next.
func TestInstantiateAgainGivenUp(t *testing.T) {
	x := newNest(t)
	e := ecs.NewArchetype(x.w, x.position, x.prefab).Create()
	x.position.Set(e, ecstest.Position{X: 7})
	for range 3 {
		first, second := x.w.Instantiate(e), x.w.Instantiate(e)
		for _, c := range []ecs.Entity{first, second} {
			x.alike(t, e, c)
			require.True(t, x.w.Destroy(c))
		}
		for i := range 200 { // values without rows, so that many archetypes are given up
			v := ecs.NewArchetype(x.w, x.position, x.team.Of(fmt.Sprint(i)), x.prefab).Create()
			for range 2 {
				require.True(t, x.w.Destroy(x.w.Instantiate(v)))
			}
			require.True(t, x.w.Destroy(v))
		}
		require.NoError(t, x.w.Verify())
	}
}

// TestInstantiateAgainVoidsBatches: a copy by the short way is a structural change like any other.
func TestInstantiateAgainVoidsBatches(t *testing.T) {
	x := newNest(t)
	a := ecs.NewArchetype(x.w, x.position)
	e := a.Create()
	x.w.Instantiate(e)
	b, err := a.CreateN(3)
	require.NoError(t, err)
	x.w.Instantiate(e)
	require.PanicsWithValue(t,
		"ecs: Batch.Entities: the batch of 3 rows is no longer current: the world has changed since it was made",
		func() { b.Entities(nil) })
	q := ecs.NewQuery(x.w, ecs.Read(x.position))
	for range q.Rows() {
		require.Panics(t, func() { x.w.Instantiate(e) })
	}
	x.w.Destroy(e)
	require.PanicsWithValue(t, fmt.Sprintf("ecs: World.Instantiate: %v is not alive, there is nothing to copy", e),
		func() { x.w.Instantiate(e) })
}
