package query_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// small is a world of chunks of 16 KiB, whose archetypes a and b have three full ones.
type small struct {
	w        *ecs.World
	all      *ecs.Query
	position ecs.Component[ecstest.Position]
	velocity ecs.Component[ecstest.Velocity]
	hits     ecs.Buffer[ecstest.Hit]
	a, b     *ecs.Archetype // position and velocity; position and hits
	inA, inB []ecs.Entity
	perA     int // rows a chunk
}

func newSmall(t testing.TB) *small { return newSmallAt(t, 1) }

// newSmallAt begins with another change version.
func newSmallAt(t testing.TB, version uint32) *small {
	s := &small{w: ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))}
	ecstest.SetVersion(s.w, version)
	s.position, s.velocity = ecs.Register[ecstest.Position](s.w), ecs.Register[ecstest.Velocity](s.w)
	s.hits = ecs.RegisterBuffer[ecstest.Hit](s.w)
	s.a, s.b = ecs.NewArchetype(s.w, s.position, s.velocity), ecs.NewArchetype(s.w, s.position, s.hits)
	s.perA = s.a.Plan().Rows
	s.inA, s.inB = ecstest.CreateEach(s.a, 3*s.perA), ecstest.CreateEach(s.b, 3*s.b.Plan().Rows)
	s.all = ecs.NewQuery(s.w)
	require.Equal(t, []string{"a0", "a1", "a2", "b0", "b1", "b2"}, s.run(s.all))
	return s
}

// run walks a query to its end and names the chunks it yields.
func (s *small) run(q *ecs.Query) []string { return s.upTo(q, 1000) }

// upTo is run that breaks after n chunks.
func (s *small) upTo(q *ecs.Query, n int) (seen []string) {
	for rows := range q.Rows() {
		if seen = append(seen, s.name(rows)); len(seen) == n {
			break
		}
	}
	return seen
}

// name returns which of its archetype's chunks rows are.
func (s *small) name(rows ecs.Rows) string {
	a := rows.Archetype()
	letter := map[*ecs.Archetype]string{s.a: "a", s.b: "b"}[a] // others have none
	n := 0
	for each := range s.all.Rows() {
		switch {
		case &each.Entities()[0] == &rows.Entities()[0]:
			return fmt.Sprintf("%s%d", letter, n)
		case each.Archetype() == a:
			n++
		}
	}
	return "none"
}

// TestBehaviour51WritingMarks: taking a slice to write bumps the chunk's version of the type,
// reading does not; a query that never ran sees everything.
func TestBehaviour51WritingMarks(t *testing.T) {
	s := newSmall(t)
	changed := ecs.NewQuery(s.w, ecs.Read(s.position), ecs.Changed(s.position))
	require.Equal(t, []string{"a0", "a1", "a2", "b0", "b1", "b2"}, s.run(changed), "never ran")
	require.Empty(t, s.run(changed))
	open := ecs.NewQuery(s.w, ecs.Write(s.position), ecs.Optional(ecs.Read(s.velocity), ecs.Write(s.hits)))
	for name, c := range map[string]struct {
		use  func(rows ecs.Rows)
		want []string
	}{
		"nothing": {func(ecs.Rows) {}, nil},
		"read":    {func(r ecs.Rows) { s.velocity.Slice(r) }, nil},
		"peek":    {func(r ecs.Rows) { s.position.ReadOnly(r) }, nil},
		"in":      {func(r ecs.Rows) { s.position.In(r); s.position.Changed(r, 0) }, nil},
		"slice":   {func(r ecs.Rows) { s.position.Slice(r) }, []string{"a1", "b1"}},
		"mark":    {func(r ecs.Rows) { s.position.Mark(r) }, []string{"a1", "b1"}},
		"other":   {func(r ecs.Rows) { s.hits.Mark(r) }, nil},
		"each":    {func(r ecs.Rows) { r.Each(); r.Mask(); r.Entities() }, nil},
	} {
		for rows := range open.Rows() {
			if n := s.name(rows); n == "a1" || n == "b1" {
				c.use(rows)
			}
		}
		require.Equal(t, c.want, s.run(changed), name)
		require.Empty(t, s.run(changed), name)
	}
	e := s.inA[s.perA]
	for name, c := range map[string]struct {
		use  func()
		want []string
	}{
		"Get": {func() { s.position.Get(e); s.position.Has(e); s.position.Enabled(e) }, nil}, "Mut": {func() { s.position.Mut(e) }, []string{"a1"}},
		"Set": {func() { s.position.Set(e, ecstest.Position{}) }, []string{"a1"}}, "other": {func() { s.velocity.Mut(e) }, nil},
		"dead": {func() { s.position.Mut(ecs.Null) }, nil}, "Append": {func() { s.hits.Append(s.inB[0], ecstest.Hit{}) }, nil},
		"Values": {func() { s.position.Values(open, nil) }, nil},
	} {
		c.use()
		require.Equal(t, c.want, s.run(changed), name)
	}
	hits := ecs.NewQuery(s.w, ecs.Changed(s.hits))
	s.run(hits)
	for rows := range open.Rows() {
		if s.name(rows) == "b2" {
			s.hits.At(rows, 0) // declared Write
		}
	}
	require.Equal(t, []string{"b2"}, s.run(hits))
}

// TestBehaviour52NotItsOwnWrites: a query does not see its own writes next time, but those of
// others after it, and those of its loops that broke off.
func TestBehaviour52NotItsOwnWrites(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Write(s.position), ecs.Changed(s.position))
	other := ecs.NewQuery(s.w, ecs.Read(s.position), ecs.Changed(s.position))
	write := func(most int) (n int) {
		for rows := range q.Rows() {
			s.position.Slice(rows)
			if n++; n == most {
				break
			}
		}
		return n
	}
	require.Equal(t, 6, write(-1))
	require.Zero(t, write(-1), "its own writes")
	require.Len(t, s.run(other), 6, "never ran")
	require.Empty(t, s.run(other))
	s.position.Mut(s.inA[0])
	require.Equal(t, 1, write(-1))
	require.Equal(t, []string{"a0"}, s.run(other), "written by q's loop, and before it")
	require.Zero(t, write(-1))

	for _, e := range []ecs.Entity{s.inA[0], s.inA[s.perA], s.inA[2*s.perA]} {
		s.position.Mut(e)
	}
	since := q.Since()
	require.Equal(t, 2, write(2), "break after two")
	require.Equal(t, since, q.Since(), "break keeps Since")
	require.Panics(t, func() {
		for range q.Rows() {
			panic("in the user's loop")
		}
	})
	require.Equal(t, since, q.Since(), "and so does a panic")
	require.Equal(t, 3, q.Count()/s.perA, "Count, Empty and the like do not move Since")
	require.False(t, q.Empty())
	require.Len(t, q.Entities(nil), 3*s.perA)
	require.Equal(t, since, q.Since())
	require.Equal(t, 3, write(-1))
	require.NotEqual(t, since, q.Since())
}

// TestNestedChangedLoops: a loop over a query inside one over the same query runs to its end and
// moves Since; the outer loop goes on with what it began with.
func TestNestedChangedLoops(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Read(s.position), ecs.Changed(s.position), ecs.Ordered())
	s.run(q)
	for _, e := range s.inA {
		s.position.Mut(e)
	}
	var outer, inner []string
	for rows := range q.Rows() {
		outer = append(outer, s.name(rows))
		inner = append(inner, s.run(q)...)
		q.SetSince(s.w.Version())
	}
	require.Equal(t, []string{"a0", "a1", "a2"}, outer)
	require.Equal(t, []string{"a0", "a1", "a2"}, inner, "the second inner loop has nothing new")
}

// TestSinceAndAdvance: SetSince and Since, by versions of the world.
func TestSinceAndAdvance(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Changed(s.position))
	require.Zero(t, q.Since())
	v := s.w.Version()
	require.Equal(t, v+1, s.w.Advance())
	s.position.Mut(s.inB[0])
	q.SetSince(v)
	require.Equal(t, []string{"b0"}, s.run(q))
	require.Equal(t, v+1, q.Since())
	require.Equal(t, v+2, s.w.Version(), "a loop that ended advances")
	q.SetSince(v)
	require.Equal(t, []string{"b0"}, s.run(q))
	q.SetSince(v + 1)
	require.Empty(t, s.run(q))
	q.SetSince(0)
	require.Len(t, s.run(q), 6)
	plain := ecs.NewQuery(s.w, ecs.Read(s.position))
	v = s.w.Version()
	s.run(plain)
	require.Equal(t, v, s.w.Version(), "a loop without Changed and Ordered does not")
	require.Zero(t, plain.Since())
}

// TestPinSince: a query that is pinned compares with the same version in every loop and moves
// nothing, until SetSince.
func TestPinSince(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Write(s.position), ecs.Changed(s.position), ecs.Ordered())
	s.run(q)
	before := s.w.Version()
	s.w.Advance()
	s.position.Mut(s.inA[0])
	door.PinSince(q, before)
	version := s.w.Version()
	for range 3 {
		require.Equal(t, []string{"a0"}, s.run(q))
	}
	require.Equal(t, []string{"a0"}, s.upTo(q, 1))
	require.Equal(t, s.perA, q.Count())
	s.position.Mut(s.inB[0])
	require.Equal(t, []string{"a0", "b0"}, s.run(q), "what is written later counts as well")
	require.Equal(t, before, q.Since())
	require.Equal(t, version, s.w.Version())
	for range q.Rows() {
		door.PinSince(q, version) // inside a loop, which goes on with what it began with
	}
	require.Empty(t, s.run(q))
	require.Equal(t, version, q.Since())
	door.PinSince(q, 0)
	require.Len(t, s.run(q), 6, "0 passes everything")
	require.Zero(t, q.Since())
	q.SetSince(version - 1)
	require.Equal(t, []string{"a0", "b0"}, s.run(q))
	require.Equal(t, version, q.Since(), "SetSince takes the pin away")
	require.Equal(t, version+1, s.w.Version())
	plain := ecs.NewQuery(s.w, ecs.Read(s.position))
	door.PinSince(plain, version)
	require.Len(t, s.run(plain), 6, "it has no Changed and no Ordered")
	plain.SetSince(version)
	now := s.w.Version()
	require.Len(t, s.run(plain), 6)
	require.Equal(t, []uint32{version, now}, []uint32{plain.Since(), s.w.Version()},
		"so its loops move nothing, pinned or not")
}

// TestBehaviour53Wrap: versions compare by their signed distance, so the counter may wrap; 0 is
// skipped.
func TestBehaviour53Wrap(t *testing.T) {
	s := newSmallAt(t, 1<<32-4)
	q := ecs.NewQuery(s.w, ecs.Changed(s.position))
	ordered := ecs.NewQuery(s.w, ecs.Ordered())
	s.run(q)
	s.run(ordered)
	ordered.SetSince(s.w.Version())
	for i := range 6 {
		require.NotZero(t, s.w.Version())
		require.NotZero(t, q.Since(), "0 would pass everything")
		require.Empty(t, s.run(q), "step %d", i)
		s.position.Mut(s.inA[s.perA*(i%3)])
		require.Equal(t, []string{[]string{"a0", "a1", "a2"}[i%3]}, s.run(q))
	}
	require.Less(t, s.w.Version(), uint32(100), "it has wrapped")
	s.w.Destroy(s.inA[0])
	require.Equal(t, []string{"a0", "a2"}, s.run(ordered))
}

// TestBehaviour54OrderVersions: Ordered sees chunks that rows came to or went from, in the
// archetypes concerned; removal does not mark types changed in what rows remain.
func TestBehaviour54OrderVersions(t *testing.T) {
	for name, c := range map[string]struct {
		do               func(s *small)
		ordered, changed []string // changed: Velocity or []Hit, which moved rows bring along
	}{
		"nothing":          {func(s *small) { s.position.Mut(s.inA[0]); s.velocity.Mut(s.inA[0]).X = 1 }, nil, []string{"a0"}},
		"create":           {func(s *small) { s.a.Create() }, []string{"a3"}, []string{"a3"}},
		"create many":      {func(s *small) { _, _ = s.b.CreateN(s.b.Plan().Rows) }, []string{"b3"}, []string{"b3"}},
		"destroy last":     {func(s *small) { s.w.Destroy(s.inA[3*s.perA-1]) }, []string{"a2"}, nil},
		"destroy first":    {func(s *small) { s.w.Destroy(s.inA[0]) }, []string{"a0", "a2"}, nil},
		"destroy and fill": {func(s *small) { s.w.Destroy(s.inB[0]); s.b.Create() }, []string{"b0", "b2"}, []string{"b2"}},
		"remove":           {func(s *small) { s.velocity.Remove(s.inA[s.perA]) }, []string{"a1", "a2", "0"}, nil},
		"add":              {func(s *small) { s.hits.Add(s.inA[3*s.perA-1]) }, []string{"a2", "0"}, []string{"0"}},
		"a chunk goes": {func(s *small) {
			for _, e := range s.inA[2*s.perA:] {
				s.w.Destroy(e)
			}
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSmall(t)
			ordered := ecs.NewQuery(s.w, ecs.Ordered())
			changed := ecs.NewQuery(s.w, ecs.Changed(s.velocity, s.hits))
			s.run(ordered)
			s.run(changed)
			c.do(s)
			require.Equal(t, c.ordered, s.run(ordered))
			require.Equal(t, c.changed, s.run(changed))
			require.Empty(t, s.run(ordered))
		})
	}
}

// TestTagsMarkByAnyWay: a change that leaves the layout alone marks every type of the rows that it
// brings, by query, where full chunks change hands uncopied, as one by one, where rows are copied.
// So a query with Changed sees all that has come to match it, though it was written before the
// query's last loop.
func TestTagsMarkByAnyWay(t *testing.T) {
	for how, apply := range map[string]func(c *ecs.Change, q *ecs.Query) error{
		"query": func(c *ecs.Change, q *ecs.Query) error { _, err := c.ApplyQuery(q); return err },
		"list":  func(c *ecs.Change, q *ecs.Query) error { _, err := c.ApplyList(q.Entities(nil)); return err },
		"one by one": func(c *ecs.Change, q *ecs.Query) error {
			for _, e := range q.Entities(nil) {
				if _, err := c.Apply(e); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		for _, growth := range ecstest.ChunkSizes {
			w := ecstest.NewWorld(t, ecs.ChunkGrowth(growth))
			position := ecs.Register[ecstest.Position](w)
			velocity := ecs.Register[ecstest.Velocity](w)
			tag := ecs.Register[ecstest.Tag](w)
			hidden, team := ecs.Register[ecs.DisabledEntity](w), ecs.RegisterShared[string](w)
			for what, c := range map[string]struct {
				from   []ecs.Type
				change *ecs.Change
				comes  ecs.Term // that the rows match then, and did not before
			}{
				"a tag":           {nil, ecs.NewChange(w, ecs.Add(tag)), ecs.With(tag)},
				"a tag that goes": {[]ecs.Type{tag}, ecs.NewChange(w, ecs.Remove(tag)), ecs.Without(tag)},
				"what was hidden": {[]ecs.Type{hidden}, ecs.NewChange(w, ecs.Remove(hidden)), ecs.Present(position)},
				"another value":   {[]ecs.Type{team.Of("red")}, ecs.NewChange(w, ecs.Put(team.Of("blue"))), ecs.Where(team.Of("blue"))},
			} {
				text := fmt.Sprintf("%s, %s, chunks grow %v", what, how, growth)
				a := ecs.NewArchetype(w, append([]ecs.Type{position, velocity}, c.from...)...)
				n := 3*a.Plan().Rows + 5 // full chunks and one that is not
				ecstest.CreateEach(a, n)
				all := ecs.NewQuery(w, ecs.With(velocity), ecs.IncludeDisabled())
				changed := ecs.NewQuery(w, c.comes, ecs.Changed(position))
				ordered := ecs.NewQuery(w, c.comes, ecs.Ordered())
				rows := func(q *ecs.Query) (n int) {
					for r := range q.Rows() {
						n += r.Len()
					}
					return n
				}
				require.Zero(t, rows(changed)+rows(ordered), text)
				require.NoError(t, apply(c.change, all))
				require.Equal(t, []int{n, n}, []int{rows(changed), rows(ordered)}, text)
				require.NoError(t, apply(c.change, all))
				require.Zero(t, rows(changed)+rows(ordered), "%s: nothing changes, nothing is marked", text)
				w.DestroyQuery(all)
				for _, q := range []*ecs.Query{all, changed, ordered} {
					q.Close()
				}
			}
		}
	}
}

// TestManyChangedTypes: there is no limit on Changed terms, where Unity has two: 40 types, one of
// which is written at a time.
func TestManyChangedTypes(t *testing.T) {
	w := ecstest.NewWorld(t)
	types := ecstest.ManyTypes(w)
	require.GreaterOrEqual(t, len(types), 40)
	var archetypes [2][]ecs.Type
	terms := []ecs.Term{}
	for i, c := range types[:40] {
		archetypes[i%2] = append(archetypes[i%2], c)
		terms = append(terms, ecs.Changed(c))
	}
	e := [2]ecs.Entity{ecs.NewArchetype(w, archetypes[0]...).Create(), ecs.NewArchetype(w, archetypes[1]...).Create()}
	lacks := ecs.NewArchetype(w, types[40]).Create()
	apart := ecs.NewQuery(w, terms...)
	joined := ecs.NewQuery(w, ecs.Changed(types[:40]...))
	for _, q := range []*ecs.Query{apart, joined} {
		require.Equal(t, []ecs.Entity{e[0], e[1], lacks}, passed(q), "since 0, also what lacks the types")
		require.Empty(t, passed(q))
	}
	for i := range 40 {
		markType(types[i], e[i%2])
		markType(types[40], lacks)
		require.Equal(t, []ecs.Entity{e[i%2]}, passed(apart), "type %d", i)
		require.Equal(t, []ecs.Entity{e[i%2]}, passed(joined))
	}
	require.Empty(t, passed(joined))
}

// passed runs a loop to its end and returns the first entity of every chunk.
func passed(q *ecs.Query) (list []ecs.Entity) {
	for rows := range q.Rows() {
		list = append(list, rows.Entities()[0])
	}
	return list
}

// TestChangedOrOrdered: of all Changed and Ordered terms one must hold; the other terms filter as
// well.
func TestChangedOrOrdered(t *testing.T) {
	s := newSmall(t)
	q := ecs.NewQuery(s.w, ecs.Changed(s.position), ecs.Changed(s.hits), ecs.Ordered())
	onlyA := ecs.NewQuery(s.w, ecs.With(s.velocity), ecs.Changed(s.position, s.velocity), ecs.Ordered())
	for _, x := range []*ecs.Query{q, onlyA} {
		s.run(x)
	}
	s.position.Mut(s.inA[0])
	s.velocity.Mut(s.inA[s.perA])
	s.hits.Mut(s.inB[0])
	s.w.Destroy(s.inB[len(s.inB)-1])
	require.Equal(t, []string{"a0", "b0", "b2"}, s.run(q))
	require.Equal(t, []string{"a0", "a1"}, s.run(onlyA))
	require.Empty(t, s.run(q))
}

// TestChangedAgainstModel: random writes, toggles, creation, destruction and moves: no query misses
// an entity whose component was written since its last complete loop.
func TestChangedAgainstModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			changedModel(t, rand.New(rand.NewPCG(seed, 51)))
		})
	}
}

func changedModel(t *testing.T, rng *rand.Rand) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
	a := ecs.NewArchetype(w, position, stun)
	ids := ecstest.CreateEach(a, 3000)
	queries := make([]*ecs.Query, 3)
	stale := make([]map[ecs.Entity]bool, 3) // written since the query's last complete loop
	for i := range queries {
		queries[i] = ecs.NewQuery(w, ecs.Present(stun), ecs.Changed(position))
		stale[i] = map[ecs.Entity]bool{}
		passed(queries[i])
	}
	for range 300 {
		for range rng.IntN(10) {
			at := rng.IntN(len(ids))
			e := ids[at]
			switch rng.IntN(3) {
			case 0:
				position.Mut(e)
				for i := range stale {
					stale[i][e] = true
				}
			case 1:
				stun.Disable(e)
			case 2:
				w.Destroy(e)
				for i := range stale {
					delete(stale[i], e)
				}
				ids[at] = ids[len(ids)-1]
				ids = ids[:len(ids)-1]
			}
		}
		i := rng.IntN(len(queries))
		for rows := range queries[i].Rows() {
			for _, e := range rows.Entities() {
				delete(stale[i], e)
			}
		}
		require.Empty(t, stale[i], "written, and not seen by the next loop")
	}
	require.NoError(t, w.Close()) // there may be no room for all these worlds
}

// markType marks a type changed in e's chunk, as Component.Mut does.
func markType(t ecs.Type, e ecs.Entity) { ecstest.TypeOf(t).Mut(world.OpMut, entity.ID(e)) }
