package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// clone clones x's world for the time of the test.
func (x *nest) clone(t *testing.T, options ...ecs.Option) *nest {
	w, err := x.w.Clone(options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return nestOf(w)
}

// step does something at random; the same to worlds that are alike.
func (x *nest) step(rng *rand.Rand, ids []ecs.Entity) []ecs.Entity {
	e := ecs.Null
	if len(ids) > 0 {
		e = ids[rng.IntN(len(ids))]
	}
	switch rng.IntN(9) {
	case 0, 1:
		n := rng.IntN(200)
		for range n {
			ids = append(ids, x.make(rng.IntN(3), rng.IntN(6), append(ecstest.SomeOf(rng, ids, 3), ecs.Null)...))
		}
	case 2:
		list := ecstest.SomeOf(rng, ids, 60)
		x.w.DestroyList(list)
	case 3:
		x.w.Destroy(e)
	case 4:
		x.team.Set(e, fmt.Sprint("team ", rng.IntN(4)))
	case 5:
		x.w.SetName(e, fmt.Sprint("name ", rng.IntN(3)))
		x.stun.Disable(e)
	case 6:
		x.socket.Remove(e)
		if x.w.Alive(e) {
			x.stun.Add(e, ecstest.Stun{})
		}
	case 7:
		if x.w.Alive(e) && x.position.Has(e) {
			ids = append(ids, x.w.Instantiate(e))
		}
	case 8:
		if rng.IntN(10) == 0 {
			x.w.Clear()
			x.w.Shrink(0)
		}
	}
	return slices.DeleteFunc(ids, func(e ecs.Entity) bool { return !x.w.Alive(e) })
}

// TestClone: a clone has all that its world has, and goes on in the same way: the same
// operations give the same ids and the same hash.
func TestClone(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 9))
			x := newNest(t, ecs.ChunkGrowth(ecstest.ChunkSizes[seed%2]))
			var ids []ecs.Entity
			for range ecstest.StepsOf(100) {
				ids = x.step(rng, ids)
			}
			require.NoError(t, x.w.Verify())
			y := x.clone(t)
			require.NoError(t, y.w.Verify())
			require.Equal(t, x.w.Hash(), y.w.Hash())
			require.Equal(t, x.w.Stats().Alive, y.w.Stats().Alive)
			require.Equal(t, x.team.Values(nil), y.team.Values(nil))
			twins := []ecs.Entity{}
			for _, e := range ids {
				twin, ok := y.w.Entity(e.Index(), e.Version())
				require.True(t, ok)
				twins = append(twins, twin)
			}
			for i, e := range ids {
				require.Equal(t, x.show(e, ids), y.show(twins[i], twins))
			}
			for _, name := range []string{"name 0", "name 1", "name 2"} {
				e, _ := x.w.Named(name)
				f, _ := y.w.Named(name)
				require.Equal(t, e.String(), f.String())
			}
			for step := range uint64(ecstest.StepsOf(50)) {
				ids, twins = x.step(rand.New(rand.NewPCG(seed, step)), ids),
					y.step(rand.New(rand.NewPCG(seed, step)), twins)
				require.Equal(t, x.w.Hash(), y.w.Hash())
				require.NoError(t, y.w.Verify())
			}
		})
	}
}

// TestCloneReserved: ids that were reserved, and entities made of them, are so in the clone.
func TestCloneReserved(t *testing.T) {
	x := newNest(t)
	reserved := make([]ecs.Entity, 10_000)
	require.NoError(t, x.w.Reserve(reserved))
	_, err := x.kinds[2].CreateReserved(reserved[:5000])
	require.NoError(t, err)
	x.w.Unreserve(reserved[5000:6000])
	x.w.DestroyList(reserved[:100])
	y := x.clone(t)
	require.NoError(t, y.w.Verify())
	require.Equal(t, x.w.Stats().Reserved, y.w.Stats().Reserved)
	require.Equal(t, x.w.Hash(), y.w.Hash())
	again := make([]ecs.Entity, 3000)
	require.NoError(t, y.w.Reserve(again))
	_, err = y.kinds[2].CreateReserved(again)
	require.NoError(t, err)
	require.NoError(t, y.w.Verify())
	require.NoError(t, x.w.Verify())
}

// TestCloneLinks: entities in shared values name those of the clone too; dead ones stay
// dead, and those of other worlds theirs.
func TestCloneLinks(t *testing.T) {
	x := newNest(t)
	child := ecs.RegisterShared[[2]ecs.Entity](x.w)
	parent, dead, e := x.make(2, 1, ecs.Null), x.make(2, 1, ecs.Null), x.make(2, 3, ecs.Null)
	x.w.Destroy(dead)
	stranger := newNest(t).make(1, 0, ecs.Null)
	child.Add(e, [2]ecs.Entity{parent, ecs.Null})
	x.owner.Set(e, ecstest.Owner{Of: dead})
	x.owner.Set(parent, ecstest.Owner{Of: stranger})
	y := x.clone(t)
	twin, _ := y.w.Entity(e.Index(), e.Version())
	above, _ := y.w.Entity(parent.Index(), parent.Version())
	v, ok := ecs.RegisterShared[[2]ecs.Entity](y.w).Get(twin)
	require.True(t, ok)
	require.Equal(t, [2]ecs.Entity{above, ecs.Null}, v)
	require.Equal(t, dead.String(), y.owner.Get(twin).Of.String())
	require.False(t, y.w.Alive(y.owner.Get(twin).Of))
	require.Equal(t, stranger, y.owner.Get(above).Of)
	require.Equal(t, 2, x.w.DestroyList([]ecs.Entity{e, parent}))
	require.True(t, y.w.Alive(twin))
	require.NoError(t, y.w.Verify())
}

// TestCloneWithoutMemory: a clone is whole, or nothing is left of it.
func TestCloneWithoutMemory(t *testing.T) {
	x := newNest(t)
	last := ecs.Null
	for i := range 3000 {
		last = x.make(i%3, i%9, last)
	}
	hash, failed := x.w.Hash(), 0
	for left := 0; left < 120; left += 2 {
		u := ecstest.NewUniverse(t, 4<<20)
		held := holdBut(u, left)
		w, err := x.w.Clone(ecs.WithUniverse(u))
		for _, c := range held {
			u.Free(c, 1)
		}
		if err != nil {
			failed++
			require.ErrorIs(t, err, ecs.ErrLimit)
			require.Zero(t, u.Stats().LiveChunks)
			continue
		}
		require.Equal(t, hash, w.Hash())
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	}
	require.Positive(t, failed)
	require.Equal(t, hash, x.w.Hash())
	q := ecs.NewQuery(x.w, ecs.Read(x.owner))
	for range q.Rows() {
		require.Panics(t, func() { _, _ = x.w.Clone() })
	}
}

// holdBut takes all chunks of a universe but some.
func holdBut(u *alloc.Universe, left int) (held []alloc.ChunkIndex) {
	for {
		c, err := u.AllocExact(1)
		if err != nil {
			break
		}
		held = append(held, c)
	}
	for range min(left, len(held)) {
		u.Free(held[len(held)-1], 1)
		held = held[:len(held)-1]
	}
	return held
}

// TestClearAndShrink: the world then has nothing, keeps no memory but records, and goes on.
func TestClearAndShrink(t *testing.T) {
	x := newNest(t)
	var ids []ecs.Entity
	for i := range 5000 {
		ids = append(ids, x.make(i%4, 0, ecs.Null))
	}
	x.w.Clear()
	x.w.Shrink(0)
	require.NoError(t, x.w.Verify())
	require.Zero(t, x.w.Stats().Alive)
	require.Zero(t, x.w.Stats().Chunks+x.w.Stats().Reserve)
	require.Empty(t, x.w.Occupancy())
	require.False(t, x.w.Alive(ids[7]))
	require.False(t, slices.Contains(ids, x.make(1, 3, ecs.Null)))
	require.NoError(t, x.w.Close())
	require.PanicsWithValue(t, "ecs: World.Clear: the world is closed", x.w.Clear)
}

// TestClonePins: an archetype of a value that is kept without rows, as NewArchetype returned
// it, is kept in the clone; the others go.
func TestClonePins(t *testing.T) {
	w := ecstest.NewWorld(t)
	team := ecs.RegisterShared[string](w)
	ecs.NewArchetype(w, team.Of("red"))
	e := ecs.NewArchetype(w, team.Of("blue")).With(team.Of("grey")).Create()
	c, err := w.Clone()
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	for _, x := range []*ecs.World{w, c} {
		before := x.Stats().Archetypes
		twin, ok := x.Entity(e.Index(), e.Version())
		require.True(t, ok && x.Destroy(twin))
		ecstest.Sweep(x)
		require.Equal(t, before-1, x.Stats().Archetypes)
		require.NoError(t, x.Verify())
	}
	require.Equal(t, w.Hash(), c.Hash())
}

// TestCloneKeepsStrangers: shared values that name entities of other worlds stay values of
// their own in clones, whatever tags the worlds have: 16 worlds later a tag comes again.
func TestCloneKeepsStrangers(t *testing.T) {
	w := ecstest.NewWorld(t)
	target := ecs.RegisterShared[ecs.Entity](w)
	e := ecs.NewArchetype(w).Create()
	values := []ecs.Entity{ecs.Null, e}
	for range 15 {
		other := ecstest.NewWorld(t)
		values = append(values, ecs.NewArchetype(other).Create())
		require.NoError(t, other.Close())
		for _, v := range values {
			ecs.NewArchetype(w, target).With(target.Of(v)).Create()
		}
		kept := len(target.Values(nil))
		for range 16 {
			c, err := w.Clone()
			require.NoError(t, err)
			require.NoError(t, c.Verify())
			require.Len(t, ecs.RegisterShared[ecs.Entity](c).Values(nil), kept)
			require.Equal(t, w.Hash(), c.Hash())
			require.NoError(t, c.Close())
		}
	}
}

// TestCloneIsMarkedChanged: a clone takes the version of its original, and everything in it is
// marked so: a query that compares with an earlier version passes over nothing.
func TestCloneIsMarkedChanged(t *testing.T) {
	w := ecstest.NewWorld(t)
	types := []ecs.Type{ecs.Register[ecstest.Position](w), ecs.RegisterChunk[ecstest.Velocity](w)}
	e := ecs.NewArchetype(w, types...).Create()
	require.True(t, ecs.RegisterSparse[ecstest.Stun](w).Add(e, ecstest.Stun{}))
	for range 9 {
		w.Advance()
	}
	c, err := w.Clone()
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.Equal(t, w.Version(), c.Version())
	for _, term := range []ecs.Term{ecs.Changed(ecs.Register[ecstest.Position](c)),
		ecs.Changed(ecs.RegisterChunk[ecstest.Velocity](c)),
		ecs.Changed(ecs.RegisterSparse[ecstest.Stun](c)), ecs.Ordered()} {
		q := ecs.NewQuery(c, term)
		q.SetSince(c.Version() - 1)
		require.Equal(t, 1, q.Count(), "%v", q)
		q.SetSince(c.Version())
		require.Zero(t, q.Count(), "%v", q)
	}
}
