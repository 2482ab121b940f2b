package asm_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
)

// forEachReduction runs body once per kernel, implementation and element type.
func forEachReduction(t *testing.T, body32 func(*testing.T, asm.ReduceFunc[float32], asm.ReduceFunc[float32]),
	body64 func(*testing.T, asm.ReduceFunc[float64], asm.ReduceFunc[float64])) {
	for _, r := range asm.Reductions32() {
		for _, impl := range r.Impls {
			t.Run("op="+r.Name+"/impl="+impl.Name+"/type=float32", func(t *testing.T) { body32(t, r.Ref, impl.Func) })
		}
	}
	for _, r := range asm.Reductions64() {
		for _, impl := range r.Impls {
			t.Run("op="+r.Name+"/impl="+impl.Name+"/type=float64", func(t *testing.T) { body64(t, r.Ref, impl.Func) })
		}
	}
}

func testReduceColumns[F asm.Float](t *testing.T, ref, impl asm.ReduceFunc[F]) {
	rnd := rand.New(rand.NewPCG(1, 2))
	eachColumn(t, func(s []F) { fill(rnd, s) }, true, func(c columnCase[F]) {
		x := c.x[:len(c.dst)]
		if got, want := impl(x, c.y), ref(x, c.y); !same(got, want) {
			t.Fatalf("%s: n=%d: got %v (%#x) want %v (%#x)", c.what, len(x), got, bitsOf(got), want, bitsOf(want))
		}
	})
}

// TestReduceColumns: every length and offset, guard pages: the same bits as the
// reference, whatever the implementation.
func TestReduceColumns(t *testing.T) {
	forEachReduction(t, testReduceColumns[float32], testReduceColumns[float64])
}

// testReduceSpecials puts every pair of special values into every place of
// columns of several lengths.
func testReduceSpecials[F asm.Float](t *testing.T, ref, impl asm.ReduceFunc[F]) {
	list := specials[F]()
	for _, n := range []int{1, 2, 31, 33, 70} {
		x := make([]F, n)
		for _, base := range []F{1, F(math.Copysign(0, -1)), 0} {
			for i := range x {
				x[i] = base
			}
			for i := range x {
				for j, v := range list {
					x[i], x[n-1] = v, list[(i+j)%len(list)]
					if got, want := impl(x, x), ref(x, x); !same(got, want) {
						t.Fatalf("n=%d, base %v, x[%d]=%v x[n-1]=%v: got %v want %v", n, base, i, v, x[n-1], got, want)
					}
				}
				x[i], x[n-1] = base, base
			}
		}
	}
}

func TestReduceSpecials(t *testing.T) {
	forEachReduction(t, testReduceSpecials[float32], testReduceSpecials[float64])
}

// TestReduceEmpty: what no elements give.
func TestReduceEmpty(t *testing.T) {
	assert.Equal(t, uint64(0), math.Float64bits(asm.Sum[float64](nil)))
	assert.Equal(t, float32(0), asm.Dot[float32](nil, nil))
	assert.Equal(t, math.Inf(1), asm.Min[float64](nil))
	assert.Equal(t, math.Inf(-1), asm.Max[float64](nil))
}

// TestReduceLong covers several assembly calls, and holds Sum and Dot against
// exact sums: the error of an addition is half a unit of the partial sum at most,
// and there are n/32 + 5 in a row.
func TestReduceLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{asm.CallBytes/16 - 1, asm.CallBytes/16 + 1, asm.CallBytes/4 + 33} {
		x, y := make([]float64, n), make([]float64, n)
		fill(rnd, x)
		fill(rnd, y)
		for _, r := range asm.Reductions64() {
			assert.Equal(t, r.Ref(x, y), r.Impls[0].Func(x, y), "%s n=%d", r.Name, n)
		}
		exact, size := new(big.Float).SetPrec(2000), 0.0
		for _, v := range x {
			exact.Add(exact, big.NewFloat(v))
			size += math.Abs(v)
		}
		want, _ := exact.Float64()
		assert.InDelta(t, want, asm.Sum(x), size*0x1p-53*float64(n/32+6))
	}
}
