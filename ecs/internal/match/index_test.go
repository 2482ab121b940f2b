package match_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/match"
	"quarry/ecs/internal/table"
)

// Types of the tests, in different words of a signature; those with a bit can be disabled, and
// of those that are shared an archetype has a value.
var (
	ids      = []table.TypeID{0, 1, 5, 63, 64, 200, 511, 1023}
	toggling = map[table.TypeID]bool{1: true, 64: true, 1023: true}
	shared   = map[table.TypeID][]uint64{5: {2, 4, 6}, 200: {1, 3, 5, 7}} // and their values' serials
)

// set is a slow set of types.
type set map[table.TypeID]bool

func (s set) signature() (sig table.Signature) {
	for id := range s {
		sig.Add(id)
	}
	return sig
}

// someOf returns a set of up to n types.
func someOf(r *rand.Rand, n int) set {
	s := set{}
	for range r.IntN(n + 1) {
		s[ids[r.IntN(len(ids))]] = true
	}
	return s
}

// kind is an archetype of the model.
type kind struct {
	at     match.Entry
	types  set
	values map[table.TypeID]uint64
}

func newKind(r *rand.Rand) *kind {
	k := &kind{types: someOf(r, 6), values: map[table.TypeID]uint64{}}
	var toggles []uint16
	k.at.Sig = k.types.signature()
	for slot, id := range slices.Sorted(maps.Keys(k.types)) {
		k.at.Types = append(k.at.Types, id)
		if toggling[id] {
			toggles = append(toggles, uint16(slot))
		}
		if of := shared[id]; of != nil {
			k.values[id] = of[r.IntN(len(of))]
			k.at.Values = append(k.at.Values, k.values[id])
		}
	}
	k.at.Metadata = table.NewMetadata(len(k.at.Types), toggles, nil)
	return k
}

// ask is a filter of the model.
type ask struct {
	has, lacks, enabled, disabled set
	any                           []set
	where                         map[table.TypeID][]uint64
	m                             *match.Matching
	lost                          uint64         // times that the model saw the matching lose
	seen                          uint64         // Matching.Lost when it was compared last
	listed                        []*match.Entry // as the model saw it last
}

func newAsk(r *rand.Rand) *ask {
	a := &ask{has: someOf(r, 2), lacks: someOf(r, 2), enabled: set{}, disabled: set{},
		where: map[table.TypeID][]uint64{}}
	for id := range toggling {
		switch r.IntN(6) {
		case 0:
			a.enabled[id], a.has[id] = true, true
		case 1:
			a.disabled[id] = true
		}
	}
	for range r.IntN(5) / 2 {
		if some := someOf(r, 3); len(some) > 0 {
			a.any = append(a.any, some)
		}
	}
	for id, of := range shared {
		if r.IntN(4) > 0 {
			continue
		}
		for _, serial := range of {
			if r.IntN(2) == 0 {
				a.where[id] = append(a.where[id], serial)
			}
		}
	}
	return a
}

// filter returns what the ask is in any order.
func (a *ask) filter(r *rand.Rand) (f match.Filter) {
	f.Has, f.Lacks, f.Enabled, f.Disabled = a.has.signature(), a.lacks.signature(), a.enabled.signature(),
		a.disabled.signature()
	for _, i := range r.Perm(len(a.any)) {
		f.Any = append(f.Any, a.any[i].signature())
	}
	for _, of := range a.where { // in any order too
		f.Where = append(f.Where, slices.Clone(of))
	}
	return f
}

// isLike reports whether two asks are the same, in the order in which Any came or another.
func (a *ask) isLike(b *ask) bool {
	same := maps.Equal(a.has, b.has) && maps.Equal(a.lacks, b.lacks) && maps.Equal(a.enabled, b.enabled) &&
		maps.Equal(a.disabled, b.disabled) && maps.EqualFunc(a.where, b.where, slices.Equal[[]uint64]) &&
		len(a.any) == len(b.any)
	rest := slices.Clone(b.any)
	for _, one := range a.any {
		i := slices.IndexFunc(rest, func(other set) bool { return maps.Equal(one, other) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return same
}

// wants is Filter.Wants, type by type.
func (a *ask) wants(k *kind) bool {
	for id := range a.has {
		if !k.types[id] {
			return false
		}
	}
	for id := range a.lacks {
		if k.types[id] {
			return false
		}
	}
	for _, one := range a.any {
		found := false
		for id := range one {
			found = found || k.types[id]
		}
		if !found {
			return false
		}
	}
	for id, of := range a.where {
		if serial, ok := k.values[id]; !ok || !slices.Contains(of, serial) {
			return false
		}
	}
	return true
}

// wantsRow reports whether a row with some types enabled matches.
func (a *ask) wantsRow(k *kind, on set) bool {
	for id := range a.enabled {
		if !on[id] {
			return false
		}
	}
	for id := range a.disabled {
		if k.types[id] && on[id] {
			return false
		}
	}
	for _, one := range a.any {
		found := false
		for id := range one {
			found = found || k.types[id] && on[id]
		}
		if !found {
			return false
		}
	}
	return true
}

// passes applies the tests of a match.
func passes(tests []match.BitTest, k *kind, on set) bool {
	for _, t := range tests {
		either := slices.ContainsFunc(t.Slots, func(slot uint16) bool { return on[k.at.Types[slot]] })
		if either == (t.Invert != 0) {
			return false
		}
	}
	return true
}

// model is an index beside lists.
type model struct {
	t     *testing.T
	r     *rand.Rand
	x     match.Index
	kinds []*kind
	asks  []*ask // one for each query
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, r: rand.New(rand.NewPCG(seed, 12))}
	m.x.Open()
	return m
}

func (m *model) enter() *kind {
	k := newKind(m.r)
	m.kinds = append(m.kinds, k)
	m.x.Enter(&k.at)
	return k
}

// leave takes archetypes out, each with a chance of one in n.
func (m *model) leave(n int) {
	losing := map[*match.Matching]bool{}
	m.kinds = slices.DeleteFunc(m.kinds, func(k *kind) bool {
		if m.r.IntN(n) > 0 {
			return false
		}
		k.at.Closed = true
		for _, a := range m.asks {
			if a.wants(k) {
				losing[a.m] = true
			}
		}
		return true
	})
	m.x.Leave()
	for _, a := range m.asks {
		if losing[a.m] {
			a.lost++
		}
	}
}

// ask opens a query: one of those that there are again, one that differs from it in one part, or
// a new one.
func (m *model) ask() {
	a := newAsk(m.r)
	if n := len(m.asks); n > 0 && m.r.IntN(3) == 0 {
		again := *m.asks[m.r.IntN(n)]
		switch m.r.IntN(4) {
		case 0:
			again.any = a.any
		case 1:
			again.where = a.where
		}
		a = &again
	}
	a.m = m.x.Matching(a.filter(m.r))
	a.lost, a.seen, a.listed = a.m.Lost, a.m.Lost, nil
	m.asks = append(m.asks, a)
}

func (m *model) drop(i int) {
	m.x.Drop(m.asks[i].m)
	m.asks = slices.Delete(m.asks, i, i+1)
}

// check compares the index with the lists.
func (m *model) check() {
	m.t.Helper()
	require.NoError(m.t, m.x.Verify(len(m.kinds)))
	matchings := map[*match.Matching]int{}
	for i, a := range m.asks {
		matchings[a.m]++
		for _, b := range m.asks[:i] {
			require.Equal(m.t, a.isLike(b), a.m == b.m, "filters that are alike share a matching")
		}
		m.checkMatches(a)
	}
	require.Equal(m.t, len(matchings), m.x.Len())
	for of := range m.x.Matchings() {
		require.Equal(m.t, matchings[of], of.Queries())
	}
	serials := map[uint64]bool{}
	for _, of := range shared {
		for _, serial := range of {
			var have []*match.Entry
			for _, k := range m.kinds {
				if slices.Contains(k.at.Values, serial) {
					have = append(have, &k.at)
					serials[serial] = true
				}
			}
			require.Equal(m.t, len(have), len(m.x.ArchetypesOfValue(serial)))
			require.True(m.t, slices.Equal(have, m.x.ArchetypesOfValue(serial)), "value %d", serial)
		}
	}
	for _, a := range m.asks {
		if len(a.m.Where) > 0 {
			for _, serial := range a.m.Where[0] {
				serials[serial] = true
			}
		}
	}
	require.Equal(m.t, len(serials), m.x.Values())
}

// checkMatches compares the matches of a query with all archetypes, and with its earlier matches.
func (m *model) checkMatches(a *ask) {
	m.t.Helper()
	at, listed := 0, []*match.Entry{}
	for i, k := range m.kinds {
		require.Equal(m.t, uint32(i), k.at.Index)
		require.Equal(m.t, a.wants(k), a.m.Wants(&k.at))
		if !a.wants(k) {
			continue
		}
		require.Less(m.t, at, len(a.m.Matches))
		of := a.m.Matches[at]
		require.Same(m.t, &k.at, of.Entry)
		for bits := range 1 << len(k.at.Metadata.Toggling()) {
			on := set{}
			for _, id := range k.at.Types {
				on[id] = true
			}
			for j, slot := range k.at.Metadata.Toggling() {
				on[k.at.Types[slot]] = bits>>j&1 != 0
			}
			require.Equal(m.t, a.wantsRow(k, on), passes(of.Tests, k, on))
		}
		listed = append(listed, of.Entry)
		at++
	}
	require.Len(m.t, a.m.Matches, at)
	if a.m.Lost == a.seen { // then those seen before are the first still
		require.GreaterOrEqual(m.t, len(listed), len(a.listed))
		require.True(m.t, slices.Equal(a.listed, listed[:len(a.listed)]))
	}
	require.Equal(m.t, a.lost, a.m.Lost)
	a.seen, a.listed = a.lost, listed
}

// checkCandidates compares the matchings that an archetype looks at with all of them.
func (m *model) checkCandidates(k *kind) {
	m.t.Helper()
	looked := map[*match.Matching]bool{}
	for of := range m.x.CandidateMatchings(&k.at) {
		require.False(m.t, looked[of], "each once")
		looked[of] = true
	}
	for _, a := range m.asks {
		require.True(m.t, looked[a.m] || !a.wants(k))
	}
	for range m.x.CandidateMatchings(&k.at) {
		break
	}
}

// TestIndexAgainstModel: archetypes and queries come and go at random, beside slow lists.
func TestIndexAgainstModel(t *testing.T) {
	m := newModel(t, 1)
	m.run()
	few := newModel(t, 2)
	few.x.FewKeys()
	few.run()
}

// run does steps at random, and then ends all.
func (m *model) run() {
	steps := 1000
	if testing.Short() {
		steps = 300
	}
	for range steps {
		switch op := m.r.IntN(9); {
		case op < 3 && len(m.kinds) < 60:
			m.checkCandidates(m.enter())
		case op == 3:
			m.leave(1 + m.r.IntN(2*len(m.kinds)+2))
		case op < 7 && len(m.asks) < 40:
			m.ask()
		case len(m.asks) > 0:
			m.drop(m.r.IntN(len(m.asks)))
		}
		m.check()
	}
	for len(m.asks) > 0 {
		m.drop(0)
	}
	m.leave(1)
	m.check()
	require.Zero(m.t, m.x.Positions())
	require.Zero(m.t, m.x.Values())
}

// TestLeaveNone changes nothing.
func TestLeaveNone(t *testing.T) {
	m := newModel(t, 3)
	m.enter()
	of := m.x.Matching(match.Filter{})
	m.x.Leave()
	require.Len(t, of.Matches, 1)
	require.Zero(t, of.Lost)
	m.kinds[0].at.Closed = true
	m.x.Leave()
	require.Empty(t, of.Matches)
	require.Equal(t, uint64(1), of.Lost)
	require.NoError(t, m.x.Verify(0))
}

// TestPostingsAreFew: a matching has as many positions as its terms need, beside that among all,
// and takes the shortest of several lists.
func TestPostingsAreFew(t *testing.T) {
	var x match.Index
	x.Open()
	one, two := match.Filter{}, match.Filter{}
	one.Has.Add(3)
	two.Has.Add(3)
	two.Has.Add(4)
	both := match.Filter{Any: []table.Signature{two.Has}}
	named := match.Filter{Sets: two.Sets, Where: [][]uint64{{10, 20, 30}}}
	for i, c := range []struct {
		f         match.Filter
		positions int
	}{{one, 2}, {two, 2}, {both, 3}, {named, 4}, {match.Filter{}, 2}} {
		before := x.Positions()
		m := x.Matching(c.f)
		require.Equal(t, c.positions, x.Positions()-before, "filter %d", i)
		require.Same(t, m, x.Matching(c.f))
		require.Equal(t, c.positions, x.Positions()-before)
		require.NoError(t, x.Verify(0))
	}
	looked := func(types ...table.TypeID) (n int) {
		a := match.Entry{Table: table.Table{Types: types}}
		for range x.CandidateMatchings(&a) {
			n++
		}
		return n
	}
	require.Equal(t, 1, looked(), "the one that asks for no type")
	require.Equal(t, 3, looked(3), "and those with Has 3, and Any")
	require.Equal(t, 3, looked(4), "two went where nobody was yet")
	require.Equal(t, 1, looked(5, 1000))
	require.Equal(t, 4, looked(3, 4), "each once")
}

// TestOrderOfParts: the order of the lists of a filter does not matter.
func TestOrderOfParts(t *testing.T) {
	var x match.Index
	x.Open()
	var a, b table.Signature
	a.Add(1)
	b.Add(2)
	first := x.Matching(match.Filter{Any: []table.Signature{a, b}, Where: [][]uint64{{1, 2}, {3}}})
	require.Same(t, first, x.Matching(match.Filter{Any: []table.Signature{b, a}, Where: [][]uint64{{3}, {1, 2}}}))
	require.NotSame(t, first, x.Matching(match.Filter{Any: []table.Signature{a, b}, Where: [][]uint64{{1}, {2, 3}}}))
	require.NoError(t, x.Verify(0))
}

// TestClose forgets all.
func TestClose(t *testing.T) {
	m := newModel(t, 4)
	m.enter()
	m.ask()
	for range m.x.Matchings() {
		break
	}
	m.x.Close()
	require.Zero(t, m.x.Len())
	require.Empty(t, m.x.ArchetypesOfValue(1))
	require.NoError(t, m.x.Verify(0))
}

// TestVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestVerifyNamesTheInvariant(t *testing.T) {
	var x match.Index
	x.Open()
	for range 3 {
		a := &match.Entry{
			Table:  table.Table{Types: []table.TypeID{1, 200}, Metadata: table.NewMetadata(2, []uint16{0}, nil)},
			Values: []uint64{1},
		}
		a.Sig.Add(1)
		a.Sig.Add(200)
		x.Enter(a)
	}
	f := match.Filter{Where: [][]uint64{{1, 2}}}
	f.Enabled.Add(1)
	x.Matching(match.Filter{Where: [][]uint64{{2}}})
	m := x.Matching(f)
	require.Len(t, m.Matches, 3)
	require.NoError(t, x.Verify(3))
	require.ErrorContains(t, x.Verify(2), "match: M1:")
	for _, name := range []string{
		"M1", "M1 types", "M1 left", "M1 count",
		"M2 fewer", "M2 more", "M2 order", "M2 tests",
		"M3 position", "M3 undemanding", "M3 twice", "M3 fewer",
		"M4 fewer", "M4 order", "M4 idle", "M4 none",
		"M5 key", "M5 two", "M5 queries", "M5 lost",
	} {
		restore := x.Corrupt(m, name)
		require.NotNil(t, restore, name)
		require.ErrorContains(t, x.Verify(3), "match: "+strings.Fields(name)[0]+":", name)
		restore()
		require.NoError(t, x.Verify(3), name)
	}
}
