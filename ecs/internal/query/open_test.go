package query_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// asking is a world with some of everything that terms can ask for.
type asking struct {
	w      *ecs.World
	rng    *rand.Rand
	labels []ecs.Type
	cell   ecs.Shared[int]
	walk   ecs.Component[ecstest.Stun]
}

func newAsking(t testing.TB, seed uint64, labels int) *asking {
	w := ecstest.NewWorld(t)
	return &asking{w, rand.New(rand.NewPCG(seed, 31)), ecstest.LabelsOf(w, labels), ecs.RegisterShared[int](w),
		ecs.Register[ecstest.Stun](w, ecs.Enableable)}
}

// some returns up to n different labels.
func (a *asking) some(n int) (types []ecs.Type) {
	for _, i := range a.rng.Perm(len(a.labels))[:1+a.rng.IntN(n)] {
		types = append(types, a.labels[i])
	}
	return types
}

// terms returns terms of some kinds, each about labels of its own.
func (a *asking) terms() (terms []ecs.Term) {
	var values []ecs.SharedValue
	for range 1 + a.rng.IntN(3) {
		values = append(values, a.cell.Of(a.rng.IntN(5)))
	}
	types := a.some(6)
	take := func(n int) []ecs.Type {
		n = min(n, len(types))
		taken := types[:n]
		types = types[n:]
		return taken
	}
	for kind := range 6 {
		of := take(a.rng.IntN(3))
		if a.rng.IntN(2) == 0 || len(of) == 0 && kind < 4 {
			continue
		}
		switch kind {
		case 0:
			terms = append(terms, ecs.With(of...))
		case 1:
			terms = append(terms, ecs.Without(of...))
		case 2:
			terms = append(terms, ecs.Any(operands(of)...))
		case 3:
			terms = append(terms, ecs.Optional(operands(of)...))
		case 4:
			terms = append(terms, ecs.Where(values...))
		case 5:
			terms = append(terms, ecs.Disabled(a.walk))
		}
	}
	a.rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	return terms
}

func operands(types []ecs.Type) (list []ecs.Operand) {
	for _, t := range types {
		list = append(list, t)
	}
	return list
}

// archetype makes one of some labels, and perhaps of a value and bits.
func (a *asking) archetype() *ecs.Archetype {
	types := a.some(8)
	if a.rng.IntN(2) == 0 {
		types = append(types, a.cell.Of(a.rng.IntN(5)))
	}
	if a.rng.IntN(3) == 0 {
		types = append(types, a.walk)
	}
	return ecs.NewArchetype(a.w, types...)
}

// TestArchetypesFindTheirQueries opens and closes queries of all kinds of terms while archetypes
// come and go. Candidates, and Verify (M1-M5), compare all with all.
func TestArchetypesFindTheirQueries(t *testing.T) {
	a := newAsking(t, 1, 9)
	var open []*ecs.Query
	for i := range ecstest.StepsOf(2000) {
		switch a.rng.IntN(8) {
		case 0, 1, 2:
			if len(open) > 60 {
				break
			}
			open = append(open, ecs.NewQuery(a.w, a.terms()...))
		case 3, 4:
			if n := len(open); n > 0 {
				i := a.rng.IntN(n)
				open[i].Close()
				open[i], open = open[n-1], open[:n-1]
			}
		case 5:
			a.archetype().Create()
		case 6:
			forgetAfter(a.w, func() { a.archetype() })
		case 7: // archetypes that nobody holds go
			e := ecs.NewArchetype(a.w).Create()
			_, err := ecs.NewChange(a.w, ecs.Add(append(a.some(8), a.cell.Of(a.rng.IntN(5)))...)).Apply(e)
			require.NoError(t, err)
			if a.rng.IntN(4) == 0 {
				a.w.Clear()
				a.w.Shrink(0)
			}
		}
		if i%16 == 0 {
			require.NoError(t, a.w.Verify())
		}
		looked, wanting, all := candidates(a.w, a.archetype())
		require.True(t, wanting <= looked && looked <= all)
	}
	require.NoError(t, a.w.Verify())
	for _, q := range open {
		q.Close()
	}
	require.Zero(t, matchingsOf(a.w))
}

// TestArchetypesAskFewQueries: of many queries that are open an archetype looks at those that ask
// for a type or value of its own, and at no other; for each query it is in one list or few.
func TestArchetypesAskFewQueries(t *testing.T) {
	a := newAsking(t, 2, 1000)
	const each = 2000
	for i := range each {
		one, two, three := a.labels[i%300], a.labels[300+i*7%300], a.labels[600+i*13%300]
		common := ecs.With(one, a.labels[999-i/1000]) // all have one of two types: those do not fill up
		for _, q := range []*ecs.Query{
			ecs.NewQuery(a.w, common, ecs.Absent(a.walk)),
			ecs.NewQuery(a.w, ecs.Read(two), ecs.Without(three), ecs.Without(a.walk)),
			ecs.NewQuery(a.w, ecs.Any(operands([]ecs.Type{one, three})...), ecs.Absent(a.labels[900+i*17%80])),
			ecs.NewQuery(a.w, ecs.Where(a.cell.Of(i))),
		} {
			defer q.Close()
		}
	}
	for _, c := range []struct {
		most  int
		types []ecs.Type
	}{
		{0, nil},
		{20, []ecs.Type{a.labels[3]}},
		{60, []ecs.Type{a.labels[3], a.labels[500], a.labels[999]}},
		{1, []ecs.Type{a.cell.Of(77)}},
		{0, []ecs.Type{a.cell.Of(-1)}},
		{0, []ecs.Type{a.walk}},
	} {
		looked, wanting, all := candidates(a.w, ecs.NewArchetype(a.w, c.types...))
		require.Greater(t, all, 2*each)
		require.LessOrEqual(t, wanting, looked)
		require.LessOrEqual(t, looked, c.most, "%v", c.types)
	}
}

// TestVeryManyOpenQueries opens queries that all ask for something else, and closes them: those
// that came first, those that came last, and the rest in no order. With a search for each it would
// not end.
func TestVeryManyOpenQueries(t *testing.T) {
	n := long.N(50_000, 1_000_000) // the few would take a minute too
	w := ecstest.NewWorld(t)
	labels := ecstest.LabelsOf(w, 1020) // with the four built-in ones, all that there may be
	queries := pairs(w, labels, n)
	require.Equal(t, n, matchingsOf(w))
	a := ecs.NewArchetype(w, labels[3], labels[5])
	looked, wanting, _ := candidates(w, a)
	require.LessOrEqual(t, looked, 2*(n/len(labels)+1))
	require.LessOrEqual(t, wanting, looked)
	a.Create()
	require.Equal(t, 1, queries[3].Count())
	require.Zero(t, queries[4].Count())
	rng := rand.New(rand.NewPCG(9, 9))
	last := queries[2*n/3:]
	rest := queries[n/3 : 2*n/3]
	rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	for _, q := range queries[:n/3] {
		q.Close()
	}
	for i := range last {
		last[len(last)-1-i].Close()
	}
	require.Equal(t, len(rest), matchingsOf(w))
	for _, q := range rest {
		q.Close()
	}
	require.Zero(t, matchingsOf(w))
	looked, _, _ = candidates(w, ecs.NewArchetype(w, labels[3]))
	require.Zero(t, looked)
}

// TestQueriesOfAllTypes: a world with a thousand types, of 1,024 that there may be, has queries for
// each of them and for all, in terms of each kind; they are closed and made again.
func TestQueriesOfAllTypes(t *testing.T) {
	t.Parallel()
	w := ecstest.NewWorld(t)
	const n = 1000
	var types []ecs.Type
	for i := range n {
		types = append(types, ecstest.RegisterBit(w, reflect.ArrayOf(i, reflect.TypeFor[struct{}]())))
	}
	for _, of := range [][]ecs.Type{types, types[:n/2], nil} {
		ecs.NewArchetype(w, of...).Create()
	}
	for _, of := range types {
		ecs.NewArchetype(w, of).Create()
	}
	var reads, writes []ecs.Term
	for _, of := range types {
		reads, writes = append(reads, ecs.Read(of)), append(writes, ecs.Write(of))
	}
	for range 3 {
		var each []*ecs.Query
		for i, of := range types {
			q := ecs.NewQuery(w, ecs.Read(of), ecs.Disabled(types[(i+1)%n]))
			each = append(each, ecs.NewQuery(w, ecs.Write(of)), q)
			require.Zero(t, q.Count())
			want := 2 // the type alone, and with all
			if i < n/2 {
				want++
			}
			require.Equal(t, want, each[2*i].Count())
		}
		require.Equal(t, 2*n, matchingsOf(w))
		for name, c := range map[string]struct {
			terms []ecs.Term
			want  int
		}{
			"Read":     {reads, 1},
			"Write":    {writes, 1},
			"With":     {[]ecs.Term{ecs.With(types...)}, 1},
			"Without":  {[]ecs.Term{ecs.Without(types...)}, 1},
			"Absent":   {[]ecs.Term{ecs.Absent(types...)}, 1},
			"Any":      {[]ecs.Term{ecs.Any(operands(types)...)}, n + 2},
			"Optional": {[]ecs.Term{ecs.Optional(operands(types)...)}, n + 3},
			"Present":  {[]ecs.Term{ecs.Present(operands(types)...)}, 1},
			"Disabled": {[]ecs.Term{ecs.Disabled(operands(types)...)}, 0},
			"Changed":  {[]ecs.Term{ecs.Changed(types...)}, n + 3},
			"mixed":    {[]ecs.Term{ecs.With(types[:n/2]...), ecs.Without(types[n/2:]...)}, 1},
		} {
			q := ecs.NewQuery(w, c.terms...)
			require.Equal(t, c.want, q.Count(), name)
			rows := 0
			for r := range q.Rows() {
				rows += r.Len()
			}
			require.Equal(t, c.want, rows, name)
			q.Close()
		}
		require.NoError(t, w.Verify())
		for _, q := range each {
			q.Close()
		}
		require.Zero(t, matchingsOf(w))
	}
}
