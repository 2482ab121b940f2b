package world_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestHasherModel: a Hasher returns what Hash does, however often it is asked, after changes of all
// kinds, shrinking, and the end of all entities.
func TestHasherModel(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 13))
		w := ecstest.NewWorld(t)
		x := ecstest.RegisterKinds(w)
		often, seldom := ecs.NewHasher(w), ecs.NewHasher(w)
		check := func(what string) {
			require.Equal(t, w.Hash(), often.Sum(), "seed %d: %s", seed, what)
			if rng.IntN(4) == 0 {
				require.Equal(t, w.Hash(), seldom.Sum(), "seed %d: %s", seed, what)
			}
		}
		check("nothing")
		for range 30 {
			for range rng.IntN(6) {
				x.Step(t, rng)
			}
			check("steps")
			s := w.Snapshot() // from now on writes take other paths
			x.Step(t, rng)
			check("a step after a snapshot")
			s.Close()
		}
		w.Shrink(0)
		check("shrink")
		all := ecs.NewQueryOfAll(w)
		w.DestroyQuery(all)
		check("the end of all")
	}
}

// TestHasherOfManyRows: blocks of several chunks, and chunks of several blocks; and Restore.
func TestHasherOfManyRows(t *testing.T) {
	const n = 30_000
	for _, growth := range []ecs.Option{ecs.ChunkGrowth(alloc.Fixed(1)), ecs.ChunkGrowth(alloc.Fixed(64))} {
		w := ecstest.NewWorld(t, growth)
		position := ecs.Register[ecstest.Position](w)
		stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
		tag := ecs.Register[ecstest.Tag](w)
		batch, err := ecs.NewArchetype(w, position, stun).CreateN(n)
		require.NoError(t, err)
		ids := batch.Entities(nil)
		h := ecs.NewHasher(w)
		rng := rand.New(rand.NewPCG(1, 2))
		tagged, untagged := ecs.NewQuery(w, ecs.With(tag)), ecs.NewQuery(w, ecs.With(position), ecs.Without(tag))
		put, drop := ecs.NewChange(w, ecs.Add(tag)), ecs.NewChange(w, ecs.Remove(tag))
		steps := []func(){
			func() { position.Set(ids[rng.IntN(len(ids))], ecstest.Position{X: rng.Float64()}) },
			func() { stun.Disable(ids[rng.IntN(len(ids))]) },
			func() {
				k := len(ids) - rng.IntN(len(ids)/2)
				w.DestroyList(ids[k:])
				ids = ids[:k]
			},
			func() {
				i := rng.IntN(len(ids))
				w.Destroy(ids[i])
				ids[i] = ids[len(ids)-1]
				ids = ids[:len(ids)-1]
			},
			func() {
				more, err := ecs.NewArchetype(w, position, stun).CreateN(1 + rng.IntN(9000))
				require.NoError(t, err)
				ids = more.Entities(ids)
			},
			func() { _, err := put.ApplyQuery(untagged); require.NoError(t, err) },
			func() { _, err := drop.ApplyQuery(tagged); require.NoError(t, err) },
			func() { w.SwapComponents(ids[0], ids[rng.IntN(len(ids))]) },
		}
		for range 60 {
			s, then := w.Snapshot(), slices.Clone(ids)
			for range 1 + rng.IntN(3) {
				steps[rng.IntN(len(steps))]()
				if rng.IntN(2) == 0 {
					require.Equal(t, w.Hash(), h.Sum())
				}
			}
			if rng.IntN(3) == 0 {
				require.NoError(t, w.Restore(s))
				ids = then
			}
			s.Close()
			require.Equal(t, w.Hash(), h.Sum())
		}
	}
}

// TestHasherFollowsDeltas: a replica's Hasher after each delta.
func TestHasherFollowsDeltas(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	w := ecstest.NewWorld(t)
	x := ecstest.RegisterKinds(w)
	for range 30 {
		x.Step(t, rng)
	}
	older := w.Snapshot()
	replica, err := ecstest.Fork(w)
	require.NoError(t, err)
	defer func() { require.NoError(t, replica.Close()) }()
	here, there := ecs.NewHasher(w), ecs.NewHasher(replica)
	require.Equal(t, here.Sum(), there.Sum())
	for range 20 {
		for range rng.IntN(5) {
			x.Step(t, rng)
		}
		newer := w.Snapshot()
		d, err := ecs.Diff(older, newer)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, ecs.EncodeDelta(&b, d))
		require.NoError(t, replica.ApplyDelta(&b))
		require.Equal(t, here.Sum(), there.Sum())
		same, err := here.Compare(there.AppendSums(nil))
		require.NoError(t, err)
		require.Nil(t, same)
		older.Close()
		older = newer
	}
}

// typeOf returns the type of a world's components of a Go type.
func typeOf[T any](w *ecs.World) ecs.Type {
	for _, c := range w.Components() {
		if c.Go == reflect.TypeFor[T]() {
			return c.Type
		}
	}
	return nil
}

// TestHasherCompares: two worlds whose rows are cut into chunks differently find what differs.
func TestHasherCompares(t *testing.T) {
	type side struct {
		w        *ecs.World
		h        *ecs.Hasher
		a        *ecs.Archetype
		position ecs.Component[ecstest.Position]
		health   ecs.Component[ecstest.Health]
		burning  ecs.Sparse[ecstest.Burning]
		ids      []ecs.Entity
	}
	build := func(options ...ecs.Option) (s side) {
		s.w = ecstest.NewWorld(t, options...)
		s.position, s.health = ecs.Register[ecstest.Position](s.w), ecs.Register[ecstest.Health](s.w)
		s.burning = ecs.RegisterSparse[ecstest.Burning](s.w)
		s.a = ecs.NewArchetype(s.w, s.position, s.health)
		batch, err := s.a.CreateN(20_000)
		require.NoError(t, err)
		s.ids, s.h = batch.Entities(nil), ecs.NewHasher(s.w)
		return s
	}
	x, y := build(ecs.ChunkGrowth(alloc.Fixed(1))), build()
	find := func() *ecs.HashDifference {
		equal := x.h.Sum() == y.h.Sum()
		d, err := x.h.Compare(y.h.AppendSums(nil))
		require.NoError(t, err)
		require.Equal(t, equal, d == nil)
		other, err := y.h.Compare(x.h.AppendSums(nil))
		require.NoError(t, err)
		require.Equal(t, equal, other == nil)
		if d != nil {
			require.Equal(t, d.First, other.First)
			require.Equal(t, d.Rows, other.Rows)
		}
		return d
	}
	require.Nil(t, find())
	x.position.Set(x.ids[9000], ecstest.Position{X: 1})
	require.Equal(t,
		&ecs.HashDifference{Archetype: x.a, Type: typeOf[ecstest.Position](x.w), First: 8192, Rows: 4096}, find())
	y.position.Set(y.ids[9000], ecstest.Position{X: 1})
	require.Nil(t, find())
	y.health.Set(y.ids[19_999], ecstest.Health{HP: 1})
	require.Equal(t,
		&ecs.HashDifference{Archetype: x.a, Type: typeOf[ecstest.Health](x.w), First: 16384, Rows: 3616}, find())
	x.health.Set(x.ids[19_999], ecstest.Health{HP: 1})
	x.burning.Add(x.ids[3], ecstest.Burning{Heat: 1})
	require.Equal(t, typeOf[ecstest.Burning](x.w), find().Type)
	onlyTheirs, err := y.h.Compare(x.h.AppendSums(nil))
	require.NoError(t, err)
	require.Equal(t, &ecs.HashDifference{Type: typeOf[ecstest.Burning](y.w), Rows: 1}, onlyTheirs)
	y.burning.Add(y.ids[3], ecstest.Burning{Heat: 2})
	require.Equal(t, &ecs.HashDifference{Type: typeOf[ecstest.Burning](x.w), Rows: 1}, find())
	y.burning.Set(y.ids[3], ecstest.Burning{Heat: 1})
	require.Nil(t, find())
	ecs.NewArchetype(y.w, y.position).Create()
	require.Equal(t, &ecs.HashDifference{Rows: 1}, find())
}

// TestHasherRefuses: sums that end early, claim much or are in no order.
func TestHasherRefuses(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, burning := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Burning](w)
	batch, err := ecs.NewArchetype(w, position).CreateN(5000)
	require.NoError(t, err)
	h := ecs.NewHasher(w)
	none := h.AppendSums(nil)
	burning.Add(batch.Entities(nil)[0], ecstest.Burning{Heat: 1}) // a second part: cuts between parts
	h.Sum()
	sums := h.AppendSums(nil)
	for n := range sums {
		_, err := h.Compare(sums[:n])
		require.ErrorIs(t, err, ecs.ErrSums, "%d bytes", n)
	}
	_, err = h.Compare(append(bytes.Clone(sums), sums...))
	require.ErrorIs(t, err, ecs.ErrSums)
	d, err := h.Compare(none)
	require.NoError(t, err)
	require.Equal(t, &ecs.HashDifference{Type: typeOf[ecstest.Burning](w), Rows: 1}, d)
	d, err = h.Compare(make([]byte, 8)) // of an empty world
	require.NoError(t, err)
	require.Equal(t, 5000, d.Rows)
	require.PanicsWithValue(t,
		"ecs: Hasher.Sum: the Hasher is nil or the zero value; Hashers come from NewHasher",
		func() { new(ecs.Hasher).Sum() })
}

// TestHasherNamesOldSlices: debug builds find writes through a slice from before a Sum.
func TestHasherNamesOldSlices(t *testing.T) {
	if !debug.On {
		t.Skip("release builds do not look")
	}
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	e := ecs.NewArchetype(w, position).Create()
	h := ecs.NewHasher(w)
	p := position.Mut(e)
	h.Sum()
	p.X = 3
	require.PanicsWithValue(t, "ecs: Hasher.Sum: Position of rows 0 to 0 of [Position] was written "+
		"through a slice or pointer from before the last Sum", func() { h.Sum() })
}

// BenchmarkHasher: a million rows of 40 bytes of which no place is written, 10,000 side by side, or
// every hundredth, before each Sum; and Hash beside them.
func BenchmarkHasher(b *testing.B) {
	w, places := millionWorld(b)
	var ids []ecs.Entity
	for rows := range ecs.NewQuery(w, ecs.With(places)).Rows() {
		ids = append(ids, rows.Entities()...)
	}
	h := ecs.NewHasher(w)
	h.Sum()
	for _, c := range []struct {
		name    string
		n, step int
	}{{"none", 0, 1}, {"1% in one piece", 10_000, 1}, {"1% at random", 10_000, 100}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for i := range c.n {
					places.Mut(ids[500_000*(2-min(c.step, 2))+i*c.step]).X++
				}
				b.StartTimer()
				h.Sum()
			}
		})
	}
	require.Equal(b, w.Hash(), h.Sum())
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			w.Hash()
		}
	})
}
