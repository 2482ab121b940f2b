package edit_test

import (
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// Behaviours 24, 27, 28 and 29: what memory a world takes, and that it gives it back.

// units sums the units of an archetype's chunks, 0 for a small one; all but the last are full.
func units(t *testing.T, a *ecs.Archetype) (sum int) {
	t.Helper()
	rows := 0
	for i := range a.Chunks() {
		_, bytes, held := a.Chunk(i)
		n := bytes / alloc.ChunkSize
		if i < a.Chunks()-1 {
			require.Equal(t, n*a.Plan().Rows, held, "chunk %d of %d is full", i, a.Chunks())
		}
		require.Positive(t, held)
		sum, rows = sum+n, rows+held
	}
	require.Equal(t, a.Len(), rows)
	return sum
}

// TestBehaviour24Chunks: the chunks are as many as the rows need, through filling,
// emptying and filling again, and those that empty can be had back.
func TestBehaviour24Chunks(t *testing.T) {
	for i, growth := range ecstest.ChunkSizes {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(growth))
		a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[extraData](w))
		per, q := a.Plan().Rows, ecs.NewQuery(w)
		live := w.Universe().Stats().LiveChunks
		var ids []ecs.Entity
		for round := range 3 {
			for n := 1; n <= 9*per; n++ {
				ids = append(ids, a.Create())
				if n%per > 1 {
					continue
				}
				need := (n-1)/per + 1
				if i > 0 { // a small one, of 1, 2, 4 units instead, then of 4, 8 ... more
					need = 1 << bits.Len(uint(need-1))
					if n <= per/8 {
						need = 0
					}
				}
				require.Equal(t, need, units(t, a), "%d rows, %d a unit, round %d", n, per, round)
				require.Equal(t, need, w.Stats().Chunks)
			}
			switch round {
			case 0: // one by one, the chunks go with their last rows
				for k, e := range ids {
					require.True(t, w.Destroy(e))
					if left := len(ids) - k - 1; left%per == 0 {
						require.NoError(t, w.Verify())
						require.LessOrEqual(t, units(t, a), max(4, 2*left/per+1), "no less than an only chunk")
						require.True(t, i > 0 || units(t, a) == left/per)
					}
				}
			case 1:
				require.Equal(t, len(ids), w.DestroyQuery(q))
			case 2:
				require.Equal(t, len(ids), w.DestroyList(ids))
			}
			ids = ids[:0]
			require.Equal(t, []int{0, 0, 0}, []int{a.Len(), a.Chunks(), w.Stats().Chunks})
			require.Equal(t, w.Stats().Reserve, w.Trim())
			require.Zero(t, w.Stats().Reserve)
			records := 4 // a block of 8,192 takes four chunks
			require.Equal(t, live+records*((9*per)/ecstest.IDBlock+1), w.Universe().Stats().LiveChunks)
		}
		_, err := a.CreateN(9 * per)
		require.NoError(t, err)
		require.Equal(t, 9, units(t, a), "a batch takes what it needs")
		_, err = a.CreateN(1)
		require.NoError(t, err)
		require.Less(t, 9, units(t, a))
		require.NoError(t, w.Verify())
	}
}

// TestBehaviour27ManyArchetypes: 10,000 sets of types, of which some have rows, with
// queries that were there before them and after.
func TestBehaviour27ManyArchetypes(t *testing.T) {
	const sets, with = 10_000, 700
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[ecstest.Position](w)
	labels := ecstest.LabelsOf(w, 14)
	early := ecs.NewQuery(w, ecs.With(labels[3], labels[7]), ecs.Without(labels[9]))
	holds := func(set int, label int) bool { return set>>label&1 != 0 }
	want, ids := 0, map[int]ecs.Entity{}
	for set := range sets {
		types := []ecs.Type{position}
		for k := range labels {
			if holds(set, k) {
				types = append(types, labels[k])
			}
		}
		a := ecs.NewArchetype(w, types...)
		if set%(sets/with) != 0 {
			continue
		}
		ids[set] = a.Create()
		position.Set(ids[set], ecstest.Position{X: float64(set), Y: 1})
		if holds(set, 3) && holds(set, 7) && !holds(set, 9) {
			want++
		}
	}
	late := ecs.NewQuery(w, ecs.With(labels[7], labels[3]), ecs.Without(labels[9]), ecs.Read(position))
	require.Equal(t, sets, w.Stats().Archetypes)
	require.Equal(t, []int{want, want}, []int{early.Count(), late.Count()})
	require.Positive(t, want)
	for set, e := range ids { // to a neighbour, which is there
		add, remove := ecs.Remove(labels[0]), ecs.Add(labels[13])
		if !holds(set, 0) {
			add = ecs.Add(labels[0])
		}
		_, err := ecs.NewChange(w, add, remove).Apply(e)
		require.NoError(t, err)
	}
	require.Equal(t, want, late.Count())
	for set, e := range ids {
		require.Equal(t, ecstest.Position{X: float64(set), Y: 1}, *position.Get(e))
	}
	require.NoError(t, w.Verify())
	require.Equal(t, len(ids), w.DestroyQuery(ecs.NewQuery(w)))
}

// TestBehaviour28GivesBack: Clear and Trim give the chunks back that held rows and what
// buffers had spilled, and the world works on. There is no time budget: Trim's cost is
// per archetype and chunk.
func TestBehaviour28GivesBack(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		x := ecstest.NewFullTwin(t, growth)
		x.Fill(t, 10)
		x.World.Clear()
		x.World.Trim()
		live := x.World.Universe().Stats().LiveChunks
		for range 3 {
			x.Fill(t, 8000)
			require.Greater(t, x.World.Universe().Stats().LiveChunks, live+20)
			require.Positive(t, x.World.Stats().Buffers)
			x.World.Clear()
			require.NoError(t, x.World.Verify())
			x.World.Trim()
			require.Equal(t, live, x.World.Universe().Stats().LiveChunks)
			require.Zero(t, x.World.Trim(), "there is no more")
			require.NoError(t, x.World.Verify())
		}
		ids := x.Fill(t, 3000)
		want := x.Shows(ids)
		x.World.DestroyList(ids[1000:])
		held, n := x.World.Universe().Stats().LiveChunks, x.World.Trim()
		require.Equal(t, held-n, x.World.Universe().Stats().LiveChunks)
		require.Equal(t, want[:1000], x.Shows(ids[:1000]))
		for range x.Queries[0].Rows() { // which loops may call
			x.World.Trim()
		}
		require.NoError(t, x.World.Verify())
	}
}

// TestBehaviour29NamesGo: what a world keeps in Go memory for an entity, its name, goes
// with the entity. (Types that hold Go pointers are refused: see behaviour 26.)
func TestBehaviour29NamesGo(t *testing.T) {
	const n, size = 4000, 4096
	for name, end := range map[string]func(w *ecs.World, ids []ecs.Entity){
		"Destroy": func(w *ecs.World, ids []ecs.Entity) {
			for _, e := range ids {
				w.Destroy(e)
			}
		},
		"DestroyList":  func(w *ecs.World, ids []ecs.Entity) { w.DestroyList(ids) },
		"DestroyQuery": func(w *ecs.World, _ []ecs.Entity) { w.DestroyQuery(ecs.NewQuery(w)) },
		"Clear":        func(w *ecs.World, _ []ecs.Entity) { w.Clear() },
		"SetName": func(w *ecs.World, ids []ecs.Entity) {
			for _, e := range ids {
				w.SetName(e, "")
			}
		},
	} {
		w := ecstest.NewWorld(t)
		b, err := ecs.NewArchetype(w).CreateN(n)
		require.NoError(t, err)
		ids := b.Entities(nil)
		before := heapInUse()
		for i, e := range ids {
			require.True(t, w.SetName(e, fmt.Sprint(i%(n/2))+strings.Repeat("x", size))) // each twice; it is there once
		}
		held := heapInUse() - before
		require.Greater(t, held, n/2*size*9/10, "%s: the names are there", name)
		end(w, ids)
		require.Less(t, heapInUse()-before, held/4, "%s: the names have gone", name)
		_, ok := w.Named("0" + strings.Repeat("x", size))
		require.False(t, ok)
		require.NoError(t, w.Verify())
	}
}

func heapInUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
