package value_test

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
)

// pair is a shared type with entities.
type pair struct {
	F    float64
	A, B entity.ID
}

// newPairs returns a store of pairs with number 7.
func newPairs(serials *atomic.Uint64) *value.Values[pair] {
	s := value.NewValues(func(x *pair, visit func(*entity.ID)) { visit(&x.A); visit(&x.B) })
	s.Open(7, serials)
	return s
}

// slowValues are a store beside those that hold its values, by what they equal.
type slowValues struct {
	t       *testing.T
	s       *value.Values[pair]
	serials atomic.Uint64
	held    [6][]*value.Shared // by index of pairs, once for each that holds the value
	asked   [6][]*value.Shared // asked for and held by nobody
}

var pairs = [6]pair{{}, {F: 1}, {F: nan}, {F: nan, A: entity.Make(3, entity.TagOf(2), 1)},
	{A: entity.Make(3, entity.TagOf(2), 1)}, {F: otherNaN, B: entity.Make(4, entity.TagOf(5), 3)}}

func (m *slowValues) check() {
	m.t.Helper()
	held, known := map[*value.Shared]int{}, 0
	for i, all := range m.held {
		v := m.s.Find(pairs[i])
		if len(all) == 0 {
			require.Nil(m.t, v, "%v is known, and held by nobody", pairs[i])
			continue
		}
		require.NotNil(m.t, v)
		for _, other := range all {
			require.Same(m.t, v, other, "one of those that are the same")
		}
		require.Same(m.t, v, m.s.Of(pairs[i]))
		held[v], known = len(all), known+1
	}
	require.NoError(m.t, m.s.Verify(held))
	require.Len(m.t, slices.Collect(m.s.All()), known)
}

// TestValuesAgreeWithTwin asks for values, holds them and lets them go.
func TestValuesAgreeWithTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	m := &slowValues{t: t}
	m.s = newPairs(&m.serials)
	for range 3000 {
		i := r.IntN(len(pairs))
		switch held, asked := &m.held[i], &m.asked[i]; r.IntN(5) {
		case 0:
			v, before := m.s.Of(pairs[i]), m.serials.Load()
			require.True(t, len(*held) > 0 && v == (*held)[0] || len(*held) == 0 && v.Serial == before)
			require.Equal(t, 7, v.Type)
			if i != 2 && i != 3 && i != 5 { // NaN
				require.Equal(t, pairs[i], value.As[pair](v))
			}
			*asked = append(*asked, v)
		case 1, 2:
			if len(*asked) > 0 {
				v := (*asked)[r.IntN(len(*asked))].Canonical()
				v.Hold()
				*held = append(*held, v)
			}
		case 3:
			if n := len(*held); n > 0 {
				(*held)[n-1].LetGo()
				*held = (*held)[:n-1]
			}
		case 4:
			var some []*value.Shared
			for j := range m.asked {
				some = append(some, m.asked[j]...)
			}
			all := value.HoldAll(some)
			require.True(t, slices.IsSortedFunc(all, value.CompareSerials))
			for _, v := range all {
				j := slices.IndexFunc(pairs[:], func(p pair) bool { return m.s.Find(p) == v })
				m.held[j], m.asked[j] = append(m.held[j], v), nil
			}
			for j := range m.asked {
				require.Empty(t, m.asked[j], "each value that was asked for is held")
			}
		}
		m.check()
	}
	m.s.Drop()
	m.held = [6][]*value.Shared{}
	m.check()
}

// TestValuesAreCopied: a store of the same type has the values of another, with other entities.
func TestValuesAreCopied(t *testing.T) {
	var serials, others atomic.Uint64
	s := newPairs(&serials)
	copies := s.Fresh()
	copies.Open(9, &others)
	for _, x := range pairs {
		s.Of(x).Hold()
	}
	var seen []entity.ID
	s.Entities(func(e entity.ID) { seen = append(seen, e) })
	require.Len(t, seen, 2*len(pairs))
	for _, v := range slices.SortedFunc(s.All(), value.CompareSerials) {
		same := copies.Copy(v, nil)
		require.Equal(t, 9, same.Type)
		other := copies.Copy(v, func(e *entity.ID) { *e = e.In(entity.TagOf(1)) })
		require.Equal(t, value.As[pair](v).A.In(entity.TagOf(1)), value.As[pair](other).A)
		require.Equal(t, value.As[pair](v).B.In(entity.TagOf(1)), other.Any().(pair).B)
		require.Equal(t, value.As[pair](v).A, value.As[pair](same).A, "a rename is of the copy alone")
		require.Equal(t, s.Find(value.As[pair](v)), v)
	}
	require.Equal(t, pair{}, value.As[pair](copies.Zero()))
	require.Equal(t, uint64(len(pairs)), serials.Load())
}

// TestValuesWithoutEntities: a type may have none, and may be an interface.
func TestValuesWithoutEntities(t *testing.T) {
	var serials atomic.Uint64
	s := value.NewValues[any](nil)
	s.Open(0, &serials)
	v := s.Zero()
	v.Hold()
	require.Nil(t, v.Any())
	require.Nil(t, value.As[any](v))
	require.Same(t, v, s.Copy(v, func(*entity.ID) { t.Error("nil has an entity") }))
	s.Entities(func(entity.ID) { t.Error("nil has an entity") })
	require.False(t, s.Takes([]int{}))
	require.True(t, s.Takes(3))
	require.NoError(t, s.Verify(map[*value.Shared]int{v: 1}))
}

// TestValuesVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestValuesVerifyNamesTheInvariant(t *testing.T) {
	var serials atomic.Uint64
	s := newPairs(&serials)
	v := s.Of(pairs[1])
	v.Hold()
	held := map[*value.Shared]int{v: 1}
	require.NoError(t, s.Verify(held))
	odd := s.Of(pairs[2])
	odd.Hold()
	held[odd] = 1
	for name, x := range map[string]pair{
		"K1 odd": pairs[0], "K1 equal": pairs[2], "K2": {F: otherNaN}, "K3 count": {}, "K3 idle": pairs[4], "K3 found": pairs[0], "K3 stranger": {},
	} {
		restore := s.Corrupt(name, v, x)
		require.ErrorContains(t, s.Verify(held), "value: "+name[:2]+":", name)
		restore()
		require.NoError(t, s.Verify(held))
	}
}
