package world_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

func TestNullIsNeverAlive(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	for range 100 {
		require.NotEqual(t, ecs.Null, a.Create())
	}
	require.False(t, w.Alive(ecs.Null))
	require.Nil(t, position.Get(ecs.Null))
	require.False(t, w.Destroy(ecs.Null))
	require.Equal(t, "null", ecs.Null.String())
}

func TestRecycledIndexHasANewVersion(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	old := a.Create()
	require.Equal(t, "1v1", old.String())
	position.Set(old, ecstest.Position{X: 1, Y: 2})
	require.True(t, w.Destroy(old))
	require.False(t, w.Destroy(old), "twice is no error")
	var again ecs.Entity
	for again.Index() != old.Index() {
		again = a.Create()
	}
	require.Equal(t, "1v3", again.String())
	require.False(t, w.Alive(old))
	require.Nil(t, position.Get(old))
	require.Nil(t, position.Mut(old))
	require.False(t, position.Has(old))
	require.False(t, position.Set(old, ecstest.Position{}))
	require.False(t, position.Remove(old))
	require.False(t, w.Destroy(old))
	require.Equal(t, ecstest.Position{}, *position.Get(again), "a new component reads zero")
	require.Negative(t, old.Compare(again))
	require.Positive(t, again.Compare(old))
	require.Zero(t, again.Compare(again))
}

func TestDestroyKeepsTheOthers(t *testing.T) {
	for _, n := range []int{1, 2, 3, 408, 409, 1000} {
		for _, victim := range []int{0, n / 2, n - 1} {
			t.Run(fmt.Sprintf("%d of %d", victim, n), func(t *testing.T) {
				w := ecstest.NewWorld(t)
				health, owner := ecs.Register[ecstest.Health](w), ecs.Register[ecstest.Owner](w)
				a := ecs.NewArchetype(w, owner, health)
				ids := make([]ecs.Entity, n)
				for i := range ids {
					ids[i] = a.Create()
					health.Set(ids[i], ecstest.Health{HP: int32(i), Max: int32(-i)})
					owner.Set(ids[i], ecstest.Owner{Of: ids[i]})
				}
				require.True(t, w.Destroy(ids[victim]))
				require.NoError(t, w.Verify())
				for i, e := range ids {
					if i == victim {
						require.Nil(t, health.Get(e))
						continue
					}
					require.Equal(t, ecstest.Health{HP: int32(i), Max: int32(-i)}, *health.Get(e), "entity %d", i)
					require.Equal(t, ecstest.Owner{Of: e}, *owner.Get(e))
				}
				require.Equal(t, n-1, a.Len())
			})
		}
	}
}

func TestCreateN(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, health := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Health](w)
	a := ecs.NewArchetype(w, position, health)
	seen := map[ecs.Entity]bool{}
	total := 0
	for _, n := range []int{0, 1, 63, 64, 1000, 8192, 20_000} {
		batch, err := a.CreateN(n, ecs.Uninitialized(health))
		require.NoError(t, err)
		require.Equal(t, n, batch.Len())
		rowsSeen := 0
		for rows := range batch.Rows() {
			require.True(t, rows.Dense())
			p, h := position.Slice(rows), health.Slice(rows)
			require.Len(t, p, rows.Len())
			for i, e := range rows.Entities() {
				require.False(t, seen[e], "%v was handed out twice", e)
				seen[e] = true
				require.Equal(t, ecstest.Position{}, p[i])
				h[i] = ecstest.Health{HP: int32(rowsSeen), Max: 7}
				rowsSeen++
				require.Same(t, &h[i], health.Get(e))
			}
		}
		require.Equal(t, n, rowsSeen)
		total += n
		require.Equal(t, total, a.Len())
		require.NoError(t, w.Verify())
	}
	require.Equal(t, ecs.Stats{
		Alive: total, Created: uint64(total), Archetypes: 1, Chunks: (total + a.Plan().Rows - 1) / a.Plan().Rows,
	}, w.Stats())
}

// TestCreateNMixesRecycledAndFresh makes a batch after some of the first were
// destroyed: all ids differ, and recycled ones carry new versions.
func TestCreateNMixesRecycledAndFresh(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	var first []ecs.Entity
	for range 500 {
		first = append(first, a.Create())
	}
	for i, e := range first {
		if i%3 == 0 {
			w.Destroy(e)
		}
	}
	batch, err := a.CreateN(1000)
	require.NoError(t, err)
	recycled := 0
	seen := map[int]bool{}
	for rows := range batch.Rows() {
		for _, e := range rows.Entities() {
			require.False(t, seen[e.Index()])
			seen[e.Index()] = true
			if e.Version() == 3 {
				recycled++
			}
		}
	}
	require.Equal(t, 167, recycled)
	require.NoError(t, w.Verify())
}

func TestAddAndRemove(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	health := ecs.Register[ecstest.Health](w)
	tag := ecs.Register[ecstest.Tag](w)
	a := ecs.NewArchetype(w, position)
	var ids []ecs.Entity
	for i := range 1000 {
		e := a.Create()
		position.Set(e, ecstest.Position{X: float64(i), Y: 1})
		ids = append(ids, e)
	}
	for i, e := range ids {
		require.True(t, health.Add(e, ecstest.Health{HP: int32(i), Max: 5}))
		require.False(t, health.Add(e, ecstest.Health{HP: -1, Max: -1}), "adding what is there keeps the value")
		if i%2 == 0 {
			require.True(t, tag.Add(e, ecstest.Tag{}))
		}
	}
	require.NoError(t, w.Verify())
	for i, e := range ids {
		require.Equal(t, ecstest.Position{X: float64(i), Y: 1}, *position.Get(e))
		require.Equal(t, ecstest.Health{HP: int32(i), Max: 5}, *health.Get(e))
		require.Equal(t, i%2 == 0, tag.Has(e))
		require.Equal(t, i%2 == 0, tag.Remove(e))
		require.True(t, health.Remove(e))
		require.False(t, health.Remove(e), "removing what is not there")
		require.Nil(t, health.Get(e))
		require.Equal(t, ecstest.Position{X: float64(i), Y: 1}, *position.Get(e))
	}
	require.NoError(t, w.Verify())
	require.Equal(t, 1000, a.Len())
	require.True(t, health.Add(ids[0], ecstest.Health{}))
	require.Equal(t, ecstest.Health{}, *health.Get(ids[0]))
}

func TestArchetypeIdentity(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, health := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Health](w)
	require.Same(t, ecs.NewArchetype(w, position, health), ecs.NewArchetype(w, health, position))
	require.NotSame(t, ecs.NewArchetype(w, position), ecs.NewArchetype(w, health))
	require.Equal(t, position, ecs.Register[ecstest.Position](w), "registering twice gives the same handle")
	require.Equal(t, "[Position Health]", ecs.NewArchetype(w, position, health).String())
}

// TestEmptyChunksGoBack fills and empties an archetype: chunks and their
// memory follow, but for one that is kept.
func TestEmptyChunksGoBack(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	base := w.Universe().Stats().LiveChunks
	for range 3 {
		batch, err := a.CreateN(10_000)
		require.NoError(t, err)
		var ids []ecs.Entity
		for rows := range batch.Rows() {
			ids = append(ids, rows.Entities()...)
		}
		require.Equal(t, (10_000+a.Plan().Rows-1)/a.Plan().Rows, w.Stats().Chunks)
		for _, e := range ids {
			w.Destroy(e)
		}
		require.Zero(t, w.Stats().Chunks)
		require.NoError(t, w.Verify())
	}
	kept := w.Stats().Reserve
	require.LessOrEqual(t, kept, 1)
	require.Equal(t, base+8+kept, w.Universe().Stats().LiveChunks, "two blocks of records stay: versions must")
	require.Equal(t, kept, w.Trim())
	require.Equal(t, 0, w.Trim())
	require.Zero(t, w.Stats().Reserve)
	require.Equal(t, base+8, w.Universe().Stats().LiveChunks)
}

func TestRunningOutLosesNothing(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u))
	position, health := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Health](w)
	a := ecs.NewArchetype(w, position)
	_, err := a.CreateN(1 << 20)
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Zero(t, a.Len())
	require.NoError(t, w.Verify())
	err = nil
	var last ecs.Entity
	for n := -1; n != a.Len(); { // many records leave the universe, so there is room once more
		n = a.Len()
		_ = ecs.Try(func() {
			for {
				last = a.Create()
			}
		})
		for err == nil {
			_, err = a.CreateN(5000)
		}
		require.ErrorIs(t, err, ecs.ErrLimit)
		err = nil
	}
	hash := w.Hash()
	var l *ecs.LimitError
	func() {
		defer func() { l, _ = recover().(*ecs.LimitError) }()
		a.Create()
	}()
	require.NotNil(t, l, "Create panics with the LimitError")
	require.ErrorContains(t, l, "ecs: Archetype.Create: alloc: Universe.AllocAligned: no room for 1 chunks")
	_, err = a.CreateN(5000)
	require.ErrorIs(t, err, ecs.ErrLimit)
	err = ecs.Try(func() { health.Add(last, ecstest.Health{HP: 1, Max: 1}) })
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorContains(t, err, "ecs: Component.Add: ")
	require.False(t, health.Has(last))
	require.Equal(t, hash, w.Hash(), "a failed call changes nothing")
	require.NoError(t, w.Verify())
	require.True(t, w.Destroy(last))
}

func TestHashFollowsFieldsOnly(t *testing.T) {
	type padded struct {
		A uint8
		B uint32
	}
	build := func(other bool) uint64 {
		if other {
			ecstest.NewWorld(t) // another world open: the tag differs
		}
		w := ecstest.NewWorld(t)
		p, owner := ecs.Register[padded](w), ecs.Register[ecstest.Owner](w)
		a := ecs.NewArchetype(w, p, owner)
		var last ecs.Entity
		for i := range 700 {
			e := a.Create()
			p.Set(e, padded{uint8(i), uint32(i)})
			owner.Set(e, ecstest.Owner{Of: last})
			last = e
		}
		return w.Hash()
	}
	require.Equal(t, build(false), build(true), "the same operations, the same hash")
	w := ecstest.NewWorld(t)
	p := ecs.Register[padded](w)
	e := ecs.NewArchetype(w, p).Create()
	before := w.Hash()
	p.Set(e, padded{1, 0})
	require.NotEqual(t, before, w.Hash())
	p.Set(e, padded{})
	require.Equal(t, before, w.Hash())
}

func TestLinksBetweenEntities(t *testing.T) {
	w := ecstest.NewWorld(t)
	owner := ecs.Register[ecstest.Owner](w)
	a := ecs.NewArchetype(w, owner)
	e, f := a.Create(), a.Create()
	owner.Set(e, ecstest.Owner{Of: f})
	require.True(t, w.Alive(owner.Get(e).Of))
	w.Destroy(f)
	require.False(t, w.Alive(owner.Get(e).Of), "the link is seen to be dead")
}

// TestStrangersAreCaught opens worlds one after the other: an entity of any of
// the last 15 is a stranger in a new one.
func TestStrangersAreCaught(t *testing.T) {
	var old []ecs.Entity
	for range 15 {
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		old = append(old, ecs.NewArchetype(w).Create())
		require.NoError(t, w.Close())
	}
	w := ecstest.NewWorld(t)
	e := ecs.NewArchetype(w).Create()
	for _, stranger := range old {
		require.NotEqual(t, e, stranger)
		require.False(t, w.Alive(stranger))
		require.PanicsWithValue(t, "ecs: World.Destroy: entity 1v1 belongs to another world",
			func() { w.Destroy(stranger) })
	}
}

// TestFailedAddMakesNoArchetype fails to add a type whose archetype does not
// exist yet, for lack of room.
func TestFailedAddMakesNoArchetype(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.WithUniverse(ecstest.NewUniverse(t, 2<<20)), ecs.ChunkGrowth(alloc.Fixed(1)))
	position, health := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Health](w)
	a := ecs.NewArchetype(w, position)
	q := ecs.NewQuery(w, ecs.Read(position))
	e := a.Create()
	for err := ecs.Try(func() { a.Create() }); err == nil; err = ecs.Try(func() { a.Create() }) {
	}
	before := w.Stats()
	for range 2 {
		err := ecs.Try(func() { health.Add(e, ecstest.Health{HP: 1, Max: 2}) })
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.Equal(t, before, w.Stats())
		require.NoError(t, w.Verify())
		require.Equal(t, before.Alive, q.Count())
	}
	for rows := range q.Rows() {
		e = rows.Entities()[0]
	}
	for q.Count() > before.Alive-a.Plan().Rows {
		for rows := range q.Rows() {
			e = rows.Entities()[rows.Len()-1]
		}
		w.Destroy(e)
	}
	for rows := range q.Rows() {
		e = rows.Entities()[0]
		break
	}
	require.True(t, health.Add(e, ecstest.Health{HP: 1, Max: 2}))
	require.Equal(t, before.Archetypes+1, w.Stats().Archetypes)
}

func TestCloseTellsOfForeignChunks(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	c, err := w.Universe().AllocExact(1)
	require.NoError(t, err)
	for range 2 {
		err := w.Close()
		require.ErrorIs(t, err, alloc.ErrInUse)
		require.ErrorContains(t, err, "ecs: World.Close: alloc: Universe.Close: ")
	}
	require.Equal(t, ecs.Stats{}, w.Stats())
	w.Universe().Free(c, 1)
	require.NoError(t, w.Close())
}
