package query_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// subset returns the i'th set of 27 types: three of nine each, by the digits of i.
func subset(types []ecs.Type, i int) (set []ecs.Type) {
	for k := range 9 {
		if d := i % 4; d < 3 {
			set = append(set, types[3*k+d])
		}
		i /= 4
	}
	return set
}

// has is subset's answer for one type.
func subsetHas(i, c int) bool { return i>>(2*(c/3))&3 == c%3 }

// TestManyArchetypes makes 10,000 archetypes, of which every tenth has rows, with
// queries made before, between and after them.
func TestManyArchetypes(t *testing.T) {
	const n = 10_000
	w := ecstest.NewWorld(t)
	types := ecstest.ManyTypes(w)
	with, without, one, other := 4, 8, 12, 16
	ask := func() *ecs.Query {
		return ecs.NewQuery(w, ecs.Read(types[with]), ecs.Without(types[without]), ecs.Any(types[one], types[other]))
	}
	var queries []*ecs.Query
	want, sets := 0, map[*ecs.Archetype]int{}
	for i := range n {
		if i%2500 == 0 {
			queries = append(queries, ask())
		}
		code := i * 26 // spreads over the 4^9 sets
		a := ecs.NewArchetype(w, subset(types, code)...)
		sets[a] = code
		if i%10 == 0 {
			_, err := a.CreateN(1 + i%3)
			require.NoError(t, err)
			if subsetHas(code, with) && !subsetHas(code, without) && (subsetHas(code, one) || subsetHas(code, other)) {
				want += 1 + i%3
			}
		}
	}
	queries = append(queries, ask())
	require.Len(t, sets, n, "all different")
	require.Equal(t, n, w.Stats().Archetypes)
	require.Greater(t, want, 20)
	for _, q := range queries {
		require.Equal(t, want, q.Count())
		for rows := range q.Rows() {
			code := sets[rows.Archetype()]
			require.True(t, subsetHas(code, with) && !subsetHas(code, without))
		}
		require.Len(t, q.Entities(nil), want)
	}
	require.Equal(t, 1, matchingsOf(w))
	apart := ecs.NewQuery(w, ecs.Absent(types[with]))
	require.Equal(t, w.Stats().Alive, apart.Count()+ecs.NewQuery(w, ecs.With(types[with])).Count())
	require.NoError(t, w.Verify())
}

// manyArchetypes makes n of them and rows in each of the first k.
func manyArchetypes(b *testing.B, n, k, rows int) (*ecs.World, []ecs.Type) {
	u, err := alloc.NewUniverse()
	require.NoError(b, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, w.Close())
		require.NoError(b, u.Close())
	})
	types := ecstest.ManyTypes(w)
	for i := range n {
		a := ecs.NewArchetype(w, subset(types, i*26)...)
		if i%(n/k) == 0 {
			_, err := a.CreateN(rows)
			require.NoError(b, err)
		}
	}
	return w, types
}

// BenchmarkManyArchetypes is what archetypes without number cost.
func BenchmarkManyArchetypes(b *testing.B) {
	const n = 10_000
	for _, c := range []struct {
		name    string
		k, rows int
	}{{"rows=10of10000", 10, 3}, {"rows=all10000", n, 3}} {
		b.Run("loop/"+c.name, func(b *testing.B) {
			w, _ := manyArchetypes(b, n, c.k, c.rows)
			q := ecs.NewQuery(w)
			sum := 0
			for b.Loop() {
				for rows := range q.Rows() {
					sum += rows.Len()
				}
			}
			require.Zero(b, sum%(c.k*c.rows))
		})
		b.Run("count/"+c.name, func(b *testing.B) {
			w, _ := manyArchetypes(b, n, c.k, c.rows)
			q := ecs.NewQuery(w)
			for b.Loop() {
				require.Equal(b, c.k*c.rows, q.Count())
			}
		})
	}
	b.Run("NewQuery", func(b *testing.B) {
		w, types := manyArchetypes(b, n, 10, 3)
		for b.Loop() {
			ecs.NewQuery(w, ecs.Read(types[4]), ecs.Without(types[8]), ecs.Any(types[12], types[16])).Close()
		}
	})
	for _, queries := range []int{0, 100} {
		b.Run("NewArchetype/queries="+map[int]string{0: "0", 100: "100"}[queries], func(b *testing.B) {
			w, types := manyArchetypes(b, 1, 1, 1)
			for i := range queries {
				ecs.NewQuery(w, ecs.Read(types[i%27]), ecs.Without(types[(i%27+1+i/27)%27]))
			}
			require.Equal(b, queries, matchingsOf(w))
			i := 1
			for b.Loop() {
				b.StopTimer()
				set := subset(types, i*26%(1<<18))
				b.StartTimer()
				ecs.NewArchetype(w, set...)
				i++
			}
			require.Equal(b, min(i, 1<<17), min(w.Stats().Archetypes, 1<<17))
		})
	}
}

// BenchmarkMatch compares ways to find which of 10,000 archetypes match a query: comparing
// signatures, looking the query's types up in a set of hashes per archetype, looking the
// archetype's set up among those that the query accepts, and one call of the kernel.
func BenchmarkMatch(b *testing.B) {
	const n = 10_000
	w, types := manyArchetypes(b, n, 10, 3)
	m := newMatcher(ecs.NewQuery(w, ecs.Read(types[4]), ecs.Without(types[8])))
	require.Greater(b, m.accepted, n/10)
	for _, c := range []struct {
		name string
		run  func() int
	}{{"compare", m.compare}, {"hash sets", m.hashSets}, {"lookup set", m.lookUp}, {"lookup hash", m.lookUpHash},
		{"kernel", m.kernel}} {
		b.Run("by="+c.name, func(b *testing.B) {
			for b.Loop() {
				require.Equal(b, m.accepted, c.run())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/archetype")
		})
	}
	b.Run("by=making hashes", func(b *testing.B) {
		sum := uint64(0)
		for b.Loop() {
			sum ^= m.hash()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/archetype")
		require.True(b, sum == 0 || sum == m.hash())
	})
}
