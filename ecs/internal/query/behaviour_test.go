package query_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestBehaviour31QueryBeforeOrAfter: a query made before the archetypes finds the
// same, in the same order, as one made after them.
func TestBehaviour31QueryBeforeOrAfter(t *testing.T) {
	x := newTruth(t)
	ask := [5]uint8{askWith, askWithout, askAny, askAny, askOptional}
	before := x.query(&ask, 0)
	require.True(t, before.Empty())
	x.everyState(rand.New(rand.NewPCG(31, 1)), 3)
	after := x.query(&ask, 31)
	require.NotEmpty(t, before.Entities(nil))
	require.Equal(t, after.Entities(nil), before.Entities(nil))
	require.Empty(t, x.check(before, &ask))
}

// TestBehaviour32ArchetypesAppear: an archetype made while the query lives appears;
// archetypes are never released here, so an emptied one is passed by.
func TestBehaviour32ArchetypesAppear(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, tag := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w)
	q := ecs.NewQuery(w, ecs.Read(position))
	e := ecs.NewArchetype(w, position).Create()
	require.Equal(t, []ecs.Entity{e}, q.Entities(nil))
	tag.Add(e, ecstest.Tag{}) // an archetype that nobody named
	require.Equal(t, []ecs.Entity{e}, q.Entities(nil))
	position.Remove(e)
	require.True(t, q.Empty())
	require.Zero(t, q.Count())
	for range q.Rows() {
		t.Error("empty archetypes yield nothing")
	}
	position.Add(e, ecstest.Position{})
	f := ecs.NewArchetype(w, position).Create()
	require.Equal(t, []ecs.Entity{f, e}, q.Entities(nil), "in order of the archetypes' creation")
}

// TestNewArchetypeInLoop: making an archetype inside a loop is allowed, and the loop
// goes on over what was there.
func TestNewArchetypeInLoop(t *testing.T) {
	w, position, velocity, _ := ecstest.Movers(t, 5000)
	defer w.Close()
	health := ecs.Register[ecstest.Health](w)
	q := ecs.NewQuery(w, ecs.Read(position))
	var late []*ecs.Query
	n := 0
	for rows := range q.Rows() {
		n += rows.Len()
		ecs.NewArchetype(w, position, ecs.Register[ecstest.Owner](w))
		late = append(late, ecs.NewQuery(w, ecs.Read(position), ecs.Absent(health)),
			ecs.NewQuery(w, ecs.Read(velocity)))
		if len(late) > 3 {
			late[len(late)-4].Close() // others may be closed
		}
	}
	require.Equal(t, 5000, n)
	require.Equal(t, 5000, late[len(late)-1].Count())
	require.NoError(t, w.Verify())
}

// TestBehaviour33ExactlyOnce: each entity exactly once, and no other, however full the
// chunks are.
func TestBehaviour33ExactlyOnce(t *testing.T) {
	for _, g := range []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)} {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(g))
		position := ecs.Register[ecstest.Position](w)
		a := ecs.NewArchetype(w, position)
		per := a.Plan().Rows
		q := ecs.NewQuery(w, ecs.Read(position))
		var want []ecs.Entity
		for _, n := range []int{0, 1, 63, 64, 65, per - 1, per, per + 1, 2*per - 1, 2 * per, 3*per + 1,
			9 * per, 9*per + 1} {
			for len(want) < n {
				want = append(want, a.Create())
			}
			require.Equal(t, want, q.Entities(nil), "rows are in order of creation")
			n := 0
			for rows := range q.Rows() {
				require.True(t, rows.Dense())
				require.Equal(t, want[n:n+rows.Len()], rows.Entities())
				n += rows.Len()
			}
			require.Len(t, want, n)
		}
		for len(want) > 0 { // from the front, so that the last row moves
			w.Destroy(want[0])
			want = want[1:]
			if len(want)%997 == 0 {
				got := q.Entities(nil)
				slices.SortFunc(got, ecs.Entity.Compare)
				require.Equal(t, append([]ecs.Entity{}, want...), append([]ecs.Entity{}, got...))
			}
		}
	}
}

// TestBehaviour34OptionalIsNil: an optional type's slice is nil where it is missing;
// a disabled one is there.
func TestBehaviour34OptionalIsNil(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	hits := ecs.RegisterBuffer[ecstest.Hit](w)
	ecs.NewArchetype(w, position).Create()
	e := ecs.NewArchetype(w, position, stun, hits).Create()
	stun.Set(e, ecstest.Stun{Left: 7})
	stun.Disable(e)
	for _, term := range []func(...ecs.Operand) ecs.Term{ecs.Optional, ecs.Any} {
		q := ecs.NewQuery(w, term(ecs.Read(position), ecs.Write(stun), ecs.Read(hits)))
		with, without := 0, 0
		for rows := range q.Rows() {
			require.Len(t, position.Slice(rows), 1)
			if rows.Entities()[0] == e {
				with++
				require.True(t, stun.In(rows) && hits.In(rows))
				require.Equal(t, []ecstest.Stun{{Left: 7}}, stun.Slice(rows))
				require.Equal(t, []ecstest.Stun{{Left: 7}}, stun.ReadOnly(rows))
				require.Zero(t, hits.At(rows, 0).Len())
				continue
			}
			without++
			require.False(t, stun.In(rows) || hits.In(rows))
			require.Nil(t, stun.Slice(rows))
			require.Nil(t, stun.ReadOnly(rows))
			require.False(t, stun.Changed(rows, 0), "what is not there has not changed")
			stun.Mark(rows) // does nothing
			require.PanicsWithValue(t, "ecs: Buffer.At: [Position] has no []Hit: ask Buffer.In first",
				func() { hits.At(rows, 0) })
			require.PanicsWithValue(t, "ecs: Buffer.At: row 1 is not in [0, 1)", func() { hits.At(rows, 1) })
		}
		require.Equal(t, 1, with)
		require.Equal(t, 1, without)
	}
	only := ecs.NewQuery(w, ecs.Optional(stun))
	require.Equal(t, 2, only.Count(), "Optional alone matches everything")
}

// TestBehaviour36StaleRows: rows of another step, of an ended loop and of no loop are
// caught. Peers that have a cursor catch Get before Next; here no such call exists.
func TestBehaviour36StaleRows(t *testing.T) {
	w, position, velocity, _ := ecstest.Movers(t, 5000)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
	gone := func(op string) string {
		return "ecs: " + op + ": the rows are no longer current: the loop that gave them has gone on or ended"
	}
	var kept []ecs.Rows
	check := func() {
		t.Helper()
		for _, r := range kept {
			for op, use := range map[string]func(){
				"Component.Slice": func() { position.Slice(r) }, "Component.ReadOnly": func() { position.ReadOnly(r) },
				"Component.Mark": func() { position.Mark(r) }, "Component.In": func() { velocity.In(r) },
				"Component.Changed": func() { velocity.Changed(r, 0) }, "Rows.Ordered": func() { r.Ordered(0) },
				"Rows.Entities": func() { r.Entities() }, "Rows.Archetype": func() { r.Archetype() },
				"Rows.Dense": func() { r.Dense() }, "Rows.Mask": func() { r.Mask() }, "Rows.Count": func() { r.Count() },
			} {
				require.PanicsWithValue(t, gone(op), use)
			}
			require.PanicsWithValue(t, gone("Rows.Mask"), func() { r.Each() })
			require.PanicsWithValue(t, gone("Rows.Mask"), func() {
				for range r.Runs() {
					t.Error("stale rows have no runs")
				}
			})
		}
	}
	for rows := range q.Rows() {
		check() // those of the steps before
		kept = append(kept, rows)
		require.Len(t, position.Slice(rows), rows.Len())
	}
	require.Greater(t, len(kept), 2)
	check()
	for range q.Rows() { // the next loop uses the scan again
		check()
		break
	}
	require.PanicsWithValue(t, "ecs: Rows.Dense: the rows are the zero value; rows come from Query.Rows or Batch.Rows",
		func() { ecs.Rows{}.Dense() })
}

// TestBehaviour37LoopsLock: a structural change inside a loop panics and leaves the
// world intact; the lock goes with break, return, panic, and a pulled iterator's stop.
func TestBehaviour37LoopsLock(t *testing.T) {
	w, position, velocity, a := ecstest.Movers(t, 3000)
	defer w.Close()
	e := a.Create()
	q := ecs.NewQuery(w, ecs.Write(position))
	hash := w.Hash()
	changes := map[string]func(){
		"Archetype.Create": func() { a.Create() }, "Archetype.CreateN": func() { _, _ = a.CreateN(2) }, "World.Destroy": func() { w.Destroy(e) },
		"Component.Add": func() { velocity.Add(e, ecstest.Velocity{}) }, "Component.Remove": func() { velocity.Remove(e) }, "World.Close": func() { w.Close() },
	}
	locked := func(inside *ecs.Query) {
		t.Helper()
		for op, change := range changes {
			want := "ecs: %s: structural change inside a loop over %v; " +
				"gather the entities and change them after the loop"
			if op == "World.Close" {
				want = "ecs: %s: called inside a loop over %v; call it afterwards"
			}
			require.PanicsWithValue(t, fmt.Sprintf(want, op, inside), change)
		}
		require.Equal(t, hash, w.Hash())
		require.NoError(t, w.Verify())
	}
	other := ecs.NewQuery(w, ecs.Read(velocity))
	for range q.Rows() {
		locked(q)
		for range other.Rows() {
			locked(other) // the innermost is named
			break
		}
		locked(q)
		break
	}
	func() {
		for range q.Rows() {
			for range other.Rows() {
				return
			}
		}
	}()
	require.Panics(t, func() {
		for range q.Rows() {
			panic("in the user's loop")
		}
	})
	next, stop := iter.Pull(q.Rows())
	after, stopAfter := iter.Pull(other.Rows())
	next()
	after()
	stop() // not in the opposite order of their beginning
	locked(other)
	stopAfter()
	require.True(t, velocity.Remove(e))
	require.NoError(t, w.Verify())
}

// TestBehaviour38Close: where peers reject closing twice, here it does nothing, as with
// World.Close; a closed query panics when used, and Close inside its loop does.
func TestBehaviour38Close(t *testing.T) {
	w, position, _, a := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Write(position))
	twin := ecs.NewQuery(w, ecs.Write(position))
	for range q.Rows() {
		require.PanicsWithValue(t, "ecs: Query.Close: inside a loop over query(Write Position)", q.Close)
		for range twin.Rows() {
			require.Panics(t, q.Close, "an outer loop counts")
		}
	}
	require.Equal(t, 1, matchingsOf(w))
	q.Close()
	q.Close()
	require.Equal(t, 1, matchingsOf(w), "the twin still uses it")
	for op, use := range map[string]func(){
		"Query.Rows": func() { q.Rows()(func(ecs.Rows) bool { return true }) }, "Query.Count": func() { q.Count() },
		"Query.Empty": func() { q.Empty() }, "Query.Single": func() { _, _ = q.Single() },
		"Query.Entities": func() { q.Entities(nil) }, "Component.Values": func() { position.Values(q, nil) },
		"Component.SetValues": func() { _ = position.SetValues(q, nil) },
	} {
		require.PanicsWithValue(t, "ecs: "+op+": query(Write Position) is closed", use)
	}
	a.Create()
	require.Equal(t, 11, twin.Count())
	twin.Close()
	require.Zero(t, matchingsOf(w))
	a.Create()
	late := ecs.NewQuery(w, ecs.Write(position))
	require.NoError(t, w.Close())
	late.Close()
	late.Close()
	require.PanicsWithValue(t, "ecs: Query.Rows: the world is closed",
		func() { late.Rows()(func(ecs.Rows) bool { return true }) })
}

// TestBehaviour40Borrow: peers refuse two overlapping loops of which one writes a type.
// Here the owner's loops may nest and alias, as Go slices may, with one goroutine that
// sees its own writes; goroutines of a lent world may not write at all (TestLendRefuses).
func TestBehaviour40Borrow(t *testing.T) {
	w, position, velocity, _ := ecstest.Movers(t, 1000)
	defer w.Close()
	ecs.NewArchetype(w, velocity, ecs.Register[ecstest.Tag](w)) // empty, conflicts with nothing
	writes := ecs.NewQuery(w, ecs.Write(position))
	reads := ecs.NewQuery(w, ecs.Read(position))
	for outer := range writes.Rows() {
		position.Slice(outer)[0].X = 5
		for inner := range reads.Rows() {
			for same := range writes.Rows() {
				if same.Entities()[0] == outer.Entities()[0] {
					position.Slice(same)[0].X++
				}
			}
			if inner.Entities()[0] == outer.Entities()[0] {
				require.Same(t, &position.Slice(outer)[0], &position.Slice(inner)[0])
			}
		}
		require.Equal(t, 5+float64(chunksOf(reads)), position.Slice(outer)[0].X)
	}
}

func chunksOf(q *ecs.Query) (n int) {
	for range q.Rows() {
		n++
	}
	return n
}

// TestBehaviour41SharedMatching: queries that match alike share what they have found,
// whatever the order of terms and types, and whatever they access.
func TestBehaviour41SharedMatching(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	velocity := ecs.Register[ecstest.Velocity](w)
	stun := ecs.Register[ecstest.Stun](w, ecs.Enableable)
	health, tag := ecs.Register[ecstest.Health](w), ecs.Register[ecstest.Tag](w)
	first := ecs.NewQuery(w, ecs.Read(position), ecs.Without(stun), ecs.Any(health, tag), ecs.Any(velocity))
	for _, q := range []*ecs.Query{
		ecs.NewQuery(w, ecs.Any(velocity), ecs.Any(tag, ecs.Read(health)), ecs.Without(stun), ecs.Write(position)),
		ecs.NewQuery(w, ecs.Without(stun), ecs.Any(tag, health), ecs.With(position), ecs.Any(ecs.Write(velocity))),
		ecs.NewQuery(w, ecs.With(position), ecs.Without(stun), ecs.Any(health, tag), ecs.Any(velocity),
			ecs.Changed(position), ecs.Ordered()),
	} {
		require.True(t, sharesMatching(first, q), "%v", q)
	}
	require.Equal(t, 1, matchingsOf(w))
	for _, q := range []*ecs.Query{
		ecs.NewQuery(w, ecs.Read(position), ecs.Absent(stun), ecs.Any(health, tag), ecs.Any(velocity)),
		ecs.NewQuery(w, ecs.Read(position), ecs.Without(stun), ecs.Any(health, tag, velocity)),
		ecs.NewQuery(w, ecs.Read(position), ecs.Without(stun), ecs.Any(health, tag), ecs.Any(velocity),
			ecs.IncludePrefabs()),
		ecs.NewQuery(w, ecs.Read(position), ecs.Disabled(stun), ecs.Any(health, tag), ecs.Any(velocity)),
	} {
		require.False(t, sharesMatching(first, q), "%v", q)
	}
	require.Equal(t, 5, matchingsOf(w))
	require.True(t, sharesMatching(ecs.NewQuery(w), ecs.NewQuery(w, ecs.Optional(stun))))
	require.False(t, sharesMatching(ecs.NewQuery(w, ecs.With(stun)), ecs.NewQuery(w, ecs.Present(stun))))
	require.True(t,
		sharesMatching(ecs.NewQuery(w, ecs.With(tag, health)), ecs.NewQuery(w, ecs.Present(health), ecs.With(tag))),
		"of types that are not Enableable")
}

// TestBehaviour42Hidden: entities with Prefab or DisabledEntity are hidden from queries
// that neither name it, by whatever term but Changed, nor include it.
func TestBehaviour42Hidden(t *testing.T) {
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	prefab, disabled := ecs.Register[ecs.Prefab](w), ecs.Register[ecs.DisabledEntity](w)
	plain := ecs.NewArchetype(w, position).Create()
	p := ecs.NewArchetype(w, position, prefab).Create()
	d := ecs.NewArchetype(w, position, disabled).Create()
	both := ecs.NewArchetype(w, position, prefab, disabled).Create()
	for i, c := range []struct {
		terms []ecs.Term
		want  []ecs.Entity
	}{
		{nil, []ecs.Entity{plain}},
		{[]ecs.Term{ecs.IncludePrefabs()}, []ecs.Entity{plain, p}},
		{[]ecs.Term{ecs.IncludeDisabled()}, []ecs.Entity{plain, d}},
		{[]ecs.Term{ecs.IncludeDisabled(), ecs.IncludePrefabs()}, []ecs.Entity{plain, p, d, both}},
		{[]ecs.Term{ecs.With(prefab)}, []ecs.Entity{p}},
		{[]ecs.Term{ecs.With(disabled)}, []ecs.Entity{d}},
		{[]ecs.Term{ecs.With(disabled, prefab)}, []ecs.Entity{both}},
		{[]ecs.Term{ecs.With(disabled), ecs.IncludePrefabs()}, []ecs.Entity{d, both}},
		{[]ecs.Term{ecs.Present(disabled)}, []ecs.Entity{d}},
		{[]ecs.Term{ecs.Without(disabled)}, []ecs.Entity{plain}},
		{[]ecs.Term{ecs.Absent(disabled), ecs.IncludePrefabs()}, []ecs.Entity{plain, p}},
		{[]ecs.Term{ecs.Absent(disabled), ecs.IncludeDisabled()}, []ecs.Entity{plain}},
		{[]ecs.Term{ecs.Optional(prefab)}, []ecs.Entity{plain, p}},
		{[]ecs.Term{ecs.Any(prefab, disabled)}, []ecs.Entity{p, d, both}},
		{[]ecs.Term{ecs.Changed(prefab)}, []ecs.Entity{plain}},
	} {
		q := ecs.NewQuery(w, c.terms...)
		require.Equal(t, c.want, q.Entities(nil), "%v", q)
		q = ecs.NewQuery(w, append([]ecs.Term{ecs.Read(position)}, c.terms...)...)
		require.Equal(t, c.want, q.Entities(nil), "case %d: %v", i, q)
	}
	prefab.Remove(p)
	disabled.Add(plain, ecs.DisabledEntity{})
	require.Equal(t, []ecs.Entity{p}, ecs.NewQuery(w, ecs.Read(position)).Entities(nil))
}
