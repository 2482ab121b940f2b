package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBehaviour45StartEnabled: new enableable components are enabled, however they came; Has is
// true while disabled; Add on a disabled one is a no-op.
func TestBehaviour45StartEnabled(t *testing.T) {
	w := ecstest.NewWorld(t)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	mark := ecs.Register[c3](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Enableable)
	a := ecs.NewArchetype(w, stun, mark, hits)
	enabled := func(e ecs.Entity) []bool { return []bool{stun.Enabled(e), mark.Enabled(e), hits.Enabled(e)} }
	all, none := []bool{true, true, true}, []bool{false, false, false}
	e := a.Create()
	require.Equal(t, all, enabled(e))
	batch, err := a.CreateN(100)
	require.NoError(t, err)
	for rows := range batch.Rows() {
		for _, e := range rows.Entities() {
			require.Equal(t, all, enabled(e))
		}
	}
	e = ecs.NewArchetype(w).Create()
	require.Equal(t, none, enabled(e), "what is missing is not enabled")
	require.False(t, stun.Enable(e) || stun.Disable(e))
	require.True(t, stun.Add(e, ecstest.Stun{Left: 3}) && mark.Add(e, c3{}) && hits.Add(e))
	require.Equal(t, all, enabled(e))
	require.True(t, stun.Disable(e) && mark.Disable(e) && hits.Disable(e))
	require.True(t, stun.Disable(e), "true says that it has the component, not that it changed")
	require.Equal(t, none, enabled(e))
	require.True(t, stun.Has(e) && mark.Has(e) && hits.Has(e))
	require.Equal(t, ecstest.Stun{Left: 3}, *stun.Get(e))
	require.True(t, hits.Append(e, ecstest.Hit{Damage: 1}))
	require.False(t, stun.Add(e, ecstest.Stun{Left: 4}) || mark.Add(e, c3{}) || hits.Add(e))
	require.Equal(t, none, enabled(e))
	require.Equal(t, ecstest.Stun{Left: 3}, *stun.Get(e))
	require.True(t, stun.Remove(e) && stun.Add(e, ecstest.Stun{Left: 5}))
	require.True(t, stun.Enabled(e), "a component that comes back is new")
	require.Equal(t, []bool{false, false}, enabled(e)[1:], "the others keep their bits in a move")
	w.Destroy(e)
	require.Equal(t, none, enabled(e))
	require.False(t, stun.Enable(e) || stun.Disable(e))
	require.Equal(t, all, enabled(a.Create()), "a row that was used before")
}

// TestBehaviour46Patterns: every m-th of n entities disabled in one or two types, under every kind
// of term.
func TestBehaviour46Patterns(t *testing.T) {
	sizes := []int{1, 64, 100, 128, 200, 1024, 20_000}
	if testing.Short() {
		sizes = []int{1, 64, 100, 128, 200, 1024}
	}
	for _, n := range sizes {
		for _, m := range []int{1, 2, 3, 7, 8, 10, 64, 256, 1024} {
			for _, g := range []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)} {
				disablePattern(t, n, m, g)
			}
		}
	}
}

func disablePattern(t *testing.T, n, m int, g alloc.Growth) {
	w, err := ecs.NewWorld(ecs.ChunkGrowth(g))
	require.NoError(t, err)
	defer w.Close()
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	health := ecs.Register[ecstest.Health](w, ecs.Enableable)
	position := ecs.Register[ecstest.Position](w)
	ids := ecstest.CreateEach(ecs.NewArchetype(w, stun, health, position), n)
	one := func(i int) bool { return i%m != 0 }
	two := func(i int) bool { return i%5 != 0 }
	for i, e := range ids {
		if !one(i) {
			stun.Disable(e)
		}
		if !two(i) {
			health.Disable(e)
		}
	}
	require.NoError(t, w.Verify())
	for _, c := range []struct {
		terms []ecs.Term
		want  func(int) bool
	}{
		{[]ecs.Term{ecs.Read(stun)}, one},
		{[]ecs.Term{ecs.Write(stun), ecs.With(health)}, func(i int) bool { return one(i) && two(i) }},
		{[]ecs.Term{ecs.Without(stun)}, func(i int) bool { return !one(i) }},
		{[]ecs.Term{ecs.Without(stun, health)}, func(i int) bool { return !one(i) && !two(i) }},
		{[]ecs.Term{ecs.Without(stun), ecs.Read(health)}, func(i int) bool { return !one(i) && two(i) }},
		{[]ecs.Term{ecs.Disabled(stun)}, func(i int) bool { return !one(i) }},
		{[]ecs.Term{ecs.Disabled(ecs.Write(stun), health)}, func(i int) bool { return !one(i) && !two(i) }},
		{[]ecs.Term{ecs.Any(stun, health)}, func(i int) bool { return one(i) || two(i) }},
		{[]ecs.Term{ecs.Any(stun, position)}, func(int) bool { return true }},
		{[]ecs.Term{ecs.Any(stun), ecs.Any(health)}, func(i int) bool { return one(i) && two(i) }},
		{[]ecs.Term{ecs.Optional(stun), ecs.Present(health)}, func(int) bool { return true }},
		{[]ecs.Term{ecs.Optional(stun), ecs.Disabled(health)}, func(i int) bool { return !two(i) }},
	} {
		checkPattern(t, ecs.NewQuery(w, c.terms...), ids, c.want)
	}
	one = func(int) bool { return true }
	for _, e := range ids { // and back
		stun.Enable(e)
	}
	checkPattern(t, ecs.NewQuery(w, ecs.Read(stun)), ids, one)
	require.NoError(t, w.Verify())
}

// checkPattern compares a query's rows, by all ways to walk them, with a test of the entities in
// order of creation.
func checkPattern(t *testing.T, q *ecs.Query, ids []ecs.Entity, want func(int) bool) {
	t.Helper()
	at, matching := 0, 0 // rows are in order of creation, but chunks without a match are not yielded
	for rows := range q.Rows() {
		e := rows.Entities()
		for ids[at] != e[0] {
			require.False(t, want(at), "%v: entity %d is not yielded", q, at)
			at++
		}
		var each, runs, plain []int
		for i := range rows.Each() {
			each = append(each, i)
		}
		last := -1
		for lo, hi := range rows.Runs() {
			require.True(t, last < lo && lo < hi && hi <= rows.Len(),
				"%v: run [%d, %d) after %d is empty or joins the last", q, lo, hi, last)
			for i := lo; i < hi; i++ {
				runs = append(runs, i)
			}
			last = hi
		}
		for i := range rows.Len() {
			if want(at + i) {
				plain = append(plain, i)
			}
		}
		if !slices.Equal(plain, each) || !slices.Equal(plain, runs) || rows.Count() != len(plain) ||
			rows.Dense() != (len(plain) == rows.Len()) {
			t.Fatalf("%v: from entity %d on got %v, runs %v want %v; Count %d, Dense %v",
				q, at, each, runs, plain, rows.Count(), rows.Dense())
		}
		at += rows.Len()
		matching += len(plain)
	}
	for ; at < len(ids); at++ {
		require.False(t, want(at), "%v: entity %d is not yielded", q, at)
	}
	require.Equal(t, matching, q.Count(), "%v", q)
}

// TestBehaviour47MaskAlgebra: rows with all eight combinations of three bits, in one chunk, under
// all combinations of terms.
func TestBehaviour47MaskAlgebra(t *testing.T) {
	x := newTruth(t)
	for i := range 500 { // one archetype: the masks alone decide
		x.create(1<<5-1, i*i%8)
	}
	for code := range 7 * 7 * 7 {
		kinds := []uint8{askNothing, askWith, askWithout, askAny, askAny2, askPresent, askDisabled}
		ask := [5]uint8{kinds[code%7], kinds[code/7%7], kinds[code/49], askOptional, askNothing}
		q := x.query(&ask, code)
		if why := x.check(q, &ask); why != "" {
			t.Fatal(why)
		}
		q.Close()
	}
}

// TestBehaviour48BitsFollowRows: bits go with their row when another is destroyed or moved before,
// in or behind it, when chunks are released, and in moves by Add and Remove.
func TestBehaviour48BitsFollowRows(t *testing.T) {
	for _, g := range []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)} {
		for _, from := range []string{"front", "middle", "end", "every third", "moved"} {
			t.Run(fmt.Sprint(g, " ", from), func(t *testing.T) {
				w := ecstest.NewWorld(t, ecs.ChunkGrowth(g))
				stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
				hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Enableable, ecs.Inline(2))
				position := ecs.Register[ecstest.Position](w)
				a := ecs.NewArchetype(w, stun, hits)
				n := 4*a.Plan().Rows + 3
				off := map[ecs.Entity][2]bool{}
				var ids []ecs.Entity
				for i := range n {
					e := a.Create()
					ids = append(ids, e)
					off[e] = [2]bool{i%3 == 0, i%7 == 0}
					_ = off[e][0] && stun.Disable(e)
					_ = off[e][1] && hits.Disable(e)
				}
				chunks := w.Stats().Chunks
				for i := range n - n/8 {
					at := 0
					switch from {
					case "middle":
						at = len(ids) / 2
					case "end":
						at = len(ids) - 1
					case "every third":
						at = i * 3 % len(ids)
					}
					if e := ids[at]; from != "moved" {
						w.Destroy(e)
						delete(off, e)
					} else if position.Add(e, ecstest.Position{}); i%2 == 0 {
						position.Remove(e)
					}
					ids = slices.Delete(ids, at, at+1)
					if i%200 == 0 {
						require.NoError(t, w.Verify())
					}
				}
				require.NoError(t, w.Verify())
				if from != "moved" {
					require.Less(t, w.Stats().Chunks, chunks, "chunks were released")
				}
				for e, o := range off {
					require.Equal(t, o, [2]bool{!stun.Enabled(e), !hits.Enabled(e)}, "%v", e)
				}
				got := ecs.NewQuery(w, ecs.Disabled(stun), ecs.Read(hits)).Count()
				want := 0
				for _, o := range off {
					if o[0] && !o[1] {
						want++
					}
				}
				require.Equal(t, want, got)
			})
		}
	}
}

// TestBehaviour49TogglingMarksItsType: toggling bumps the version of that type in that chunk and of
// no other, also when the bit was so before.
func TestBehaviour49TogglingMarksItsType(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	stun, health := ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.Register[ecstest.Health](w, ecs.Enableable)
	a := ecs.NewArchetype(w, stun, health)
	ids := ecstest.CreateEach(a, 3*a.Plan().Rows)
	all := ecs.NewQuery(w, ecs.Present(ecs.Read(stun), ecs.Read(health)))
	require.Equal(t, 3, chunksOf(all))
	toggles := map[string]func(ecs.Entity) bool{"Disable": stun.Disable, "Enable": stun.Enable}
	for name, f := range toggles {
		for range 2 {
			since := w.Version()
			w.Advance()
			require.True(t, f(ids[a.Plan().Rows])) // first row of the second chunk
			var stuns, healths, orders []bool
			for rows := range all.Rows() {
				stuns, healths = append(stuns, stun.Changed(rows, since)), append(healths, health.Changed(rows, since))
				orders = append(orders, rows.Ordered(since))
			}
			require.Equal(t, []bool{false, true, false}, stuns, name)
			require.Equal(t, []bool{false, false, false}, healths)
			require.Equal(t, []bool{false, false, false}, orders)
		}
	}
}

// TestToggleAlone: the short way of Enable and Disable, while nothing is lent, does what the long
// way does, which a world takes while it is shared: in small chunks and large ones, for entities
// that lack the type, that died, and for none.
func TestToggleAlone(t *testing.T) {
	for _, growth := range ecstest.ChunkSizes {
		for _, n := range []int{1, 50, 3000} {
			t.Run(fmt.Sprintf("%d, chunks grow %v", n, growth), func(t *testing.T) {
				var worlds [2]*ecs.World
				for k := range worlds {
					w := ecstest.NewWorld(t, ecs.ChunkGrowth(growth))
					stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
					mark := ecs.Register[c3](w, ecs.Enableable)
					health := ecs.Register[ecstest.Health](w)
					ids := append(ecstest.CreateEach(ecs.NewArchetype(w, stun, health, mark), n),
						ecstest.CreateEach(ecs.NewArchetype(w, mark), n)...)
					ids = append(ids, ecstest.CreateEach(ecs.NewArchetype(w), 3)...)
					dead := ids[0]
					require.True(t, w.Destroy(dead))
					ids = append(ids, ecs.Null)
					rng := rand.New(rand.NewPCG(uint64(n), 7))
					w.Advance()
					end := func() {}
					if k == 1 {
						end = w.Lend().End
					}
					for range 4 * n {
						toggle := []func(ecs.Entity) bool{
							stun.Disable, stun.Enable, mark.Disable, mark.Enable,
						}[rng.IntN(4)]
						toggle(ids[rng.IntN(len(ids))])
					}
					for i, e := range ids {
						has, on := i > 0 && i < n, rng.IntN(2) == 0
						toggle := stun.Disable
						if on {
							toggle = stun.Enable
						}
						require.Equal(t, has, toggle(e))
						require.Equal(t, has && on, stun.Enabled(e))
					}
					end()
					worlds[k] = w
				}
				require.Equal(t, worlds[1].Hash(), worlds[0].Hash())
				for _, w := range worlds {
					require.NoError(t, w.Verify())
				}
			})
		}
	}
}

// TestBehaviour50ParallelToggles: toggles from many goroutines during a share keep bits and counts
// right, in rows of the same word and of the same entity.
func TestBehaviour50ParallelToggles(t *testing.T) {
	const workers, n = 8, 1000
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Enableable, ecs.Inline(1))
	ids := ecstest.CreateEach(ecs.NewArchetype(w, stun, hits), n)
	reads := ecs.NewQuery(w, ecs.Read(stun), ecs.Changed(stun))
	for round := range 20 {
		p := w.Lend()
		var wg sync.WaitGroup
		for k := range workers {
			wg.Go(func() {
				for i := k; i < n; i += workers { // words are shared, entities are not
					if (i+round)%3 == 0 {
						stun.Disable(ids[i])
					} else {
						stun.Enable(ids[i])
					}
					if stun.Enabled(ids[i]) != ((i+round)%3 != 0) {
						t.Errorf("worker %d does not see its own toggle of %d", k, i)
					}
				}
				for i := range n { // everybody's entities
					if (i+k)%2 == 0 {
						hits.Disable(ids[i])
					} else {
						hits.Enable(ids[i])
					}
				}
				for rows := range reads.Rows() {
					if rows.Count() > rows.Len() || rows.Count() == 0 {
						t.Errorf("%d of %d rows", rows.Count(), rows.Len())
					}
				}
			})
		}
		wg.Wait()
		p.End()
		require.NoError(t, w.Verify(), "W6")
		for i, e := range ids {
			require.Equal(t, (i+round)%3 != 0, stun.Enabled(e))
		}
	}
	for _, e := range ids {
		hits.Disable(e)
	}
	require.Zero(t, ecs.NewQuery(w, ecs.Read(hits)).Count())
	require.Equal(t, n, ecs.NewQuery(w, ecs.Disabled(hits)).Count())
}
