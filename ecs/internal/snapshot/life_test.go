package snapshot_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// moment takes a snapshot beside what the world prints.
func (s *snapWorld) moment() snapMoment { return snapMoment{s: s.Snapshot(), print: s.print()} }

// back restores a moment, and compares.
func (s *snapWorld) back(m snapMoment) {
	s.t.Helper()
	require.NoError(s.t, s.Restore(m.s))
	require.NoError(s.t, s.Verify())
	require.Equal(s.t, m.print, s.print())
}

// many makes n entities of types with places that have their numbers.
func (s *snapWorld) many(n int, types ...ecs.Type) []ecs.Entity {
	s.t.Helper()
	batch, err := ecs.NewArchetype(s.World, append(types, s.place)...).CreateN(n)
	require.NoError(s.t, err)
	at := 0
	for rows := range batch.Rows() {
		for i := range s.place.Slice(rows) {
			s.place.Slice(rows)[i].X = float64(at)
			at++
		}
	}
	return batch.Entities(nil)
}

// TestSnapshotOfAnEmptyWorld: a world without entities or memory goes back to that, and the ids
// come again.
func TestSnapshotOfAnEmptyWorld(t *testing.T) {
	u := ecstest.NewUniverse(t, 64<<20)
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	empty := w.moment()
	require.Zero(t, empty.s.Len())
	w.back(empty)
	ids := w.many(20_000, w.hits)
	w.load.Add(ids[5], snapLoad{3})
	w.SetName(ids[5], "five")
	full := w.moment()
	require.Equal(t, 20_000, full.s.Len())
	for range 2 {
		w.back(empty)
		require.Zero(t, w.Stats().Alive)
		require.False(t, w.Alive(ids[5]))
		_, named := w.Named("five")
		require.False(t, named)
		w.back(full)
		require.Equal(t, snapPlace{X: 5}, *w.place.Get(ids[5]))
		require.Equal(t, snapLoad{3}, *w.load.Get(ids[5]))
		e, _ := w.Named("five")
		require.Equal(t, ids[5], e)
	}
	w.back(empty)
	require.Equal(t, ids, w.many(20_000, w.hits), "the ids that came next then")
	full.s.Close()
	w.back(empty)
	empty.s.Close()
	require.Zero(t, w.Stats().Chunks)
}

// TestCloseWithSnapshotsAlive: a world that is closed leaves nothing of its snapshots behind, after
// chunks, blocks, records and blocks of reservations were freed or ended.
func TestCloseWithSnapshotsAlive(t *testing.T) {
	u := ecstest.NewUniverse(t, 64<<20) // checks that nothing is left
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	first := w.Snapshot()
	for _, e := range w.many(5000, w.hits, w.big)[:100] {
		w.hits.Append(e, make([]uint32, 100)...)
		w.load.Add(e, snapLoad{})
	}
	ecstest.Reserve(t, w.World, 20_000)
	second := w.Snapshot()
	w.DestroyQuery(w.write)
	w.Trim()
	third := w.Snapshot()
	require.NoError(t, w.Restore(first))
	require.NoError(t, w.Restore(second))
	require.NoError(t, w.Restore(first))
	require.NoError(t, w.Close())
	for _, s := range []*ecs.Snapshot{first, second, third} {
		s.Close()
		require.PanicsWithValue(t, "ecs: Snapshot.Kept: the snapshot is closed", func() { s.Kept() })
	}
}

// TestShrinkBesideSnapshots: Shrink, Trim and sweeps of archetypes that are empty leave to
// snapshots what they have, and free it after.
func TestShrinkBesideSnapshots(t *testing.T) {
	u := ecstest.NewUniverse(t, 128<<20)
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	ids := w.many(60_000, w.hits, w.big)
	for i := 0; i < len(ids); i += 500 {
		w.hits.Append(ids[i], make([]uint32, 40+i)...)
		w.load.Add(ids[i], snapLoad{uint16(i)})
	}
	teams := 0
	for n := range 600 {
		for _, e := range w.many(2) { // by Add, since NewArchetype would keep the archetype
			w.team.Add(e, snapTeam{n})
		}
		teams++
	}
	full := w.moment()
	archetypes := w.Stats().Archetypes
	for i, e := range ids {
		if i%97 > 0 {
			w.Destroy(e)
		}
	}
	w.DestroyQuery(ecs.NewQuery(w.World, ecs.With(w.team)))
	for n := range 600 { // archetypes of later values come and are swept
		e := w.many(1)[0]
		w.team.Add(e, snapTeam{1000 + n})
		w.Destroy(e)
	}
	for !w.Shrink(1e9) {
	}
	w.Trim()
	require.NoError(t, w.Verify())
	require.GreaterOrEqual(t, w.Stats().Archetypes, archetypes, "those of the snapshot stay")
	few := w.moment()
	for range 2 {
		w.back(full)
		require.Equal(t, 2, ecs.NewQuery(w.World, ecs.Where(w.team.Of(snapTeam{77}))).Count())
		w.back(few)
	}
	full.s.Close()
	live := u.Stats().LiveChunks
	for !w.Shrink(1e9) {
	}
	w.back(few)
	few.s.Close()
	for !w.Shrink(1e9) {
	}
	require.Less(t, u.Stats().LiveChunks, live)
	require.Less(t, w.Stats().Archetypes, archetypes-teams+50, "they go when no snapshot has them")
}

// TestTypesAfterASnapshot: types of all kinds that come after a snapshot stay, without values when
// the world goes back, and with them when it goes forth.
func TestTypesAfterASnapshot(t *testing.T) {
	w := newSnapWorld(t, 1)
	ids := w.many(3000)
	before := w.moment()
	type late struct{ A, B, C uint64 }
	comp := ecs.Register[late](w.World, ecs.Enableable, ecs.TrackRows)
	buffer := ecs.RegisterBuffer[uint16](w.World)
	shared := ecs.RegisterShared[uint8](w.World)
	sparse := ecs.RegisterSparse[late](w.World, ecs.Enableable)
	chunk := ecs.RegisterChunk[uint64](w.World)
	all := ecs.NewQuery(w.World, ecs.Write(comp), ecs.Read(buffer), ecs.Read(chunk), ecs.With(shared))
	for i, e := range ids[:1000] {
		comp.Add(e, late{uint64(i), 2, 3})
		sparse.Add(e, late{B: uint64(i)})
	}
	w.back(before) // the snapshot does not know the sparse type
	require.Zero(t, sparse.Len())
	for i, e := range ids[:1000] {
		comp.Add(e, late{uint64(i), 2, 3})
		buffer.Add(e)
		buffer.Append(e, make([]uint16, i)...)
		shared.Add(e, uint8(i%3))
		sparse.Add(e, late{B: uint64(i)})
	}
	_, err := ecs.NewChange(w.World, ecs.Add(chunk)).ApplyQuery(ecs.NewQuery(w.World, ecs.With(comp)))
	require.NoError(t, err)
	comp.Disable(ids[3])
	sparse.Disable(ids[5])
	after := w.moment()
	require.Equal(t, 999, all.Count())
	for range 2 {
		w.back(before)
		require.Zero(t, all.Count())
		require.Zero(t, sparse.Len())
		require.Nil(t, comp.Get(ids[7]))
		w.back(after)
		require.Equal(t, 999, all.Count())
		require.Equal(t, late{7, 2, 3}, *comp.Get(ids[7]))
		require.Equal(t, late{B: 7}, *sparse.Get(ids[7]))
		require.False(t, sparse.Enabled(ids[5]))
		require.False(t, comp.Enabled(ids[3]))
		b, _ := buffer.Get(ids[999])
		require.Equal(t, 999, b.Len())
		for rows := range all.Rows() {
			for i := range comp.Slice(rows) {
				comp.Slice(rows)[i].C++
			}
		}
		require.NotEqual(t, after.print, w.print())
	}
}

// TestWholeChunksBesideSnapshots: archetypes that give away all their chunks, and adopt layouts for
// that, have them back.
func TestWholeChunksBesideSnapshots(t *testing.T) {
	for _, growth := range []alloc.Growth{{}, alloc.Doubling().Capped(64), alloc.Fixed(1)} {
		w := newSnapWorld(t, 1, ecs.ChunkGrowth(growth))
		source := ecs.NewArchetype(w.World, w.place, w.speed)
		for _, n := range []int{20_000, 7} {
			batch, err := source.CreateN(n)
			require.NoError(t, err)
			for rows := range batch.Rows() {
				for i, e := range rows.Entities() {
					w.place.Slice(rows)[i].X = float64(e.Index())
				}
			}
		}
		_, before, _ := source.Chunk(0)
		first, _, _ := source.Chunk(0)
		have := w.moment()
		moments := []snapMoment{have}
		for _, c := range []*ecs.Change{
			ecs.NewChange(w.World, ecs.Add(w.tag)), ecs.NewChange(w.World, ecs.Add(w.big)),
			ecs.NewChange(w.World, ecs.Remove(w.speed)),
			ecs.NewChange(w.World, ecs.Remove(w.big, w.tag)),
			ecs.NewChange(w.World, ecs.Add(w.speed, w.tag), ecs.Remove(w.place)),
		} {
			_, err := c.ApplyQuery(w.all)
			require.NoError(t, err)
			require.NoError(t, w.Verify())
			moments = append(moments, w.moment())
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 20 {
			m := moments[r.IntN(len(moments))]
			w.back(m)
			if r.IntN(2) == 0 {
				w.many(3000, w.speed)
				_, err := ecs.NewChange(w.World, ecs.Add(w.tag), ecs.Remove(w.gone)).ApplyQuery(w.all)
				require.NoError(t, err)
			}
		}
		w.back(have)
		at, bytes, _ := source.Chunk(0)
		require.Equal(t, []int{first, before}, []int{at, bytes}, "rows lie where they lay")
	}
}

// TestReservedIDsAndSnapshots: ids that were reserved at a snapshot are so after a restore,
// whatever became of them; those that were reserved since are void.
func TestReservedIDsAndSnapshots(t *testing.T) {
	w := newSnapWorld(t, 1)
	a := ecs.NewArchetype(w.World, w.place)
	before := ecstest.Reserve(t, w.World, 3000)
	none := w.moment()
	ecstest.CreateReserved(t, a, before[:1000])
	w.Unreserve(before[1000:1500])
	since := ecstest.Reserve(t, w.World, 10_000)
	ecstest.CreateReserved(t, a, since[:100])
	some := w.moment()
	ecstest.CreateReserved(t, a, since[100:200])
	never := "it was given back, created and destroyed, or never reserved; nothing was changed"
	for range 3 {
		w.back(none)
		require.Equal(t, 3000, w.Stats().Reserved)
		require.False(t, w.Alive(before[0]))
		for _, e := range []ecs.Entity{since[0], since[150], since[9999]} {
			require.False(t, w.Alive(e))
			require.PanicsWithValue(t, "ecs: Archetype.CreateReserved: ids[0] = "+e.String()+" is not reserved: "+never,
				func() { _, _ = a.CreateReserved([]ecs.Entity{e}) })
		}
		ecstest.CreateReserved(t, a, before[500:])
		require.True(t, w.Alive(before[2999]))
		require.Equal(t, since, ecstest.Reserve(t, w.World, 10_000), "the ids that came next then")
		w.back(some)
		require.Equal(t, 1500+9900, w.Stats().Reserved)
		require.True(t, w.Alive(before[999]) && w.Alive(since[99]))
		require.False(t, w.Alive(since[150]))
		ecstest.CreateReserved(t, a, since[100:5000])
		w.Unreserve(slices.Concat(before[1500:], since[5000:]))
		require.Zero(t, w.Stats().Reserved)
		require.NoError(t, w.Verify())
	}
	none.s.Close()
	w.back(some)
	some.s.Close()
	require.NoError(t, w.Verify())
}
