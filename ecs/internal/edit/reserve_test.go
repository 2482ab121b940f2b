package edit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestCreateReserved makes entities of reserved ids in rows that others had before, over borders of
// chunks and blocks.
func TestCreateReserved(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 408, 409, 1000, 8191, 8192, 8193, 20_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := ecstest.NewWorld(t)
			health, stun := ecs.Register[ecstest.Health](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
			hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
			a := ecs.NewArchetype(w, health, stun, hits)
			q := ecs.NewQuery(w, ecs.Write(health), ecs.Read(stun))
			var old []ecs.Entity // leave rows with old values
			for range 300 {
				e := a.Create()
				health.Set(e, ecstest.Health{HP: 7, Max: 7})
				stun.Disable(e)
				hits.Append(e, ecstest.Hit{}, ecstest.Hit{})
				old = append(old, e)
			}
			for _, e := range old[100:] {
				w.Destroy(e)
			}
			ids := ecstest.Reserve(t, w, n)
			require.Equal(t, n, w.Stats().Reserved)
			v := w.Advance()
			batch := ecstest.CreateReserved(t, a, ids)
			require.Equal(t, n, batch.Len())
			var seen []ecs.Entity
			for rows := range batch.Rows() {
				seen = append(seen, rows.Entities()...)
				require.True(t, health.Changed(rows, v-1))
				for _, h := range health.Slice(rows) {
					require.Zero(t, h)
				}
			}
			require.True(t, slices.Equal(ids, seen), "in the order of ids")
			for _, e := range ids {
				require.True(t, w.Alive(e))
				require.True(t, stun.Enabled(e))
				b, ok := hits.Get(e)
				require.True(t, ok && b.Len() == 0)
			}
			require.Equal(t, n, q.Count(), "those from before are disabled")
			require.NoError(t, w.Verify())
			require.Zero(t, w.Stats().Reserved)
			for _, e := range ids[:n/2] {
				require.True(t, w.Destroy(e))
				require.False(t, w.Destroy(e), "twice is no error")
			}
			require.NoError(t, w.Verify())
		})
	}
}

// TestReservedIsNamedWhenItIsNot gives lists with one bad id to both calls.
func TestReservedIsNamedWhenItIsNot(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	owned := a.Create()
	ecs.NewArchetype(other).Create() // so that both reserve in the same block
	ids := ecstest.Reserve(t, w, 20)
	alive, destroyed, returned := ids[0], ids[1], ids[2]
	spare, stranger := ids[19], ecstest.Reserve(t, other, 20)[19]
	require.Equal(t, spare.String(), stranger.String(), "but for the world it is reserved")
	ecstest.CreateReserved(t, a, ids[:2])
	w.Destroy(destroyed)
	w.Unreserve(ids[2:3])
	good := ids[3:19]
	ref, version := ecstest.Bits(spare)
	live, _ := ecstest.Bits(alive)
	never := "it was given back, created and destroyed, or never reserved"
	before, hash := w.Stats(), w.Hash()
	for _, c := range []struct {
		bad ecs.Entity
		why string
	}{
		{ecs.Null, "it names no entity"},
		{stranger, "it belongs to another world"},
		{alive, "it is alive already"},
		{owned, "it is alive already"},
		{good[0], "it is given twice"},
		{destroyed, never},
		{returned, never},
		{ecstest.MakeEntity(ref, version+1), never},
		{ecstest.MakeEntity(ref, version-1), never},
		{ecstest.MakeEntity(live, alive.Version()+1), never},
		{ecstest.MakeEntity(ref|1<<31, version), "it is a placeholder of a command buffer"},
	} {
		for _, at := range []int{1, 5, len(good)} {
			list := slices.Insert(slices.Clone(good), at, c.bad)
			text := fmt.Sprintf(": ids[%d] = %v is not reserved: %s; nothing was changed", at, c.bad, c.why)
			require.PanicsWithValue(t, "ecs: World.Unreserve"+text, func() { w.Unreserve(list) })
			require.PanicsWithValue(t, "ecs: Archetype.CreateReserved"+text, func() { _, _ = a.CreateReserved(list) })
			require.NoError(t, w.Verify(), "%v", c)
			require.Equal(t, before, w.Stats())
			require.Equal(t, hash, w.Hash())
		}
	}
	batch := ecstest.CreateReserved(t, a, good)
	ecstest.CreateReserved(t, a, []ecs.Entity{spare})
	require.PanicsWithValue(t,
		"ecs: Batch.Rows: the batch of 16 rows is no longer current: the world has changed since it was made",
		func() { batch.Rows()(func(ecs.Rows) bool { return false }) })
}

// TestBlocksOfUsedMemory takes blocks of both kinds where others have written, and has some taken
// back by a call that fails.
func TestBlocksOfUsedMemory(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Growth{}))
	var all []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		all = append(all, c)
		for i := range u.Bytes(c, 1) {
			u.Bytes(c, 1)[i] = 0xFF
		}
	}
	for _, c := range all {
		u.Free(c, 1)
	}
	a := ecs.NewArchetype(w)
	ids := ecstest.Reserve(t, w, ecstest.IDBlock)
	_, err := a.CreateN(40 * ecstest.IDBlock)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.NoError(t, w.Verify())
	for _, e := range append(ids, a.Create()) {
		require.Equal(t, uint32(1), e.Version())
		tag, _ := ecstest.Bits(e)
		stale := ecstest.MakeEntity(tag&^(ecs.MaxEntities-1)|3*ecstest.IDBlock, 1<<32-1)
		require.False(t, w.Alive(stale), "in a block that was taken back")
	}
	require.NoError(t, w.Verify())
}

// TestReservedDuringIteration reserves in a loop, which creation refuses.
func TestReservedDuringIteration(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	a.Create()
	for range ecs.NewQuery(w, ecs.Read(position)).Rows() {
		ids := ecstest.Reserve(t, w, 3)
		require.PanicsWithValue(t,
			"ecs: Archetype.CreateReserved: structural change inside a loop over query(Read Position); "+
				"gather the entities and change them after the loop", func() { _, _ = a.CreateReserved(ids) })
		w.Unreserve(ids)
	}
	require.Zero(t, w.Stats().Reserved)
}

// TestReserveOfClosedWorld is refused, and Close takes what is reserved.
func TestReserveOfClosedWorld(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.WithUniverse(ecstest.NewUniverse(t, 64<<20))) // which looks for chunks left behind
	a := ecs.NewArchetype(w)
	ids := ecstest.Reserve(t, w, 30_000)
	ecstest.CreateReserved(t, a, ids[:10_000])
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
	require.PanicsWithValue(t, "ecs: World.Reserve: the world is closed", func() { _ = w.Reserve(ids) })
	require.PanicsWithValue(t, "ecs: World.Unreserve: the world is closed", func() { w.Unreserve(ids) })
	require.PanicsWithValue(t, "ecs: Archetype.CreateReserved: the world is closed",
		func() { _, _ = a.CreateReserved(ids) })
	require.False(t, w.Alive(ids[0]))
}

// TestCreateReservedWithoutMemory fails, and the ids stay reserved.
func TestCreateReservedWithoutMemory(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Growth{}))
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	ids := ecstest.Reserve(t, w, 5000)
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	u.Free(hog[0], 1) // a chunk is not enough for 5000 rows
	_, err := a.CreateReserved(ids)
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.ErrorContains(t, err, "ecs: Archetype.CreateReserved: ")
	require.Equal(t, 5000, w.Stats().Reserved)
	require.Zero(t, a.Len())
	require.NoError(t, w.Verify())
	for _, c := range hog[1:] {
		u.Free(c, 1)
	}
	ecstest.CreateReserved(t, a, ids)
	require.Equal(t, 5000, a.Len())
}

// TestCreateReservedWithoutRecords: where memory is refused for rows or for the records of reserved
// ids, nothing has changed, and look-ups find what they found.
func TestCreateReservedWithoutRecords(t *testing.T) {
	records := 0 // refusals of more records
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(f))
		if err != nil {
			return err
		}
		defer func() { require.NoError(t, u.Close()) }()
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		if err != nil {
			return err
		}
		defer func() { require.NoError(t, w.Close()) }()
		health := ecs.Register[ecstest.Health](w)
		a := ecs.NewArchetype(w, health)
		var owned ecs.Entity
		err = ecs.Try(func() { owned = a.Create() })
		if err != nil {
			return err
		}
		health.Set(owned, ecstest.Health{HP: 5, Max: 6})
		ids := make([]ecs.Entity, 3*ecstest.IDBlock)
		if err := w.Reserve(ids); err != nil {
			return err
		}
		before := w.Stats()
		_, err = a.CreateReserved(ids[2*ecstest.IDBlock:])
		require.NoError(t, w.Verify())
		require.Equal(t, ecstest.Health{HP: 5, Max: 6}, *health.Get(owned))
		if err != nil {
			require.ErrorIs(t, err, ecs.ErrLimit)
			require.ErrorContains(t, err, "ecs: Archetype.CreateReserved: ")
			if strings.Contains(err.Error(), "alloc: Extent.Resize") {
				records++
			}
			after := w.Stats()
			require.Equal(t, []int{before.Alive, before.Reserved}, []int{after.Alive, after.Reserved})
			require.Nil(t, health.Get(ids[2*ecstest.IDBlock]))
			w.Unreserve(ids)
			return err
		}
		require.Equal(t, ecstest.Health{}, *health.Get(ids[3*ecstest.IDBlock-1]))
		require.Nil(t, health.Get(ids[0]), "it is reserved still")
		return nil
	}))
	require.Positive(t, records)
}

// TestVerifyNamesIDs makes an id alive without a row, and look-ups blind.
func TestVerifyNamesIDs(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position)
	ecstest.CreateReserved(t, a, ecstest.Reserve(t, w, 2)[1:])
	a.Create() // so that there are records of the owner's: a view of none is zero in a world with tag 0
	restore := corruptIDs(w)
	require.ErrorContains(t, w.Verify(), "ecs: W1:")
	restore()
	require.NoError(t, w.Verify())
	restore = corruptView(position)
	require.ErrorContains(t, w.Verify(), "ecs: L2:")
	restore()
	require.NoError(t, w.Verify())
}

// TestReserveAgainstModel compares the states of ids with a plain map's.
func TestReserveAgainstModel(t *testing.T) {
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	r := rand.New(rand.NewPCG(3, 4))
	var reserved, alive, gone []ecs.Entity
	ever := map[ecs.Entity]bool{}
	cut := func(from *[]ecs.Entity) []ecs.Entity {
		r.Shuffle(len(*from), func(i, j int) { (*from)[i], (*from)[j] = (*from)[j], (*from)[i] })
		n := r.IntN(len(*from) + 1)
		list := slices.Clone((*from)[:n])
		*from = (*from)[n:]
		return list
	}
	for step := range 300 {
		switch r.IntN(5) {
		case 0:
			ids := ecstest.Reserve(t, w, r.IntN(3000))
			for _, e := range ids {
				require.False(t, ever[e], "%v came twice", e)
				ever[e] = true
			}
			reserved = append(reserved, ids...)
		case 1:
			ids := cut(&reserved)
			ecstest.CreateReserved(t, a, ids)
			alive = append(alive, ids...)
		case 2:
			ids := cut(&reserved)
			w.Unreserve(ids)
			gone = append(gone, ids...)
		case 3:
			ids := cut(&alive)
			for _, e := range ids {
				require.True(t, w.Destroy(e))
			}
			gone = append(gone, ids...)
		case 4:
			e := a.Create()
			require.False(t, ever[e])
			ever[e] = true
			alive = append(alive, e)
		}
		if step%20 == 0 {
			require.NoError(t, w.Verify())
		}
		require.Equal(t, len(alive), a.Len())
		require.Equal(t, len(reserved), w.Stats().Reserved)
	}
	for _, e := range alive {
		require.True(t, w.Alive(e))
	}
	for _, e := range slices.Concat(reserved, gone) {
		require.False(t, w.Alive(e))
	}
}

// BenchmarkReserve reserves and gives back, in lists of n.
func BenchmarkReserve(b *testing.B) {
	for _, n := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			w := ecstest.NewWorld(b)
			ids := make([]ecs.Entity, n)
			for b.Loop() {
				require.NoError(b, w.Reserve(ids))
				w.Unreserve(ids)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entity")
		})
	}
}
