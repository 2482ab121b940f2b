package orbits_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/bench/orbits"
	"quarry/ecs"
)

// TestBetweenPassesOverChunks queries the 59,929 asteroids, sorted by semi-major axis, for a
// thousand random ranges of the axis with 5 % of them each. At least nine of ten chunks are passed
// over, and the answers are those of a full scan.
func TestBetweenPassesOverChunks(t *testing.T) {
	bodies := sbdb(t)
	slices.SortStableFunc(bodies, func(a, b orbits.Elements) int { return cmp.Compare(a.A, b.A) })
	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	body := ecs.Register[orbits.Elements](w)
	a := ecs.NewArchetype(w, body)
	batch, err := a.CreateN(len(bodies), ecs.Uninitialized(body))
	require.NoError(t, err)
	at := 0
	for rows := range batch.Rows() {
		at += copy(body.Slice(rows), bodies[at:])
	}
	require.Equal(t, 59_929, at)
	axis := ecs.NewRange(body, func(el *orbits.Elements) *float64 { return &el.A }, 0, 0)
	chunks := ecs.NewQuery(w, ecs.Read(body), axis.Term())
	masked := ecs.NewQuery(w, ecs.Read(body), axis.Term().Masked())
	all := ecs.NewQuery(w, ecs.Read(body))
	random := rand.New(rand.NewPCG(1801, 1))
	wide, most := len(bodies)/20, 0
	for range 1000 {
		first := random.IntN(len(bodies) - wide)
		lo, hi := bodies[first].A, bodies[first+wide-1].A
		axis.Set(lo, hi)
		var want, got, each []ecs.Entity
		for rows := range all.Rows() {
			for i, el := range body.Slice(rows) {
				if el.A >= lo && el.A <= hi {
					want = append(want, rows.Entities()[i])
				}
			}
		}
		shown := 0
		for rows := range chunks.Rows() {
			shown++
			for i, el := range body.Slice(rows) {
				if el.A >= lo && el.A <= hi {
					got = append(got, rows.Entities()[i])
				}
			}
		}
		for rows := range masked.Rows() {
			for i := range rows.Each() {
				each = append(each, rows.Entities()[i])
			}
		}
		require.GreaterOrEqual(t, len(want), wide)
		require.True(t, slices.Equal(want, got), "from %v to %v", lo, hi)
		require.True(t, slices.Equal(want, each), "from %v to %v, masked", lo, hi)
		require.LessOrEqual(t, 10*shown, a.Chunks(), "from %v to %v: %d of %d chunks shown", lo, hi, shown, a.Chunks())
		most = max(most, shown)
	}
	t.Logf("at most %d of %d chunks were shown", most, a.Chunks())
	require.NoError(t, w.Verify())
}

// BenchmarkBetween finds 5 % of a belt of a million bodies sorted by semi-major axis: by a scan of
// all, by the chunks that Between shows, and by rows masked.
func BenchmarkBetween(b *testing.B) {
	bodies := orbits.Belt(1_000_000, 1801)
	slices.SortFunc(bodies, func(a, b orbits.Elements) int { return cmp.Compare(a.A, b.A) })
	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, w.Close()) })
	body := ecs.Register[orbits.Elements](w)
	batch, err := ecs.NewArchetype(w, body).CreateN(len(bodies), ecs.Uninitialized(body))
	require.NoError(b, err)
	at := 0
	for rows := range batch.Rows() {
		at += copy(body.Slice(rows), bodies[at:])
	}
	lo, hi := bodies[len(bodies)/2].A, bodies[len(bodies)/2+len(bodies)/20].A
	between := ecs.Between(body, func(el *orbits.Elements) *float64 { return &el.A }, lo, hi)
	count := func(q *ecs.Query) (n int) {
		for rows := range q.Rows() {
			for _, el := range body.Slice(rows) {
				if el.A >= lo && el.A <= hi {
					n++
				}
			}
		}
		return n
	}
	masked := ecs.NewQuery(w, ecs.Read(body), between.Masked())
	want := masked.Count()
	for name, f := range map[string]func() int{
		"scan":   func() int { return count(ecs.NewQuery(w, ecs.Read(body))) },
		"chunks": func() int { return count(ecs.NewQuery(w, ecs.Read(body), between)) },
		"masked": masked.Count,
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if f() != want {
					b.Fatal("wrong")
				}
			}
		})
	}
}
