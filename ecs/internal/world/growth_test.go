package world_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// fill creates entities until an archetype, the only one, has some units full of
// them and a last chunk with one entity.
func fill(t *testing.T, w *ecs.World, a *ecs.Archetype, units int) {
	t.Helper()
	_, err := a.CreateN(units*a.Plan().Rows - a.Len())
	require.NoError(t, err)
	for chunks := w.Stats().Chunks; w.Stats().Chunks == chunks; {
		a.Create()
	}
}

// lastOf returns the entity in an archetype's last row; q matches only it.
func lastOf(q *ecs.Query) (last ecs.Entity) {
	for rows := range q.Rows() {
		last = rows.Entities()[rows.Len()-1]
	}
	return last
}

// TestBorderLeavesUniverseAlone creates and destroys where that takes and empties a
// chunk: the universe must not see it.
func TestBorderLeavesUniverseAlone(t *testing.T) {
	for _, g := range append(chunkPolicies, alloc.Growth{}, alloc.Geometric(1.2)) {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(g))
		position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
		a := ecs.NewArchetype(w, position, stun)
		fill(t, w, a, 20)
		live, reserve, units := w.Universe().Stats().LiveChunks, w.Stats().Reserve, w.Stats().Chunks
		q := ecs.NewQuery(w, ecs.Read(position))
		for range 5 {
			require.True(t, w.Destroy(lastOf(q)))
			require.Greater(t, w.Stats().Reserve, reserve, "%v", g)
			require.Equal(t, reserve+units, w.Stats().Reserve+w.Stats().Chunks)
			require.NoError(t, w.Verify())
			a.Create()
			require.Equal(t, reserve, w.Stats().Reserve)
			require.Equal(t, live, w.Universe().Stats().LiveChunks)
			require.NoError(t, w.Verify())
		}
	}
}

// TestReserveGoesBeforeAnythingFails fills a universe so that only reserves are left:
// rows of another archetype, records and buffers get them, and moves do.
func TestReserveGoesBeforeAnythingFails(t *testing.T) {
	for name, use := range map[string]func(*testing.T, *ecs.World, ecs.Entity){
		"Create": func(t *testing.T, w *ecs.World, _ ecs.Entity) {
			err := ecs.Try(func() { ecs.NewArchetype(w, ecs.Register[ecstest.Health](w)).Create() })
			require.NoError(t, err)
		},
		"CreateN": func(t *testing.T, w *ecs.World, _ ecs.Entity) {
			a := ecs.NewArchetype(w, ecs.Register[ecstest.Health](w))
			_, err := a.CreateN(2 * a.Plan().Rows)
			require.NoError(t, err)
		},
		"records": func(t *testing.T, w *ecs.World, _ ecs.Entity) {
			made := int(w.Stats().Created)
			_, err := ecs.NewArchetype(w).CreateN(8192 - made) // one more than the first block has: 0 is Null
			require.NoError(t, err)
		},
		"Add": func(t *testing.T, w *ecs.World, e ecs.Entity) {
			err := ecs.Try(func() { ecs.Register[ecstest.Health](w).Add(e, ecstest.Health{HP: 1, Max: 2}) })
			require.NoError(t, err)
		},
		"Append": func(t *testing.T, w *ecs.World, e ecs.Entity) {
			b, ok := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1)).Mut(e)
			require.True(t, ok)
			require.NoError(t, ecs.Try(func() { b.Append(make([]ecstest.Hit, 10)...) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := ecstest.NewUniverse(t, 2<<20)
			w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(10)))
			a := ecs.NewArchetype(w, ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(1)))
			e := a.Create()
			spare := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
			made, err := spare.CreateN(9*spare.Plan().Rows + 1)
			require.NoError(t, err)
			var all []ecs.Entity
			for rows := range made.Rows() {
				all = append(all, rows.Entities()...)
			}
			for _, e := range all[1:] {
				w.Destroy(e)
			}
			var hog []alloc.ChunkIndex
			for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
				hog = append(hog, c)
			}
			require.GreaterOrEqual(t, w.Stats().Reserve, 4)
			require.Zero(t, u.Stats().LongestRun)
			use(t, w, e)
			require.NoError(t, w.Verify())
			require.True(t, w.Alive(e))
			for _, c := range hog {
				u.Free(c, 1)
			}
		})
	}
}

// TestReserveShrinks empties an archetype entity by entity: its reserve follows its size.
func TestReserveShrinks(t *testing.T) {
	chunks := 100
	if testing.Short() {
		chunks = 30
	}
	for _, g := range chunkPolicies {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(g))
		position := ecs.Register[ecstest.Position](w)
		a, q := ecs.NewArchetype(w, position), ecs.NewQuery(w, ecs.Read(position))
		fill(t, w, a, chunks)
		var ids []ecs.Entity
		for rows := range q.Rows() {
			ids = append(ids, rows.Entities()...)
		}
		chunks := w.Stats().Chunks
		for _, e := range ids {
			w.Destroy(e)
			if s := w.Stats(); s.Chunks < chunks && s.Chunks > 0 {
				chunks = s.Chunks
				require.LessOrEqual(t, s.Reserve, 2*(g.Next(s.Chunks, s.Chunks+1)-s.Chunks), "%v", g)
				require.NoError(t, w.Verify())
			}
		}
		require.LessOrEqual(t, w.Stats().Reserve, g.Next(0, 1), "%v: without rows", g)
		require.NoError(t, w.Verify())
	}
}

// TestBufferGrowth looks at the room that policies give.
func TestBufferGrowth(t *testing.T) {
	w := ecstest.NewWorld(t)
	exact := ecs.RegisterBuffer[int64](w, ecs.Inline(1), ecs.Growth(alloc.Growth{}))
	steps := ecs.RegisterBuffer[int32](w, ecs.Inline(1), ecs.Growth(alloc.Fixed(1000)))
	doubling := ecs.RegisterBuffer[uint64](w, ecs.Inline(100))
	e := ecs.NewArchetype(w, exact, steps, doubling).Create()
	exact.Append(e, 1, 2)
	steps.Append(e, 1, 2)
	doubling.Append(e, make([]uint64, 101)...)
	x, _ := exact.Get(e)
	y, _ := steps.Get(e)
	z, _ := doubling.Get(e)
	require.Equal(t, 2, x.Cap())
	require.GreaterOrEqual(t, y.Cap(), 1001)
	require.Less(t, y.Cap(), 1300)
	require.GreaterOrEqual(t, z.Cap(), 200)
	require.Less(t, z.Cap(), 300)
	require.PanicsWithValue(t, "ecs: Register[Health]: Growth is an option of RegisterBuffer",
		func() { ecs.Register[ecstest.Health](w, ecs.Growth(alloc.Doubling())) })
	require.PanicsWithValue(t, "ecs: RegisterBuffer[int64]: registered before with other options",
		func() { ecs.RegisterBuffer[int64](w, ecs.Inline(1)) })
	require.Equal(t, doubling, ecs.RegisterBuffer[uint64](w, ecs.Inline(100), ecs.Growth(alloc.Doubling())))
}

// TestDefaultGrowthIsCapped: what is taken at once is a megachunk at most, so that a world
// of millions keeps no more than that twice.
func TestDefaultGrowthIsCapped(t *testing.T) {
	g := alloc.Doubling().Capped(64)
	require.Equal(t, []int{1, 2, 62, 126, 1064}, []int{g.Next(0, 1), g.Next(1, 2), g.Next(31, 32), g.Next(63, 64),
		g.Next(1000, 1001)})
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	for range 700 * a.Plan().Rows {
		a.Create()
	}
	require.LessOrEqual(t, w.Stats().Chunks+w.Stats().Reserve, 700+2*alloc.ChunksPerMegachunk)
}

// chunkPolicies are those that the default was chosen from.
var chunkPolicies = []alloc.Growth{
	{}, alloc.Fixed(4), alloc.Fixed(64), alloc.Doubling(), alloc.Doubling().Capped(16), alloc.Doubling().Capped(64),
}

// BenchmarkGrow creates a million entities one by one, in a universe whose memory
// has been used before, with each policy for the chunks of an archetype.
func BenchmarkGrow(b *testing.B) {
	const n = 1_000_000
	for _, g := range chunkPolicies {
		b.Run(fmt.Sprintf("policy=%v", g), func(b *testing.B) {
			u, err := alloc.NewUniverse(alloc.Retain(256 << 20))
			require.NoError(b, err)
			defer func() { require.NoError(b, u.Close()) }()
			steps, reserve := 0, 0
			for b.Loop() {
				w, err := ecs.NewWorld(ecs.WithUniverse(u), ecs.ChunkGrowth(g))
				require.NoError(b, err)
				a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w))
				for range n {
					a.Create()
				}
				reserve = w.Stats().Reserve
				require.NoError(b, w.Close())
				steps++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
			b.ReportMetric(float64(reserve), "chunks-in-reserve")
		})
	}
}

// BenchmarkBorder creates and destroys one entity where that takes and empties a
// chunk.
func BenchmarkBorder(b *testing.B) {
	for _, g := range chunkPolicies {
		b.Run(fmt.Sprintf("policy=%v", g), func(b *testing.B) {
			w, err := ecs.NewWorld(ecs.ChunkGrowth(g))
			require.NoError(b, err)
			defer w.Close()
			a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w))
			_, err = a.CreateN(a.Plan().Rows * 40)
			require.NoError(b, err)
			for b.Loop() {
				w.Destroy(a.Create())
			}
		})
	}
}

// BenchmarkGrowInTurn creates entities of 32 archetypes in turn, and walks those of
// one: how its chunks lie depends on the policy.
func BenchmarkGrowInTurn(b *testing.B) {
	const n = 4_000_000
	for _, g := range chunkPolicies {
		b.Run(fmt.Sprintf("policy=%v", g), func(b *testing.B) {
			w, err := ecs.NewWorld(ecs.ChunkGrowth(g))
			require.NoError(b, err)
			defer w.Close()
			position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
			labels := ecstest.LabelsOf(w, 5)
			terms := []ecs.Term{ecs.Write(position), ecs.Read(velocity)}
			for _, l := range labels {
				terms = append(terms, ecs.With(l))
			}
			var all []*ecs.Archetype
			for i := range 32 {
				types := []ecs.Type{position, velocity}
				for k, l := range labels {
					if i>>k&1 != 0 {
						types = append(types, l)
					}
				}
				all = append(all, ecs.NewArchetype(w, types...))
			}
			for i := range n {
				all[i%32].Create()
			}
			q := ecs.NewQuery(w, terms...)
			require.Equal(b, n/32, q.Count())
			steps := 0
			for b.Loop() {
				for rows := range q.Rows() {
					p, v := position.Slice(rows), velocity.Slice(rows)
					v = v[:len(p)]
					for i := range p {
						p[i].X += v[i].X / 64
						p[i].Y += v[i].Y / 64
					}
				}
				steps++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n/32), "ns/entity")
		})
	}
}
