package query_test

import (
	"fmt"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

type c0 struct{ V int64 }
type c1 struct{ V int64 }
type c2 struct{ V int32 }
type c3 struct{}

// TestTermsTruthTable makes an archetype for each subset of four types and runs every combination
// of terms over them, against a plain test of membership.
func TestTermsTruthTable(t *testing.T) {
	w := ecstest.NewWorld(t)
	types := []ecs.Type{ecs.Register[c0](w), ecs.Register[c1](w), ecs.Register[c2](w), ecs.Register[c3](w)}
	setOf := map[ecs.Entity]int{}
	build := func(set int) {
		var have []ecs.Type
		for i, c := range types {
			if set>>i&1 != 0 {
				have = append(have, c)
			}
		}
		for range 3 {
			setOf[ecs.NewArchetype(w, have...).Create()] = set
		}
	}
	for set := range 8 { // the other half comes after the queries are made
		build(set)
	}
	type asked struct {
		q     *ecs.Query
		kinds [4]int // 0 none, 1 Read, 2 Write, 3 With, 4 Without
	}
	var queries []asked
	for code := range 5 * 5 * 5 * 5 {
		var a asked
		var terms []ecs.Term
		for i, c := range types {
			a.kinds[i] = code % 5
			code /= 5
			switch a.kinds[i] {
			case 1:
				terms = append(terms, ecs.Read(c))
			case 2:
				terms = append(terms, ecs.Write(c))
			case 3:
				terms = append(terms, ecs.With(c))
			case 4:
				terms = append(terms, ecs.Without(c))
			}
		}
		a.q = ecs.NewQuery(w, terms...)
		queries = append(queries, a)
	}
	for set := 8; set < 16; set++ {
		build(set)
	}
	for _, a := range queries {
		want := map[ecs.Entity]bool{}
		for e, set := range setOf {
			ok := true
			for i, k := range a.kinds {
				has := set>>i&1 != 0
				ok = ok && !(k >= 1 && k <= 3 && !has) && !(k == 4 && has)
			}
			if ok {
				want[e] = true
			}
		}
		got := map[ecs.Entity]bool{}
		for rows := range a.q.Rows() {
			for i := range rows.Each() {
				e := rows.Entities()[i]
				require.False(t, got[e], "%v came twice", e)
				got[e] = true
			}
		}
		require.Equal(t, want, got, "%v", a.q)
		require.Equal(t, len(want), a.q.Count())
	}
	require.NoError(t, w.Verify())
}

// TestEnabledPatterns disables every m-th of n entities in one or two types and compares masks,
// runs and counts with the plain test.
func TestEnabledPatterns(t *testing.T) {
	for _, n := range []int{1, 64, 100, 128, 200, 1024} {
		for _, m := range []int{1, 2, 3, 7, 8, 10, 64, 256} {
			for _, both := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d by %d, both types: %v", n, m, both), func(t *testing.T) {
					w := ecstest.NewWorld(t)
					stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
					health := ecs.Register[ecstest.Health](w, ecs.Enableable)
					batch, err := ecs.NewArchetype(w, stun, health).CreateN(n)
					require.NoError(t, err)
					var ids []ecs.Entity
					for rows := range batch.Rows() {
						ids = append(ids, rows.Entities()...)
					}
					on := func(i int) bool { return i%m != 0 && (!both || i%5 != 0) }
					stays := func(i int) bool { return i%m == 0 }
					for i, e := range ids {
						if i%m == 0 {
							require.True(t, stun.Disable(e))
							require.False(t, stun.Enabled(e))
							require.True(t, stun.Has(e), "a disabled component is still there")
						}
						if both && i%5 == 0 {
							require.True(t, health.Disable(e))
						}
					}
					terms := []ecs.Term{ecs.Write(stun)}
					if both {
						terms = append(terms, ecs.With(health))
					}
					checkMask(t, ecs.NewQuery(w, terms...), ids, on)
					checkMask(t, ecs.NewQuery(w, ecs.Without(stun)), ids, stays)
					require.NoError(t, w.Verify())
				})
			}
		}
	}
}

func checkMask(t *testing.T, q *ecs.Query, ids []ecs.Entity, want func(int) bool) {
	t.Helper()
	index := map[ecs.Entity]int{}
	matching := 0
	for i, e := range ids {
		index[e] = i
		if want(i) {
			matching++
		}
	}
	require.Equal(t, matching, q.Count())
	seen := 0
	for rows := range q.Rows() {
		e := rows.Entities()
		each := slices.Collect(rows.Each())
		var byMask, byRuns []int
		for i := range rows.Len() {
			bit := rows.Mask()[i/64]>>(i%64)&1 != 0
			require.Equal(t, want(index[e[i]]), bit, "row %d", i)
			if bit {
				byMask = append(byMask, i)
			}
		}
		last := -1
		for lo, hi := range rows.Runs() {
			require.True(t, lo > last && hi > lo && hi <= rows.Len(), "runs are the longest ones: [%d, %d) after %d",
				lo, hi, last)
			last = hi
			for i := lo; i < hi; i++ {
				byRuns = append(byRuns, i)
			}
		}
		require.Equal(t, byMask, each)
		require.Equal(t, byMask, byRuns)
		require.Equal(t, len(each), rows.Count())
		require.Equal(t, len(each) == rows.Len(), rows.Dense())
		seen += len(each)
	}
	require.Equal(t, matching, seen)
}

// TestEnableBitsFollowTheRow moves and destroys rows around disabled ones.
func TestEnableBitsFollowTheRow(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun, position := ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, stun)
	off := map[ecs.Entity]bool{}
	var ids []ecs.Entity
	for i := range 3000 {
		e := a.Create()
		ids = append(ids, e)
		if i%3 == 0 {
			stun.Disable(e)
			off[e] = true
		}
	}
	for i, e := range ids {
		switch i % 5 {
		case 0:
			w.Destroy(e)
		case 1:
			position.Add(e, ecstest.Position{X: 1, Y: 1})
		}
	}
	require.NoError(t, w.Verify())
	for _, e := range ids {
		if w.Alive(e) {
			require.Equal(t, !off[e], stun.Enabled(e))
		}
	}
	again := a.Create()
	require.True(t, stun.Enabled(again), "new ones are enabled")
	require.False(t, stun.Enabled(ecs.Null))
}

// TestMaskIsASnapshot toggles rows ahead of the loop.
func TestMaskIsASnapshot(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	a := ecs.NewArchetype(w, stun)
	for range 200 {
		a.Create()
	}
	first := ecs.NewQuery(w, ecs.Read(stun))
	seen := 0
	for rows := range first.Rows() {
		e := rows.Entities()
		stun.Disable(e[0])
		for i := range rows.Each() {
			stun.Disable(e[i])
			if i+1 < len(e) {
				stun.Disable(e[i+1])
			}
			seen++
		}
	}
	require.Equal(t, 200, seen)
	require.Zero(t, first.Count())
}

func TestChangeVersions(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	e := ecs.NewArchetype(w, position, velocity).Create()
	writes := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	changed := func(since uint32) (p, v bool) {
		for rows := range ecs.NewQuery(w, ecs.Read(position), ecs.Read(velocity)).Rows() {
			p, v = position.Changed(rows, since), velocity.Changed(rows, since)
		}
		return p, v
	}
	p, v := changed(0)
	require.True(t, p && v, "everything has changed since 0")
	since := w.Version()
	w.Advance()
	p, v = changed(since)
	require.False(t, p || v)
	for rows := range writes.Rows() {
		velocity.Slice(rows)
	}
	p, v = changed(since)
	require.False(t, p || v, "taking a slice to read marks nothing")
	for rows := range writes.Rows() {
		position.Slice(rows)
	}
	p, v = changed(since)
	require.True(t, p)
	require.False(t, v)
	since = w.Version()
	w.Advance()
	position.Get(e)
	p, _ = changed(since)
	require.False(t, p)
	velocity.Mut(e)
	_, v = changed(since)
	require.True(t, v)
	since = w.Version()
	w.Advance()
	ecs.NewArchetype(w, position, velocity).Create()
	p, v = changed(since)
	require.True(t, p && v, "a row that came marks every type of its chunk")
}

func TestNestedLoops(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	batch, err := ecs.NewArchetype(w, position).CreateN(1500)
	require.NoError(t, err)
	_ = batch
	q := ecs.NewQuery(w, ecs.Read(position))
	pairs := 0
	for outer := range q.Rows() {
		for inner := range q.Rows() {
			pairs += len(position.Slice(outer)) * len(position.Slice(inner))
			if inner.Len() < 100 {
				break
			}
		}
	}
	require.Equal(t, 1500*1500, pairs)
	ecs.NewArchetype(w).Create() // unlocked again
}

func TestQueryAllocatesNothing(t *testing.T) {
	w, position, velocity, _ := ecstest.Movers(t, 5000)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for rows := range q.Rows() {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range rows.Each() {
				p[i].X += v[i].X
			}
		}
	}))
	a := ecs.NewArchetype(w, position, velocity)
	e := a.Create()
	require.Zero(t, testing.AllocsPerRun(100, func() { position.Get(e).X++ }))
	unset := ecs.Uninitialized(position)
	ids := make([]ecs.Entity, 0, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		ids = ids[:0]
		batch, _ := a.CreateN(100, unset)
		for rows := range batch.Rows() {
			ids = append(ids, rows.Entities()...)
		}
		for _, e := range ids {
			w.Destroy(e)
		}
	}))
}

func TestQueryPrints(t *testing.T) {
	w := ecstest.NewWorld(t)
	q := ecs.NewQuery(w, ecs.Write(ecs.Register[ecstest.Position](w)), ecs.Without(ecs.Register[ecstest.Tag](w)),
		ecs.Read(ecs.RegisterBuffer[ecstest.Hit](w)))
	require.Equal(t, "query(Write Position, Without Tag, Read []Hit)", fmt.Sprint(q))
}

func TestQueryKeepsItsOwnTerms(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	terms := []ecs.Term{ecs.Write(position)}
	q := ecs.NewQuery(w, terms...)
	terms[0] = ecs.Write(velocity)
	ecs.NewArchetype(w, position, velocity).Create()
	for rows := range q.Rows() {
		require.Len(t, position.Slice(rows), 1)
	}
	require.Equal(t, "query(Write Position)", q.String())
}

// TestTermsTwice: a term that names no type may stand twice, and beside one that names the tag, as
// may a value in a Where: the query is that of the term once. Types may not.
func TestTermsTwice(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	prefab := ecs.Register[ecs.Prefab](w)
	disabled := ecs.Register[ecs.DisabledEntity](w)
	team := ecs.RegisterShared[string](w)
	for _, types := range [][]ecs.Type{
		{position}, {position, prefab}, {position, disabled}, {position, prefab, disabled}, {position, team.Of("red")},
	} {
		ecs.NewArchetype(w, types...).Create()
	}
	for _, c := range []struct{ once, twice []ecs.Term }{
		{[]ecs.Term{ecs.IncludePrefabs()}, []ecs.Term{ecs.IncludePrefabs(), ecs.IncludePrefabs()}},
		{[]ecs.Term{ecs.IncludeDisabled()}, []ecs.Term{ecs.IncludeDisabled(), ecs.IncludeDisabled()}},
		{[]ecs.Term{ecs.With(prefab)}, []ecs.Term{ecs.IncludePrefabs(), ecs.With(prefab), ecs.IncludePrefabs()}},
		{[]ecs.Term{ecs.Without(disabled)}, []ecs.Term{ecs.Without(disabled), ecs.IncludeDisabled()}},
		{[]ecs.Term{ecs.Ordered()}, []ecs.Term{ecs.Ordered(), ecs.Ordered()}},
		{[]ecs.Term{ecs.Where(team.Of("red"))}, []ecs.Term{ecs.Where(team.Of("red"), team.Of("red"))}},
	} {
		once, twice := ecs.NewQuery(w, c.once...), ecs.NewQuery(w, c.twice...)
		require.Equal(t, once.Entities(nil), twice.Entities(nil), "%v", twice)
		require.NotEmpty(t, once.Entities(nil), "%v", once)
		require.True(t, sharesMatching(once, twice), "%v", twice)
	}
	for text, terms := range map[string][]ecs.Term{
		"ecs: NewQuery: string is in two terms":           {ecs.Where(team.Of("red")), ecs.Where(team.Of("blue"))},
		"ecs: NewQuery: Position is in two Changed terms": {ecs.Changed(position), ecs.Changed(position)},
		"ecs: NewQuery: Changed names Position twice":     {ecs.Changed(position, position)},
		"ecs: NewQuery: Prefab is in two terms":           {ecs.With(prefab), ecs.Without(prefab)},
	} {
		require.PanicsWithValue(t, text, func() { ecs.NewQuery(w, terms...) })
	}
}

// TestDenseIsOfTheTerms: only Enableable types, sparse types and Masked terms leave rows of a chunk
// out, so that a loop over a slice would visit rows that do not match.
func TestDenseIsOfTheTerms(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, tag := ecs.Register[ecstest.Position](w), ecs.Register[Awake](w)
	health := ecs.Register[ecstest.Health](w, ecs.Enableable)
	burning := ecs.RegisterSparse[ecstest.Burning](w)
	batch, err := ecs.NewArchetype(w, position, health, tag).CreateN(100)
	require.NoError(t, err)
	list := batch.Entities(nil)
	for i, e := range list {
		position.Set(e, ecstest.Position{X: float64(i)})
	}
	health.Disable(list[3])
	burning.Add(list[4], ecstest.Burning{})
	near := func() ecs.Term {
		return ecs.Between(position, func(p *ecstest.Position) *float64 { return &p.X }, 0, 10)
	}
	for name, c := range map[string]struct {
		terms []ecs.Term
		count int // of rows that match
		dense bool
	}{
		"components and tags":     {[]ecs.Term{ecs.Write(position), ecs.With(tag)}, 100, true},
		"changed":                 {[]ecs.Term{ecs.Write(position), ecs.Changed(position), ecs.Ordered()}, 100, true},
		"a range":                 {[]ecs.Term{ecs.Read(position), near()}, 100, true},
		"a masked range":          {[]ecs.Term{ecs.Read(position), near().Masked()}, 11, false},
		"an Enableable type":      {[]ecs.Term{ecs.Read(position), ecs.With(health)}, 99, false},
		"a sparse type":           {[]ecs.Term{ecs.Read(position), ecs.With(burning)}, 1, false},
		"without the sparse type": {[]ecs.Term{ecs.Read(position), ecs.Without(burning)}, 99, false},
	} {
		for rows := range ecs.NewQuery(w, c.terms...).Rows() {
			require.Equal(t, c.dense, rows.Dense(), name)
			require.Equal(t, c.count, rows.Count(), name)
			require.Len(t, position.ReadOnly(rows), 100, name)
		}
	}
}
