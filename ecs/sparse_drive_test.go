package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/query"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// Loops through the entries of a set yield what loops through the chunks do. Sizes choose between
// the two; these tests take each.

// shownBy is the chunks that a loop yields, with their masks.
func shownBy(q *ecs.Query) (all []string) {
	for rows := range q.Rows() {
		all = append(all, fmt.Sprintf("%v %d %x %v", rows.Archetype(), rows.Chunk(), rows.Mask(), rows.Dense()))
	}
	return all
}

// checkDrivers compares loops through chunks and through sets.
func checkDrivers(t *testing.T, q *ecs.Query) {
	t.Helper()
	driveBy(q, query.DriveByChunks)
	want := shownBy(q)
	for _, d := range []query.Driver{query.DriveBySet, query.DriveBySize} {
		driveBy(q, d)
		require.Equal(t, want, shownBy(q), "%v by %v", q, d)
	}
}

// TestSparseDrivers: with many rows and few entries a loop goes through the set, and yields what a
// loop through the chunks does: with versions and bits, while the world is lent, and for jobs.
func TestSparseDrivers(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
	burning := ecs.RegisterSparse[ecstest.Burning](w)
	r := rand.New(rand.NewPCG(1, 2))
	var ids []ecs.Entity
	for _, a := range []*ecs.Archetype{
		ecs.NewArchetype(w, position), ecs.NewArchetype(w, stun), ecs.NewArchetype(w, position, stun),
	} {
		b, err := a.CreateN(3000)
		require.NoError(t, err)
		ids = b.Entities(ids)
	}
	for range 150 {
		e := ids[r.IntN(len(ids))]
		burning.Add(e, ecstest.Burning{})
		if r.IntN(2) == 0 {
			stun.Disable(e)
		}
	}
	for _, terms := range [][]ecs.Term{
		{ecs.Read(burning)}, {ecs.With(burning), ecs.Read(position)}, {ecs.With(burning), ecs.Read(stun)},
		{ecs.With(burning), ecs.Without(stun)}, {ecs.Present(burning), ecs.Optional(ecs.Read(position))},
	} {
		q := ecs.NewQuery(w, terms...)
		checkDrivers(t, q)
		want := shownBy(q)
		require.NotEmpty(t, want)
		b := w.Lend()
		var got []string
		for rows := range q.Rows() {
			got = append(got, fmt.Sprintf("%v %d %x %v", rows.Archetype(), rows.Chunk(), rows.Mask(), rows.Dense()))
		}
		b.End()
		require.Equal(t, want, got)
		checkSplit(t, q)
	}
	changed := ecs.NewQuery(w, ecs.With(burning), ecs.Read(position), ecs.Changed(position))
	shownBy(changed)
	require.Empty(t, shownBy(changed))
	position.Mut(burning.Entities()[0])
	position.Mut(ids[0])
	since := changed.Since()
	driveBy(changed, query.DriveByChunks)
	want := shownBy(changed)
	changed.SetSince(since)
	driveBy(changed, query.DriveBySet)
	require.Equal(t, want, shownBy(changed))
}

// checkSplit: the ranges of jobs by the set are those by chunks that have an entry, and show as
// many matching rows.
func checkSplit(t *testing.T, q *ecs.Query) {
	t.Helper()
	matching := map[query.Driver]int{}
	ranges := map[query.Driver][]query.RowRange{}
	for _, d := range []query.Driver{query.DriveByChunks, query.DriveBySet} {
		driveBy(q, d)
		b := door.NewBorrow(q, "the test", func(string) {})
		ecstest.Begin(b)
		ranges[d] = ecstest.Split(b, nil, 128)
		r := ecstest.AccessorOf(b)
		for _, p := range ranges[d] {
			if rows, ok := ecstest.RowsOf(r, p); ok {
				matching[d] += rows.Count()
			}
		}
		b.End()
	}
	require.Equal(t, matching[query.DriveByChunks], matching[query.DriveBySet])
	require.Equal(t, q.Count(), matching[query.DriveBySet])
	require.Less(t, len(ranges[query.DriveBySet]), len(ranges[query.DriveByChunks]))
	require.Subset(t, ranges[query.DriveByChunks], ranges[query.DriveBySet])
}

// driven is a world with types of the kinds that terms take, for queries with random terms.
type driven struct {
	*rand.Rand
	w        *ecs.World
	position ecs.Component[ecstest.Position] // has versions of rows
	stun     ecs.Component[ecstest.Stun]     // has bits
	tag      ecs.Component[ecstest.Tag]
	team     ecs.Shared[int]
	burning  ecs.Sparse[ecstest.Burning]
	marked   ecs.Sparse[ecstest.Marked] // has bits
	ids      []ecs.Entity
}

func newDriven(t *testing.T) *driven {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	x := &driven{rand.New(rand.NewPCG(3, 4)), w, ecs.Register[ecstest.Position](w, ecs.TrackRows),
		ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.Register[ecstest.Tag](w),
		ecs.RegisterShared[int](w), ecs.RegisterSparse[ecstest.Burning](w),
		ecs.RegisterSparse[ecstest.Marked](w, ecs.Enableable), nil}
	for _, types := range [][]ecs.Type{
		{x.position}, {x.stun, x.team.Of(0)}, {x.position, x.stun, x.tag}, {x.position, x.team.Of(1)},
	} {
		b, err := ecs.NewArchetype(w, types...).CreateN(1000)
		require.NoError(t, err)
		x.ids = b.Entities(x.ids)
	}
	return x
}

// step changes some entities.
func (x *driven) step() {
	for range 40 {
		switch e := x.ids[x.IntN(len(x.ids))]; x.IntN(5) {
		case 0:
			_ = x.burning.Add(e, ecstest.Burning{}) || x.burning.Remove(e)
		case 1:
			_ = x.marked.Add(e, ecstest.Marked{}) || x.marked.Disable(e) || x.marked.Remove(e)
		case 2:
			_ = x.stun.Has(e) && (x.stun.Disable(e) || x.stun.Enable(e))
		case 3:
			_ = x.tag.Add(e, ecstest.Tag{}) || x.tag.Remove(e)
		case 4:
			if p := x.position.Mut(e); p != nil {
				p.X = x.Float64()
			}
		}
	}
}

// term returns a random term over a type, or none.
func (x *driven) term(of ecs.Operand, enableable bool) (terms []ecs.Term) {
	c := of.(ecs.Type)
	terms = []ecs.Term{ecs.Read(c), ecs.With(c), ecs.Present(of), ecs.Optional(ecs.Read(c)), ecs.Any(of, x.position),
		ecs.Without(c), ecs.Absent(c)}
	if enableable {
		terms = append(terms, ecs.Disabled(of))
	}
	n := x.IntN(2 * len(terms))
	return terms[min(n, len(terms)):min(n+1, len(terms))]
}

// query returns a query with random terms, one of which requires a sparse type.
func (x *driven) query() *ecs.Query {
	axis := func(p *ecstest.Position) *float64 { return &p.X }
	changed, between := ecs.Changed(x.position), ecs.Between(x.position, axis, 0, 0.3)
	needs := [][]ecs.Term{{ecs.Read(x.burning)}, {ecs.With(x.burning, x.marked)}, {ecs.Present(x.burning)},
		{ecs.Write(x.marked)}, {ecs.Disabled(x.marked)}}
	terms := needs[x.IntN(len(needs))]
	terms = append(terms, x.term(x.stun, true)...)
	terms = append(terms, x.term(x.tag, false)...)
	for _, of := range [][]ecs.Term{{changed, changed.Masked()}, {between, between.Masked()}, {ecs.Changed(x.burning)},
		{ecs.Ordered()}, {ecs.Where(x.team.Of(x.IntN(2)))}} {
		if x.IntN(4) == 0 {
			terms = append(terms, of[x.IntN(len(of))])
		}
	}
	return ecs.NewQuery(x.w, terms...)
}

// TestSparseDriversOfRandomTerms: as TestSparseDrivers, for random terms with filters by version,
// order, value and range, while entities change.
func TestSparseDriversOfRandomTerms(t *testing.T) {
	x := newDriven(t)
	shown, filtered := 0, 0
	for range long.N(300, 3000) {
		x.step()
		q := x.query()
		since := x.w.Version() - uint32(x.IntN(4))
		show := func(d query.Driver) []string {
			driveBy(q, d)
			q.SetSince(since)
			return shownBy(q)
		}
		want := show(query.DriveByChunks)
		require.Equal(t, want, show(query.DriveBySet), "%v", q)
		require.Equal(t, want, show(query.DriveBySize), "%v", q)
		if q.SetSince(0); len(want) > 0 {
			shown++
		} else if len(shownBy(q)) > 0 {
			filtered++ // by version
		}
		q.Close()
	}
	require.Greater(t, shown, 150)
	require.Greater(t, filtered, 20)
	require.NoError(t, x.w.Verify())
}

// driveBy sets what the loops of a query, and the parts of jobs over it, go through.
func driveBy(q *ecs.Query, d query.Driver) { ecstest.QueryOf(q).Driver = d }
