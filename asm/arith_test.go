package asm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/debug"
)

// forEachColumnOp runs body once per kernel, implementation and element type.
func forEachColumnOp(t *testing.T, body32 func(*testing.T, asm.ColumnFunc[float32], asm.ColumnFunc[float32]),
	body64 func(*testing.T, asm.ColumnFunc[float64], asm.ColumnFunc[float64])) {
	for _, op := range asm.ColumnOps32() {
		for _, impl := range op.Impls {
			t.Run("op="+op.Name+"/impl="+impl.Name+"/type=float32", func(t *testing.T) { body32(t, op.Ref, impl.Func) })
		}
	}
	for _, op := range asm.ColumnOps64() {
		for _, impl := range op.Impls {
			t.Run("op="+op.Name+"/impl="+impl.Name+"/type=float64", func(t *testing.T) { body64(t, op.Ref, impl.Func) })
		}
	}
}

// same reports whether got is a right answer where the reference gave want: the
// same bits, or any NaN for a NaN.
func same[F asm.Float](got, want F) bool {
	return bitsOf(got) == bitsOf(want) || isNaN(got) && isNaN(want)
}

// checkColumn runs impl on dst, x and y, which may be the same memory, and
// compares with the reference run on copies.
func checkColumn[F asm.Float](t *testing.T, ref, impl asm.ColumnFunc[F], c columnCase[F], a F) {
	t.Helper()
	n := len(c.dst)
	want, x, y := slices.Clone(c.dst), slices.Clone(c.x[:n]), slices.Clone(c.y[:n])
	before := slices.Clone(c.dst)
	ref(want, x, y, a)
	impl(c.dst, c.x, c.y, a)
	for i := range want {
		if !same(c.dst[i], want[i]) {
			t.Fatalf("%s: n=%d a=%v: element %d of dst=%v x=%v y=%v: got %v (%#x) want %v (%#x)", c.what, n, a,
				i, before[i], x[i], y[i], c.dst[i], bitsOf(c.dst[i]), want[i], bitsOf(want[i]))
		}
	}
}

func testArithColumns[F asm.Float](t *testing.T, ref, impl asm.ColumnFunc[F]) {
	rnd := rand.New(rand.NewPCG(1, 2))
	eachColumn(t, func(s []F) { fill(rnd, s) }, true, func(c columnCase[F]) {
		checkColumn(t, ref, impl, c, F(-1.0/3))
	})
}

// TestArithColumns: every length and offset, guard pages, aliasing.
func TestArithColumns(t *testing.T) {
	forEachColumnOp(t, testArithColumns[float32], testArithColumns[float64])
}

// testArithSpecials: every triple of special values, in every lane.
func testArithSpecials[F asm.Float](t *testing.T, ref, impl asm.ColumnFunc[F]) {
	list := specials[F]()
	var ds, xs, ys []F
	for _, d := range list {
		for _, x := range list {
			for _, y := range list {
				ds, xs, ys = append(ds, d), append(xs, x), append(ys, y)
			}
		}
	}
	for _, a := range list {
		for skip := range 5 {
			checkColumn(t, ref, impl, columnCase[F]{slices.Clone(ds[skip:]), xs[skip:], ys[skip:], "specials"}, a)
		}
	}
}

func TestArithSpecials(t *testing.T) {
	forEachColumnOp(t, testArithSpecials[float32], testArithSpecials[float64])
}

// TestMulAddNotFused: (1+u)*(1+u) - (1+2u) is 0 when the product is rounded
// first and u*u when it is not.
func TestMulAddNotFused(t *testing.T) {
	for _, n := range []int{1, 3, 8, 17, 100} {
		const u = 0x1p-52
		dst, x := make([]float64, n), make([]float64, n)
		for i := range dst {
			dst[i], x[i] = -(1 + 2*u), 1+u
		}
		asm.MulAdd(dst, x, x)
		assert.Equal(t, make([]float64, n), dst)
		assert.Equal(t, asm.DotRef(x, x), asm.Dot(x, x))
	}
}

// TestArithBuiltins: the references of Minimum and Maximum are Go's min and max.
func TestArithBuiltins(t *testing.T) {
	for _, d := range specials[float64]() {
		for _, x := range specials[float64]() {
			low, high := []float64{d}, []float64{d}
			asm.MinimumRef(low, []float64{x})
			asm.MaximumRef(high, []float64{x})
			assert.True(t, same(low[0], min(d, x)), "min(%v, %v): got %v", d, x, low[0])
			assert.True(t, same(high[0], max(d, x)), "max(%v, %v): got %v", d, x, high[0])
		}
	}
}

// TestArithLong covers several assembly calls and a named element type.
func TestArithLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{asm.CallBytes/12 - 1, asm.CallBytes / 12, asm.CallBytes/12 + 1, asm.CallBytes/4 + 3} {
		dst, x, y := make([]float32, n), make([]float32, n), make([]float32, n)
		fill(rnd, dst)
		fill(rnd, x)
		fill(rnd, y)
		for _, op := range asm.ColumnOps32() {
			checkColumn(t, op.Ref, op.Impls[0].Func, columnCase[float32]{dst, x, y, op.Name}, 0.7)
		}
	}
	named := make([]speed, 40)
	for i := range named {
		named[i] = speed(i)
	}
	asm.Add(named, named)
	asm.Scale(named, 0.5)
	assert.EqualValues(t, 39, named[39])
	assert.EqualValues(t, 39*40/2, asm.Sum(named))
	assert.EqualValues(t, 39, asm.Max(named))
}

func TestArithContract(t *testing.T) {
	assert.PanicsWithValue(t, "asm: Add: len(x)=3 is less than len(dst)=4", func() {
		asm.Add(make([]float32, 4), make([]float32, 3))
	})
	assert.PanicsWithValue(t, "asm: MulAdd: len(y)=0 is less than len(dst)=1", func() {
		asm.MulAdd(make([]float64, 1), make([]float64, 1), nil)
	})
	assert.PanicsWithValue(t, "asm: Minimum: len(x)=3 is less than len(dst)=99", func() {
		asm.Minimum(make([]float32, 99), make([]float32, 3))
	})
	assert.PanicsWithValue(t, "asm: Maximum: len(x)=3 is less than len(dst)=99", func() {
		asm.Maximum(make([]float64, 99), make([]float64, 3))
	})
	assert.PanicsWithValue(t, "asm: Dot: len(y)=3 is less than len(x)=4", func() {
		asm.Dot(make([]float32, 4), make([]float32, 3))
	})
	assert.NotPanics(t, func() {
		asm.Add(nil, []float32{1})
		asm.Scale[float64](nil, 1)
		asm.MulAdd[float32](nil, nil, nil)
	})
	if debug.On {
		s := make([]float32, 20)
		assert.PanicsWithValue(t, "asm: Add: dst and x overlap: 40 bytes, x begins 4 bytes behind dst", func() {
			asm.Add(s[:10], s[1:])
		})
	}
}

// FuzzArith: data is the elements, triples of (dst, x, y) of any bit pattern.
func FuzzArith(f *testing.F) {
	f.Add(byte(3), []byte("bytes of which every group makes three numbers, as they come"))
	f.Add(byte(0), make([]byte, 8*100))
	f.Fuzz(func(t *testing.T, off byte, data []byte) {
		fuzzArith(t, int(off%16), data, asm.ColumnOps32(), asm.Reductions32())
		fuzzArith(t, int(off%16), data, asm.ColumnOps64(), asm.Reductions64())
	})
}

func fuzzArith[F asm.Float](t *testing.T, lo int, data []byte, ops []asm.ColumnOp[F], folds []asm.Reduction[F]) {
	all := make([]F, len(data)/int(unsafe.Sizeof(F(0))))
	copy(rawBytes(all), data)
	n := len(all) / 3
	for _, op := range ops {
		for _, impl := range op.Impls {
			room := append(make([]F, lo), all[:n]...)
			room = append(room, 42)
			c := columnCase[F]{room[lo : lo+n], all[n : 2*n], all[2*n:], fmt.Sprint(op.Name, impl.Name)}
			var a F
			if n > 0 {
				a = all[n-1]
			}
			checkColumn(t, op.Ref, impl.Func, c, a)
			assert.Equal(t, F(42), room[lo+n])
		}
	}
	for _, r := range folds {
		want := r.Ref(all[:n], all[n:])
		for _, impl := range r.Impls {
			if got := impl.Func(all[:n], all[n:]); !same(got, want) {
				t.Fatalf("%s %s: n=%d: got %v want %v", r.Name, impl.Name, n, got, want)
			}
		}
	}
}
