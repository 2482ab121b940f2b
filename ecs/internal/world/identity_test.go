package world_test

import (
	"sync"
	"testing"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/entity"

	"github.com/stretchr/testify/require"
)

// The behaviours that entity systems agree on, by their numbers in our list.

// TestBehaviour01ZeroEntity: the zero entity is never alive, and ids that are kept back are neither
// recycled nor destroyed.
func TestBehaviour01ZeroEntity(t *testing.T) {
	w := ecstest.NewWorld(t)
	ecstest.RequireDead(t, w, ecs.Entity{})
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	reserved := ecstest.Reserve(t, w, 3)
	for range 2 * ecstest.IDBlock {
		e := a.Create()
		require.NotZero(t, e.Index())
		for _, r := range reserved {
			require.NotEqual(t, r.Index(), e.Index())
		}
	}
	ecstest.RequireDead(t, w, ecs.Entity{})
	for _, r := range reserved {
		ecstest.RequireDead(t, w, r)
	}
	ecstest.CreateReserved(t, a, reserved)
	for _, r := range reserved {
		require.True(t, w.Alive(r))
	}
}

// TestBehaviour02Recycled: an index that comes again has another version, and the old handle is
// dead for everything. On both paths.
func TestBehaviour02Recycled(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable),
		ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1)))
	for path, next := range map[string]func() ecs.Entity{
		"owner": a.Create,
		"reserved": func() ecs.Entity {
			ids := ecstest.Reserve(t, w, 1)
			ecstest.CreateReserved(t, a, ids)
			return ids[0]
		},
	} {
		old := next()
		require.True(t, w.Destroy(old))
		ecstest.RequireDead(t, w, old)
		again := next()
		for ; again.Index() != old.Index(); again = next() {
			w.Destroy(again)
		}
		require.Equal(t, old.Version()+2, again.Version(), path)
		require.True(t, w.Alive(again))
		ecstest.RequireDead(t, w, old)
		require.True(t, w.Alive(again), "calls with the old handle did nothing")
	}
}

// TestBehaviour03Wrap: the version wraps from 2^32-1, alive, over 0, dead, to 1. Reserved ids do
// so, too: see TestVersionsWrap of package entity.
func TestBehaviour03Wrap(t *testing.T) {
	const last = 1<<32 - 1
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	index := a.Create().Index() // the owner's
	e, ok := w.Entity(index, 1)
	require.True(t, ok)
	w.Destroy(e)
	setNextVersion(w, uint32(index), last-1)
	versions := func(next func() ecs.Entity, index int) (got []uint32) {
		for range 2 {
			e := next()
			for ; e.Index() != index; e = next() {
				w.Destroy(e)
			}
			got = append(got, e.Version())
			require.True(t, w.Alive(e))
			require.True(t, w.Destroy(e))
			require.False(t, w.Alive(e))
			ref, _ := ecstest.Bits(e)
			require.False(t, w.Alive(ecstest.MakeEntity(ref, 0)), "version 0 is never alive")
			require.False(t, w.Destroy(ecstest.MakeEntity(ref, 0)))
			require.NoError(t, w.Verify())
		}
		return got
	}
	require.Equal(t, []uint32{last, 1}, versions(a.Create, index))
}

// TestBehaviour06BulkRecycles: a batch takes the k indices that are free below, and n new ones.
func TestBehaviour06BulkRecycles(t *testing.T) {
	for _, k := range []int{0, 1, 63, 64, 65, 500} {
		w := ecstest.NewWorld(t)
		a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
		const n = ecstest.IDBlock - 1 // all of the first block
		batch, err := a.CreateN(n)
		require.NoError(t, err)
		var ids []ecs.Entity
		for rows := range batch.Rows() {
			ids = append(ids, rows.Entities()...)
		}
		for i := range k {
			require.True(t, w.Destroy(ids[i*7]))
		}
		batch, err = a.CreateN(k + 100)
		require.NoError(t, err)
		recycled, fresh, seen := 0, 0, map[int]bool{}
		for rows := range batch.Rows() {
			for _, e := range rows.Entities() {
				require.False(t, seen[e.Index()])
				seen[e.Index()] = true
				require.True(t, w.Alive(e))
				if e.Index() < ecstest.IDBlock {
					require.Equal(t, uint32(3), e.Version())
					recycled++
				} else {
					require.Equal(t, uint32(1), e.Version())
					fresh++
				}
			}
		}
		require.Equal(t, []int{k, 100}, []int{recycled, fresh})
		require.Equal(t, n+100, a.Len())
	}
}

// TestBehaviour10Limit: at the limit of entities, which blocks of both kinds share, creation and
// reservation fail with the same error, change nothing, and go on when there is room.
func TestBehaviour10Limit(t *testing.T) {
	const text = ": the limit is 134217726 entities a world"
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	restore := leaveBlocks(w, 3)
	_, err := a.CreateN(ecstest.IDBlock - 2) // the first; index 0 is Null, and the last one of all is nobody's
	require.NoError(t, err)
	ids := ecstest.Reserve(t, w, ecstest.IDBlock-1)
	last := a.Create() // the third
	before := w.Stats()
	require.EqualError(t, w.Reserve(make([]ecs.Entity, 1)), "ecs: World.Reserve"+text)
	_, err = a.CreateN(ecstest.IDBlock)
	require.EqualError(t, err, "ecs: Archetype.CreateN"+text)
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.Equal(t, before, w.Stats())
	_, err = a.CreateN(ecstest.IDBlock - 1)
	require.NoError(t, err)
	err = ecs.Try(func() { a.Create() })
	require.EqualError(t, err, "ecs: Archetype.Create"+text)
	require.PanicsWithError(t, "ecs: Archetype.Create"+text, func() { a.Create() })

	ecstest.CreateReserved(t, a, ids)
	require.Equal(t, 3*ecstest.IDBlock-3, w.Stats().Alive)
	w.Destroy(ids[5])
	err = ecs.Try(func() { a.Create() })
	require.EqualError(t, err, "ecs: Archetype.Create"+text, "an index of a block of reserved ids is of no use")
	require.Equal(t, ids[5].Index(), ecstest.Reserve(t, w, 1)[0].Index())
	w.Destroy(last)
	require.Equal(t, last.Index(), a.Create().Index())
	restore()
	require.NoError(t, w.Verify())
	ecstest.Reserve(t, w, 1)
}

// TestBehaviour11Reserved: ids reserved by several goroutines are all different, no query or
// look-up sees them, and then they are what was reserved.
func TestBehaviour11Reserved(t *testing.T) {
	const workers, n = 8, 3000
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	q := ecs.NewQuery(w, ecs.Read(position))
	lists := make([][]ecs.Entity, workers)
	var wg sync.WaitGroup
	for k := range lists {
		lists[k] = make([]ecs.Entity, n)
		wg.Go(func() {
			for at := 0; at < n; at += 100 {
				if err := w.Reserve(lists[k][at : at+100]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := map[int]bool{}
	for range n { // the owner goes on meanwhile
		seen[a.Create().Index()] = true
		require.Equal(t, len(seen), q.Count())
	}
	wg.Wait()
	require.Equal(t, n, q.Count(), "queries do not see them")
	for _, list := range lists {
		for _, e := range list {
			require.False(t, seen[e.Index()], "%v is reserved twice", e)
			seen[e.Index()] = true
		}
		ecstest.RequireDead(t, w, list[n/2])
	}
	require.NoError(t, w.Verify())
	for i, list := range lists {
		ecstest.CreateReserved(t, a, list)
		require.Equal(t, n*(i+2), q.Count())
		require.True(t, w.Alive(list[0]) && w.Alive(list[n-1]))
	}
}

// TestIndicesBy64: single creations and batches take indices in one order: those that were free
// among 64 neighbours, from the lowest on, then those of the lowest 64 with a free one. What is
// freed among the 64 under way waits until they are used up.
func TestIndicesBy64(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	var ids []ecs.Entity // of the indices 1 to 300; those of 256 to 319 are under way
	for range 300 {
		ids = append(ids, a.Create())
	}
	for _, index := range []int{71, 260, 6, 8, 131} {
		require.True(t, w.Destroy(ids[index-1]))
	}
	var got []int
	for len(got) < 10 {
		got = append(got, a.Create().Index())
	}
	b, err := a.CreateN(16)
	require.NoError(t, err)
	for _, e := range b.Entities(nil) {
		got = append(got, e.Index())
	}
	var want []int
	for index := 301; index < 320; index++ {
		want = append(want, index)
	}
	require.Equal(t, append(want, 6, 8, 71, 131, 260, 320, 321), got)
}

// setNextVersion makes the next entity with a fresh index start at a version, to meet the wrap.
func setNextVersion(w *ecs.World, index uint32, version uint32) {
	ids := &door.World(w).IDs
	view := ids.View()
	r := view.Record(entity.Make(index, ids.Tag(), 0))
	*(*uint32)(unsafe.Pointer(r)) = version // Safe because a record begins with its version.
}

// leaveBlocks lets a world make n blocks of ids more, and no others, until restore.
func leaveBlocks(w *ecs.World, n int) (restore func()) {
	ids := &door.World(w).IDs
	ids.Limit(n)
	return func() { ids.Limit(-1) }
}
