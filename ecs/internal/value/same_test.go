package value_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/value"
)

// mixed has all that makes values odd.
type mixed struct {
	F float32
	C complex128
	_ float64
	A [2]any
	I any
	Z [1 << 40]struct{}
}

var nan, otherNaN = math.NaN(), math.Float64frombits(0x7ff8_0000_0000_0123)

// slowSame is a store beside lists of what is the same, each with the value that stands for it,
// nil: nobody holds one.
type slowSame[T comparable] struct {
	s       *value.Values[T]
	serials atomic.Uint64
	same    [][]T
	v       []*value.Shared
}

func (m *slowSame[T]) check(t *testing.T) {
	t.Helper()
	held := map[*value.Shared]int{}
	for i, all := range m.same {
		for _, x := range all {
			require.True(t, m.s.Takes(x))
			require.True(t, m.v[i] == m.s.Find(x), "%v", i)
		}
		if m.v[i] != nil {
			held[m.v[i]] = 1
		}
	}
	require.NoError(t, m.s.Verify(held))
	require.ElementsMatch(t, slices.Collect(maps.Keys(held)), slices.Collect(m.s.All()))
}

// follow holds values and lets them go, each by any of those that are the same.
func follow[T comparable](t *testing.T, same ...[]T) {
	m := &slowSame[T]{s: value.NewValues[T](nil), same: same, v: make([]*value.Shared, len(same))}
	m.s.Open(0, &m.serials)
	r := rand.New(rand.NewPCG(1, uint64(len(same))))
	for range 500 {
		i := r.IntN(len(same))
		v := m.s.Of(same[i][r.IntN(len(same[i]))])
		if m.v[i] == nil {
			v.Hold()
			m.v[i] = v
		} else {
			v.LetGo()
			m.v[i] = nil
		}
		m.check(t)
	}
	for range m.s.All() {
		break // a walk may end early
	}
}

// TestSameAgreesWithTwin takes values that are == to themselves, and odd ones.
func TestSameAgreesWithTwin(t *testing.T) {
	follow(t, []string{"a"}, []string{"b"}, []string{""})
	follow(t, []float64{0, math.Copysign(0, -1)}, []float64{1}, []float64{nan, otherNaN}, []float64{math.Inf(1)})
	follow(t, [][2]float64{{nan, 1}, {otherNaN, 1}}, [][2]float64{{1, nan}}, [][2]float64{{nan, nan}}, [][2]float64{
		{1, 1},
	})
	follow(t, []any{nil}, []any{nan, otherNaN}, []any{float32(nan)}, []any{complex(nan, 1)}, []any{complex(1, nan)},
		[]any{1}, []any{int64(1)},
		[]any{[1]float64{nan}}, []any{struct{ x float64 }{nan}, struct{ x float64 }{otherNaN}})
	follow(t, []mixed{{}}, []mixed{{F: float32(nan)}}, []mixed{{C: complex(nan, 0)}, {C: complex(otherNaN, 0)}},
		[]mixed{{A: [2]any{nan}}}, []mixed{{A: [2]any{nil, nan}}},
		[]mixed{{A: [2]any{nan, 1}}}, []mixed{{I: nan}}, []mixed{{I: float32(nan)}}, []mixed{{I: nan, F: 1}})
}

// TestValuesTake finds values that Go cannot compare, whatever holds them.
func TestValuesTake(t *testing.T) {
	m := value.NewValues[mixed](nil)
	for _, x := range []any{
		[]int{}, map[int]int{}, func() {}, [2]any{nil, []int{}}, struct{ x any }{[]int{}}, [1][]int{},
	} {
		require.False(t, m.Takes(mixed{I: x}), "%T", x)
		require.False(t, m.Takes(mixed{A: [2]any{nil, x}}), "%T", x)
		require.Panics(t, func() { m.Find(mixed{I: x}) })
	}
	for _, x := range []any{nil, 1, "a", new(int), [2]any{}, struct{ x any }{1}, [0][]int{}} {
		_, comparable := x.([0][]int)
		require.Equal(t, !comparable, m.Takes(mixed{I: x}), "%T", x)
	}
	require.True(t, value.NewValues[string](nil).Takes("a"))
}
