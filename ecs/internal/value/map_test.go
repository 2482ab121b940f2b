package value_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/value"
)

// mixed is a key with all that makes keys odd.
type mixed struct {
	F float32
	C complex128
	_ float64
	A [2]any
	I any
	Z [1 << 40]struct{}
}

var nan, otherNaN = math.NaN(), math.Float64frombits(0x7ff8_0000_0000_0123)

// slowMap is a map beside lists of keys that are the same, each with a number; v is what belongs to them, 0 nothing.
type slowMap[K comparable] struct {
	m    *value.Map[K, int]
	same [][]K
	v    []int
}

func (s *slowMap[K]) check(t *testing.T) {
	t.Helper()
	require.NoError(t, s.m.Verify())
	var want []int
	for i, keys := range s.same {
		for _, x := range keys {
			require.True(t, s.m.Takes(x))
			require.Equal(t, s.v[i], s.m.Get(x), "%v", i)
		}
		if s.v[i] != 0 {
			want = append(want, s.v[i])
		}
	}
	got := slices.Sorted(s.m.All())
	slices.Sort(want)
	require.Equal(t, want, got)
}

// follow puts keys in and takes them out, each by any of those that are the same.
func follow[K comparable](t *testing.T, same ...[]K) *slowMap[K] {
	s := &slowMap[K]{value.NewMap[K, int](), same, make([]int, len(same))}
	r := rand.New(rand.NewPCG(1, uint64(len(same))))
	for step := range 500 {
		i := r.IntN(len(same))
		x := same[i][r.IntN(len(same[i]))]
		if s.v[i] == 0 {
			s.m.Put(x, step+1)
			s.v[i] = step + 1
		} else {
			s.m.Delete(x)
			s.v[i] = 0
		}
		s.check(t)
	}
	for range s.m.All() {
		break // a walk may end early
	}
	return s
}

// TestMapAgreesWithTwin takes keys that are == to themselves, and odd ones.
func TestMapAgreesWithTwin(t *testing.T) {
	follow(t, []string{"a"}, []string{"b"}, []string{""})
	follow(t, []float64{0, math.Copysign(0, -1)}, []float64{1}, []float64{nan, otherNaN}, []float64{math.Inf(1)})
	follow(t, [][2]float64{{nan, 1}, {otherNaN, 1}}, [][2]float64{{1, nan}}, [][2]float64{{nan, nan}}, [][2]float64{{1, 1}})
	follow(t, []any{nil}, []any{nan, otherNaN}, []any{float32(nan)}, []any{complex(nan, 1)}, []any{complex(1, nan)}, []any{1}, []any{int64(1)},
		[]any{[1]float64{nan}}, []any{struct{ x float64 }{nan}, struct{ x float64 }{otherNaN}})
	follow(t, []mixed{{}}, []mixed{{F: float32(nan)}}, []mixed{{C: complex(nan, 0)}, {C: complex(otherNaN, 0)}}, []mixed{{A: [2]any{nan}}}, []mixed{{A: [2]any{nil, nan}}},
		[]mixed{{A: [2]any{nan, 1}}}, []mixed{{I: nan}}, []mixed{{I: float32(nan)}}, []mixed{{I: nan, F: 1}})
}

// TestMapTakes tells keys that Go cannot compare, whatever holds them.
func TestMapTakes(t *testing.T) {
	m := value.NewMap[mixed, int]()
	for _, x := range []any{[]int{}, map[int]int{}, func() {}, [2]any{nil, []int{}}, struct{ x any }{[]int{}}, [1][]int{}} {
		require.False(t, m.Takes(mixed{I: x}), "%T", x)
		require.False(t, m.Takes(mixed{A: [2]any{nil, x}}), "%T", x)
		require.Panics(t, func() { m.Get(mixed{I: x}) })
	}
	for _, x := range []any{nil, 1, "a", new(int), [2]any{}, struct{ x any }{1}, [0][]int{}} {
		_, comparable := x.([0][]int)
		require.Equal(t, !comparable, m.Takes(mixed{I: x}), "%T", x)
	}
	require.True(t, value.NewMap[string, int]().Takes("a"))
}

// TestMapVerifyNamesTheInvariant corrupts each numbered invariant in turn.
func TestMapVerifyNamesTheInvariant(t *testing.T) {
	s := &slowMap[float64]{value.NewMap[float64, int](), [][]float64{{1}, {nan}}, []int{1, 2}}
	s.m.Put(1, 1)
	s.m.Put(nan, 2)
	s.check(t)
	for name, change := range map[string]struct {
		key float64
		odd bool
	}{"K1 odd": {2, true}, "K1 equal": {nan, false}, "K2": {otherNaN, true}} {
		restore := s.m.Plant(change.key, change.odd)
		require.ErrorContains(t, s.m.Verify(), "value: "+name[:2]+":", name)
		restore()
		s.check(t)
	}
}
