package world_test

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/store"

	"github.com/stretchr/testify/require"
)

// thinOut ends entities in a random order until each archetype has keep at most.
func thinOut(x *ecstest.Twin, rng *rand.Rand, keep int) {
	of := map[*ecs.Archetype][]ecs.Entity{}
	for rows := range x.Queries[0].Rows() {
		of[rows.Archetype()] = append(of[rows.Archetype()], rows.Entities()...)
	}
	for _, a := range x.Sets {
		ids := of[a]
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		x.World.DestroyList(ids[min(keep, len(ids)):])
	}
}

// isTight fails unless no archetype's last chunk would fit one of half its size.
func isTight(t *testing.T, w *ecs.World, growth alloc.Growth) {
	t.Helper()
	require.Zero(t, w.Stats().Reserve)
	for _, f := range w.Occupancy() {
		a := f.Archetype
		_, bytes, rows := a.Chunk(a.Chunks() - 1)
		per, small := a.Plan().Rows, 0
		if a.Chunks() == 1 && growth != alloc.Fixed(1) {
			small = per / 8
		}
		units := max(1, 1<<bits.Len(uint((rows-1)/per)))
		if bytes > store.SmallSize || rows > small {
			require.GreaterOrEqual(t, units*alloc.ChunkSize, bytes, "%d rows, %d a unit, of %v", rows, per, a)
		}
	}
}

// TestBehaviour28Shrink: whatever is left of rows, Shrink changes no value, order or version,
// look-ups find everything, and no last chunk is larger than its rows need.
func TestBehaviour28Shrink(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for _, keep := range []int{0, 1, 10, 100, 700, 3000} {
			t.Run(fmt.Sprintf("%d left, chunks grow %v", keep, growth), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(28, uint64(keep)))
				x := ecstest.NewFullTwin(t, growth)
				x.World.Advance()
				for set := range x.Sets {
					x.Create(t, set, 5000)
				}
				thinOut(x, rng, keep)
				for i, e := range x.Queries[5].Entities(nil) { // those with hits
					x.Hits.Append(e, make([]ecstest.Hit, i%70)...)
					if b, _ := x.Hits.Mut(e); i%2 == 0 {
						b.Resize(b.Len() % 5)
					}
				}
				x.World.Advance()
				ids := x.Queries[0].Entities(nil)
				written, hash, want, held := x.World.Version(), x.World.Hash(), x.Shows(ids), ecstest.Occupied(x.World)
				x.World.Advance()
				require.True(t, x.World.Shrink(0))
				require.NoError(t, x.World.Verify())
				require.Equal(t, hash, x.World.Hash())
				require.Equal(t, want, x.Shows(ids))
				require.Equal(t, ids, x.Queries[0].Entities(nil))
				lookEverywhere(t, x, "after Shrink")
				isTight(t, x.World, growth)
				if keep > 0 {
					require.Less(t, ecstest.Occupied(x.World).Bytes+ecstest.Occupied(x.World).Reserve,
						held.Bytes+held.Reserve)
				}
				for rows := range ecs.NewQuery(x.World, ecs.Read(x.Position), ecs.Present(x.Stun)).Rows() {
					require.False(t, x.Position.Changed(rows, written-1) || rows.Ordered(written-1))
					require.True(t, x.Position.Changed(rows, written-2) && rows.Ordered(written-2))
				}
				x.Create(t, len(x.Sets)-1, 2000) // and all works on
				require.NoError(t, x.World.Verify())
				require.Equal(t, want, x.Shows(ids))
			})
		}
	}
}

// TestShrinkAfterAMillion: of a million entities ten are left in each of eight archetypes; each
// keeps 2 KiB after Shrink, of more than 2 MiB before.
func TestShrinkAfterAMillion(t *testing.T) {
	if testing.Short() {
		t.Skip("a million entities")
	}
	w := ecstest.NewWorld(t)
	position, hits := ecs.Register[ecstest.Position](w), ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	kinds := []ecs.Type{position, ecs.Register[ecstest.Health](w), ecs.Register[ecstest.Tag](w), hits}
	all := ecs.NewQuery(w)
	for set := range 8 {
		types := []ecs.Type{kinds[0]}
		for i, kind := range kinds[1:] {
			if set>>i&1 != 0 {
				types = append(types, kind)
			}
		}
		b, err := ecs.NewArchetype(w, types...).CreateN(125_000)
		require.NoError(t, err)
		for i, e := range b.Entities(nil) {
			if i%50 == 0 {
				hits.Append(e, make([]ecstest.Hit, 10)...)
			}
		}
	}
	full, live := ecstest.Occupied(w), w.Universe().Stats().LiveChunks
	require.Equal(t, 1_000_000, full.Rows)
	ids := all.Entities(nil)
	for i := range 8 {
		w.DestroyList(ids[i*125_000+10 : (i+1)*125_000])
	}
	before, liveBefore := ecstest.Occupied(w), w.Universe().Stats().LiveChunks
	hash := w.Hash()
	require.True(t, w.Shrink(0))
	after, liveAfter := ecstest.Occupied(w), w.Universe().Stats().LiveChunks
	t.Logf("KiB in chunks and reserves: %d full, %d before, %d after; units of the universe in use: %d, %d, %d",
		(full.Bytes+full.Reserve)>>10, (before.Bytes+before.Reserve)>>10, (after.Bytes+after.Reserve)>>10, live,
		liveBefore, liveAfter)
	require.Equal(t, hash, w.Hash())
	require.Equal(t, []int{80, 8 * store.SmallSize, 0}, []int{after.Rows, after.Bytes, after.Reserve})
	require.Greater(t, before.Bytes+before.Reserve, 1000*after.Bytes)
	require.Less(t, liveAfter, liveBefore)
	require.NoError(t, w.Verify())
}

// TestShrinkBudget: with a budget of one step there are as many calls as steps, memory goes down
// step by step, and all ends as without a budget.
func TestShrinkBudget(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	var sets []*ecs.Archetype
	for i := range 6 {
		types := []ecs.Type{hits}
		for bit, kind := range []ecs.Type{ecs.Register[ecstest.Tag](w), ecs.Register[ecstest.Position](w),
			ecs.Register[ecstest.Health](w)} {
			if i>>bit&1 != 0 {
				types = append(types, kind)
			}
		}
		sets = append(sets, ecs.NewArchetype(w, types...))
	}
	var left []ecs.Entity
	for _, a := range sets {
		b, err := a.CreateN(6000)
		require.NoError(t, err)
		ids := b.Entities(nil)
		w.DestroyList(ids[20:])
		left = append(left, ids[:20]...)
	}
	for _, e := range left[:20] { // 20 buffers of 700 KiB that are nearly empty again
		hits.Append(e, make([]ecstest.Hit, 30_000)...)
		b, _ := hits.Mut(e)
		b.Resize(12_000)
	}
	view, _ := hits.Get(left[0])
	hash, steps := w.Hash(), 0
	held := func() int {
		return ecstest.Occupied(w).Bytes + ecstest.Occupied(w).Reserve + w.Universe().Stats().LiveChunks
	}
	before := held()
	for done := false; !done; steps++ {
		done = ecstest.ShrinkSteps(w, 1)
		require.NoError(t, w.Verify())
		now := held()
		require.LessOrEqual(t, now, before)
		if steps < len(sets) {
			require.Less(t, now, before, "step %d", steps)
		}
		before = now
	}
	require.Greater(t, steps, len(sets))
	require.Panics(t, func() { view.Len() }, "views of before are void")
	require.Equal(t, hash, w.Hash())
	isTight(t, w, alloc.Doubling().Capped(64))
	require.True(t, w.Shrink(time.Hour), "within the budget all is done at once")
	require.Equal(t, before, held())
	require.Equal(t, hash, w.Hash())
}

// TestShrinkByTheClock: a budget of less than a step ends with the step. That of a clock that goes
// on every 15 ms alone, as time.Now of Windows, would not.
func TestShrinkByTheClock(t *testing.T) {
	w := ecstest.NewWorld(t)
	for _, types := range [][]ecs.Type{{ecs.Register[ecstest.Position](w)}, {ecs.Register[ecstest.Health](w)}} {
		b, err := ecs.NewArchetype(w, types...).CreateN(20_000)
		require.NoError(t, err)
		w.DestroyList(b.Entities(nil)[300:])
	}
	full := ecstest.Occupied(w).Bytes
	require.False(t, w.Shrink(time.Nanosecond))
	some := ecstest.Occupied(w).Bytes
	require.Less(t, some, full)
	for !w.Shrink(time.Microsecond) {
		require.NoError(t, w.Verify())
	}
	require.Less(t, ecstest.Occupied(w).Bytes, some)
}

// shrinkRefused shrinks a world of some kinds of rows and buffers whose universe refuses by s. It
// returns an error when Shrink changed what it must not, and counts its requests.
func shrinkRefused(s *alloc.Failures, asked *int) (first error) {
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	defer func() { first = errors.Join(first, w.Close(), u.Verify(), u.Close()) }()
	position, hits := ecs.Register[ecstest.Position](w), ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1))
	for i, types := range [][]ecs.Type{{position}, {hits}, {position, hits}} {
		b, err := ecs.NewArchetype(w, types...).CreateN(6000)
		if err != nil {
			return err
		}
		ids := b.Entities(nil)
		w.DestroyList(ids[3+900*i:])
		if i == 0 {
			continue
		}
		for _, e := range ids[:3] {
			view, _ := hits.Mut(e)
			if err := ecs.Try(func() { view.Append(make([]ecstest.Hit, 3000)...) }); err != nil {
				return err
			}
			view.Resize(500)
		}
	}
	hash, requests := w.Hash(), s.Asked()
	for calls := 0; !ecstest.ShrinkSteps(w, 1); calls++ {
		if calls > 100 {
			return errors.New("Shrink comes to no end")
		}
		if err := w.Verify(); err != nil {
			return err
		}
	}
	*asked = s.Asked() - requests
	if got := w.Hash(); got != hash {
		return fmt.Errorf("Shrink changed the world's hash from %x to %x", hash, got)
	}
	return w.Verify()
}

// TestEveryFailureOfShrink: whichever request for memory is refused, Shrink comes to its end,
// entities are as before and nothing is lost.
func TestEveryFailureOfShrink(t *testing.T) {
	asked := 0
	require.NoError(t, shrinkRefused(&alloc.Failures{}, &asked))
	require.Greater(t, asked, 5)
	require.NoError(t, alloc.CheckEveryFailure(func(s *alloc.Failures) error { return shrinkRefused(s, &asked) }))
}

// TestShrinkInAFullUniverse: where the universe has no unit left but the reserves of other
// archetypes, those are given back first.
func TestShrinkInAFullUniverse(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Doubling()))
	// Shrink begins with the last.
	second := ecs.NewArchetype(w, ecs.Register[ecstest.Health](w))
	first := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	b, err := first.CreateN(8 * first.Plan().Rows)
	require.NoError(t, err)
	w.DestroyList(b.Entities(nil)[first.Plan().Rows:])
	for range 2 {
		b, err = second.CreateN(4 * second.Plan().Rows)
		require.NoError(t, err)
	}
	w.DestroyList(b.Entities(nil))
	require.Zero(t, w.Occupancy()[1].Reserve)
	require.Positive(t, w.Occupancy()[0].Reserve)
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	live := u.Stats().LiveChunks
	require.True(t, w.Shrink(0))
	_, bytes, rows := first.Chunk(0)
	require.Equal(t, []int{alloc.ChunkSize, first.Plan().Rows}, []int{bytes, rows})
	require.Less(t, u.Stats().LiveChunks, live)
	for _, c := range hog {
		u.Free(c, 1)
	}
}

// TestShrinkWhileArchetypesGo: archetypes of values that nobody has any more are given up between
// the steps; none of the others is passed by.
func TestShrinkWhileArchetypesGo(t *testing.T) {
	w := ecstest.NewWorld(t)
	team, position := ecs.RegisterShared[int](w), ecs.Register[ecstest.Position](w)
	a, byTeam := ecs.NewArchetype(w, position), make([][]ecs.Entity, 12)
	for i := range byTeam {
		b, err := a.CreateN(3000)
		require.NoError(t, err)
		byTeam[i] = b.Entities(nil)
		for _, e := range byTeam[i] {
			team.Add(e, i)
		}
		w.DestroyList(byTeam[i][5:])
	}
	archetypes := w.Stats().Archetypes
	for i := 0; !ecstest.ShrinkSteps(w, 1); i++ {
		if i < 4 {
			require.Equal(t, 5, w.DestroyList(byTeam[i]))
			ecstest.Sweep(w)
		}
		require.NoError(t, w.Verify())
	}
	require.Equal(t, archetypes-4, w.Stats().Archetypes)
	isTight(t, w, alloc.Doubling().Capped(64))
	require.Equal(t, 5, team.Len(7))
}

// TestShrinkRetiresArchetypes: archetypes that changes made go when they have no rows, and those
// that NewArchetype gave stay. Queries show the same before and after.
func TestShrinkRetiresArchetypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	tag := ecs.Register[ecstest.Tag](w)
	health := ecs.Register[ecstest.Health](w)
	kept := ecs.NewArchetype(w, position)
	before := ecs.NewQuery(w, ecs.Read(position))
	moving, staying := kept.Create(), kept.Create()
	require.True(t, health.Add(staying, ecstest.Health{}))
	require.True(t, tag.Add(moving, ecstest.Tag{}))
	require.True(t, health.Add(moving, ecstest.Health{}))
	passed, _ := w.Locate(moving)
	require.True(t, tag.Remove(moving))
	require.True(t, health.Remove(moving))
	require.True(t, health.Remove(staying))
	require.True(t, health.Add(staying, ecstest.Health{}))
	archetypes, ids := w.Stats().Archetypes, before.Entities(nil)

	require.True(t, w.Shrink(0))
	require.NoError(t, w.Verify())
	require.Equal(t, archetypes-2, w.Stats().Archetypes) // [Position Tag] and [Position Tag Health]
	require.Equal(t, ids, before.Entities(nil))
	after := ecs.NewQuery(w, ecs.Read(position))
	require.Equal(t, ids, after.Entities(nil))
	came := passed.Archetype.Create() // it comes again
	require.True(t, tag.Has(came) && health.Has(came))
	require.True(t, w.Destroy(came))

	require.True(t, w.Destroy(moving)) // the one that is kept has no rows now
	require.True(t, w.Shrink(0))
	again := kept.Create()
	require.True(t, tag.Add(again, ecstest.Tag{}))
	require.True(t, health.Add(again, ecstest.Health{}))
	now, _ := w.Locate(again)
	require.NotSame(t, passed.Archetype, now.Archetype)
	require.Equal(t, []ecs.Entity{staying, again}, before.Entities(nil))
	require.NoError(t, w.Verify())
}
