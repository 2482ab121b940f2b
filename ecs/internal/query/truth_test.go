package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// What a query of the truth tables asks of a type.
const (
	askNothing = iota
	askWith
	askWithout
	askAny
	askOptional
	askPresent
	askAbsent
	askDisabled // only where the type is Enableable
	askAny2     // a second Any term
)

// truth is a world of five types, the first three Enableable: a component, a tag and
// a buffer; the others a component and a tag.
type truth struct {
	w     *ecs.World
	types [5]ecs.Type
	rows  map[ecs.Entity]state
	order []ecs.Entity // by index, for toggling
}

// state is, for each type, whether an entity has it and whether it is enabled.
type state struct{ has, on [5]bool }

func newTruth(t testing.TB, options ...ecs.Option) *truth {
	w := ecstest.NewWorld(t, options...)
	return &truth{w: w, rows: map[ecs.Entity]state{}, types: [5]ecs.Type{
		ecs.Register[ecstest.Stun](w, ecs.Enableable), ecs.Register[c3](w, ecs.Enableable),
		ecs.RegisterBuffer[ecstest.Hit](w, ecs.Enableable, ecs.Inline(1)),
		ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Tag](w),
	}}
}

// toggle is what components and buffers have in common.
type toggle interface {
	Enable(ecs.Entity) bool
	Disable(ecs.Entity) bool
	Enabled(ecs.Entity) bool
}

// archetype returns that of the types in set.
func (x *truth) archetype(set int) *ecs.Archetype {
	var have []ecs.Type
	for i, c := range x.types {
		if set>>i&1 != 0 {
			have = append(have, c)
		}
	}
	return ecs.NewArchetype(x.w, have...)
}

// create makes an entity of the types in set; those in off are disabled.
func (x *truth) create(set, off int) ecs.Entity {
	e := x.archetype(set).Create()
	s := state{}
	for i := range x.types {
		s.has[i] = set>>i&1 != 0
		s.on[i] = s.has[i]
	}
	x.rows[e] = s
	x.order = append(x.order, e)
	for i := range 3 {
		if set&off>>i&1 != 0 {
			x.set(e, i, false)
		}
	}
	return e
}

func (x *truth) set(e ecs.Entity, i int, on bool) {
	s := x.rows[e]
	if !s.has[i] {
		return
	}
	if c := x.types[i].(toggle); on {
		c.Enable(e)
	} else {
		c.Disable(e)
	}
	s.on[i] = on
	x.rows[e] = s
}

// wants is the table of Term, written per entity.
func (s *state) wants(ask *[5]uint8) bool {
	var anys, met [2]bool
	for i, k := range ask {
		switch k {
		case askWith:
			if !s.on[i] {
				return false
			}
		case askWithout:
			if s.on[i] {
				return false
			}
		case askAny, askAny2:
			g := (k - askAny) / (askAny2 - askAny)
			anys[g] = true
			met[g] = met[g] || s.on[i]
		case askPresent:
			if !s.has[i] {
				return false
			}
		case askAbsent:
			if s.has[i] {
				return false
			}
		case askDisabled:
			if !s.has[i] || s.on[i] {
				return false
			}
		}
	}
	return (!anys[0] || met[0]) && (!anys[1] || met[1])
}

// query makes the query of an assignment; access has the types that it may access, and how.
func (x *truth) query(ask *[5]uint8, access int) *ecs.Query {
	var terms []ecs.Term
	var anys [2][]ecs.Operand
	for i, c := range x.types {
		of := []ecs.Operand{c, ecs.Read(c), ecs.Write(c)}[(access>>i+i)%3]
		switch ask[i] {
		case askWith:
			if t, ok := of.(ecs.Term); ok {
				terms = append(terms, t)
			} else {
				terms = append(terms, ecs.With(c))
			}
		case askWithout:
			terms = append(terms, ecs.Without(c))
		case askAny:
			anys[0] = append(anys[0], of)
		case askAny2:
			anys[1] = append(anys[1], of)
		case askOptional:
			terms = append(terms, ecs.Optional(of))
		case askPresent:
			terms = append(terms, ecs.Present(of))
		case askAbsent:
			terms = append(terms, ecs.Absent(c))
		case askDisabled:
			terms = append(terms, ecs.Disabled(of))
		}
	}
	for _, of := range anys {
		if len(of) > 0 {
			terms = append(terms, ecs.Any(of...))
		}
	}
	return ecs.NewQuery(x.w, terms...)
}

// check compares all that a query finds with the plain walk over the entities; ""
// is well.
func (x *truth) check(q *ecs.Query, ask *[5]uint8) string {
	want := 0
	for _, s := range x.rows {
		if s.wants(ask) {
			want++
		}
	}
	var got []ecs.Entity
	for rows := range q.Rows() {
		ids, n := rows.Entities(), len(got)
		for i, word := range rows.Mask() {
			for b := range 64 {
				if word>>b&1 != 0 {
					got = append(got, ids[i*64+b])
				}
			}
		}
		if found := len(got) - n; found == 0 || found != rows.Count() || (found == rows.Len()) != rows.Dense() {
			return fmt.Sprintf("%v: %d bits, Count %d, Len %d, Dense %v",
				q, found, rows.Count(), rows.Len(), rows.Dense())
		}
	}
	if list := q.Entities(nil); !slices.Equal(list, got) {
		return fmt.Sprintf("%v: Entities gives %v, Rows %v", q, list, got)
	}
	for _, e := range got {
		if s := x.rows[e]; !s.wants(ask) {
			return fmt.Sprintf("%v: yields %v with %+v", q, e, s)
		}
	}
	slices.SortFunc(got, ecs.Entity.Compare)
	if twice := len(got) - len(slices.Compact(got)); twice != 0 || len(got) != want || q.Count() != want ||
		q.Empty() != (want == 0) {
		return fmt.Sprintf("%v: yields %d, %d of them twice; Count %d, Empty %v, want %d",
			q, len(got), twice, q.Count(), q.Empty(), want)
	}
	return ""
}

// everyState makes entities in every combination of types and enable bits, in
// random order, so that all combinations share chunks.
func (x *truth) everyState(rng *rand.Rand, each int) {
	var codes [][2]int
	for set := range 32 {
		for off := range 8 {
			if off&^set == 0 {
				for range each {
					codes = append(codes, [2]int{set, off})
				}
			}
		}
	}
	rng.Shuffle(len(codes), func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
	for _, c := range codes {
		x.create(c[0], c[1])
	}
}

// TestBehaviour30TruthTable: every term kind over all subsets of five types, three of
// them Enableable. Peers disagree on Without of a disabled component: we follow Unity,
// which lets it match, and have Absent for the other reading.
func TestBehaviour30TruthTable(t *testing.T) {
	x := newTruth(t)
	rng := rand.New(rand.NewPCG(30, 1))
	x.everyState(rng, 2)
	require.Len(t, x.rows, 2*4*27)
	asked := 0
	for code := range 8 * 8 * 8 * 7 * 7 {
		// One of five at random, with all pairs of terms.
		if !long.On() && rng.IntN(5) != 0 || testing.Short() && rng.IntN(4) != 0 {
			continue
		}
		var ask [5]uint8
		for i, left := 0, code; i < 5; i++ {
			kinds := 8
			if i >= 3 {
				kinds = 7 // without Disabled
			}
			ask[i], left = uint8(left%kinds), left/kinds
		}
		q := x.query(&ask, code)
		if why := x.check(q, &ask); why != "" {
			t.Fatal(why)
		}
		q.Close()
		asked++
	}
	require.Zero(t, matchingsOf(x.w))
	require.NoError(t, x.w.Verify())
	t.Logf("%d queries over %d entities", asked, len(x.rows))
}

// TestTwoAnys: several Any terms must all hold.
func TestTwoAnys(t *testing.T) {
	x := newTruth(t)
	x.everyState(rand.New(rand.NewPCG(30, 2)), 2)
	kinds := []uint8{askNothing, askAny, askAny2, askWithout}
	for code := range 1 << 10 {
		var ask [5]uint8
		for i := range ask {
			ask[i] = kinds[code>>(2*i)&3]
		}
		q := x.query(&ask, code)
		if why := x.check(q, &ask); why != "" {
			t.Fatal(why)
		}
		q.Close()
	}
}

// TestTruthTableAsItGrows makes queries first and all else after them: archetypes,
// entities, toggles, moves and destruction.
func TestTruthTableAsItGrows(t *testing.T) {
	for seed := range uint64(4) {
		fuzzQueries(t, rand.New(rand.NewPCG(44, seed)), 400)
	}
}

// FuzzQuery: behaviour 44: random archetypes, terms and toggles against brute force.
func FuzzQuery(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed, uint16(100))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		fuzzQueries(t, rand.New(rand.NewPCG(seed, 44)), int(steps%2000))
	})
}

// TestBehaviour44FuzzedQueries runs what FuzzQuery fuzzes for some seeds.
func TestBehaviour44FuzzedQueries(t *testing.T) {
	for seed := range uint64(6) {
		fuzzQueries(t, rand.New(rand.NewPCG(seed, 4400)), 300)
	}
}

func fuzzQueries(t *testing.T, rng *rand.Rand, steps int) {
	var options []ecs.Option
	if rng.IntN(2) == 0 {
		options = append(options, ecs.ChunkGrowth(alloc.Fixed(1)))
	}
	x := newTruth(t, options...)
	type asked struct {
		q   *ecs.Query
		ask [5]uint8
	}
	var queries []asked
	for range steps {
		switch op := rng.IntN(20); {
		case op == 0 && len(queries) < 30:
			var a asked
			for i := range a.ask {
				a.ask[i] = uint8(rng.IntN(askAny2 + 1))
				if i >= 3 && a.ask[i] == askDisabled {
					a.ask[i] = askOptional
				}
			}
			a.q = x.query(&a.ask, rng.IntN(32))
			queries = append(queries, a)
		case op == 1 && len(queries) > 0:
			i := rng.IntN(len(queries))
			queries[i].q.Close()
			queries = slices.Delete(queries, i, i+1)
		case op < 10 || len(x.order) == 0:
			set, off := rng.IntN(32), rng.IntN(8)
			for range 1 + rng.IntN(100) {
				x.create(set, off)
			}
		case op < 16:
			i, on := rng.IntN(3), rng.IntN(2) == 0
			for range 1 + rng.IntN(200) {
				x.set(x.order[rng.IntN(len(x.order))], i, on)
			}
		default:
			x.dropOrMove(rng)
		}
		if len(queries) > 0 {
			a := queries[rng.IntN(len(queries))]
			if why := x.check(a.q, &a.ask); why != "" {
				t.Fatal(why)
			}
		}
	}
	for _, a := range queries {
		if why := x.check(a.q, &a.ask); why != "" {
			t.Fatal(why)
		}
	}
	require.NoError(t, x.w.Verify())
}

// dropOrMove destroys an entity, or adds or removes a type.
func (x *truth) dropOrMove(rng *rand.Rand) {
	at := rng.IntN(len(x.order))
	e := x.order[at]
	s := x.rows[e]
	if rng.IntN(2) == 0 {
		x.w.Destroy(e)
		delete(x.rows, e)
		x.order[at] = x.order[len(x.order)-1]
		x.order = x.order[:len(x.order)-1]
		return
	}
	i := rng.IntN(5)
	switch c := x.types[i].(type) {
	case ecs.Component[ecstest.Stun]:
		_ = s.has[i] && c.Remove(e) || c.Add(e, ecstest.Stun{Left: 1})
	case ecs.Component[c3]:
		_ = s.has[i] && c.Remove(e) || c.Add(e, c3{})
	case ecs.Buffer[ecstest.Hit]:
		_ = s.has[i] && c.Remove(e) || c.Add(e)
	case ecs.Component[ecstest.Position]:
		_ = s.has[i] && c.Remove(e) || c.Add(e, ecstest.Position{})
	case ecs.Component[ecstest.Tag]:
		_ = s.has[i] && c.Remove(e) || c.Add(e, ecstest.Tag{})
	}
	s.has[i] = !s.has[i]
	s.on[i] = s.has[i]
	x.rows[e] = s
}
