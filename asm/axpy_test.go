package asm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/asm"
	"quarry/internal/debug"
	"quarry/internal/guard"
)

// forEachAxpy runs body once per implementation and element type that this
// machine has.
func forEachAxpy(t *testing.T, body32 func(*testing.T, asm.AxpyFunc[float32]),
	body64 func(*testing.T, asm.AxpyFunc[float64])) {
	for _, impl := range asm.AxpyImpls32() {
		t.Run("impl="+impl.Name+"/type=float32", func(t *testing.T) { body32(t, impl.Func) })
	}
	for _, impl := range asm.AxpyImpls64() {
		t.Run("impl="+impl.Name+"/type=float64", func(t *testing.T) { body64(t, impl.Func) })
	}
}

// bitsOf returns the bits of v.
func bitsOf[F asm.Float](v F) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(float64(v))
}

// isNaN without a conversion, which could change the value.
func isNaN[F asm.Float](v F) bool { return v != v }

// agree reports whether got is a right answer for d + a*x, where want is what
// the reference returned: the same bits. Only where a NaN must be chosen from
// two (which of them survives depends on the order of the operands, which the
// compiler is free to choose) any NaN is right.
func agree[F asm.Float](got, want, d, a, x F) bool {
	if bitsOf(got) == bitsOf(want) {
		return true
	}
	twoInProduct := isNaN(a) && isNaN(x)
	twoInSum := isNaN(F(a*x)) && isNaN(d)
	return isNaN(got) && isNaN(want) && (twoInProduct || twoInSum)
}

// checkAxpy runs impl on copies of what dst and x hold now and compares with
// the reference. x is dst itself in the aliased case.
func checkAxpy[F asm.Float](t *testing.T, impl asm.AxpyFunc[F], dst []F, a F, x []F, what string, args ...any) {
	t.Helper()
	d0, x0 := append([]F(nil), dst...), append([]F(nil), x...)
	want := append([]F(nil), dst...)
	asm.AxpyRef(want, a, x0)
	impl(dst, a, x)
	for i := range dst {
		if !agree(dst[i], want[i], d0[i], a, x0[i]) {
			t.Fatalf("%s: n=%d: element %d: %v + %v*%v: got %v (%#x) want %v (%#x)", fmt.Sprintf(what, args...),
				len(dst), i, d0[i], a, x0[i], dst[i], bitsOf(dst[i]), want[i], bitsOf(want[i]))
		}
	}
	if len(dst) > 0 && len(x) > 0 && &dst[0] == &x[0] {
		return
	}
	for i := range x {
		if bitsOf(x[i]) != bitsOf(x0[i]) {
			t.Fatalf("%s: n=%d: x[%d] was changed", fmt.Sprintf(what, args...), len(dst), i)
		}
	}
}

// fill writes numbers of many magnitudes, so that rounding shows.
func fill[F asm.Float](rnd *rand.Rand, s []F) {
	for i := range s {
		s[i] = F(math.Ldexp(rnd.Float64()-0.5, rnd.IntN(12)-6))
	}
}

// view returns the bytes of b as elements.
func view[F asm.Float](b []byte) []F {
	if len(b) == 0 {
		return nil
	}
	var f F
	// Safe because the callers pass memory whose start and length are multiples
	// of the element's size, and that holds no Go pointers.
	return unsafe.Slice((*F)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(f)))
}

// testAxpyLengths: every length at every offset of an element in a vector,
// elements around dst untouched, and exact aliasing.
func testAxpyLengths[F asm.Float](t *testing.T, impl asm.AxpyFunc[F]) {
	const vector = 16 // elements of the widest vector
	rnd := rand.New(rand.NewPCG(1, 2))
	room, other := make([]F, longest+3*vector), make([]F, longest+3*vector)
	before := make([]F, len(room))
	for n := 0; n <= longest; n += columnStep(n) {
		for off := range vector {
			fill(rnd, room)
			fill(rnd, other)
			copy(before, room)
			lo := vector + off
			dst := room[lo : lo+n]
			if off2 := (3*off + n) % (vector + 1); off2 < vector {
				checkAxpy(t, impl, dst, F(1.0/3), other[off2:off2+n+off%2], "dst at %d, x at %d", off, off2)
			} else {
				checkAxpy(t, impl, dst, F(1.0/3), dst, "dst and x at %d", off)
			}
			for i := range room {
				if (i < lo || i >= lo+n) && room[i] != before[i] {
					t.Fatalf("n=%d off=%d: element %d outside was overwritten", n, off, i-lo)
				}
			}
		}
	}
}

func TestAxpyLengths(t *testing.T) {
	forEachAxpy(t, testAxpyLengths[float32], testAxpyLengths[float64])
}

// testAxpyGuarded: every length with both slices flush against a page without
// access, at either end.
func testAxpyGuarded[F asm.Float](t *testing.T, impl asm.AxpyFunc[F]) {
	var f F
	size := int(unsafe.Sizeof(f))
	rnd := rand.New(rand.NewPCG(3, 4))
	dTail, xTail := view[F](guard.Tail(t, longest*size)), view[F](guard.Tail(t, longest*size))
	dHead, xHead := view[F](guard.Head(t, longest*size)), view[F](guard.Head(t, longest*size))
	for n := 0; n <= longest; n += columnStep(n) {
		for _, c := range []struct {
			name   string
			dst, x []F
		}{
			{"tails", dTail[longest-n:], xTail[longest-n:]},
			{"heads", dHead[:n], xHead[:n]},
			{"dst tail, x head", dTail[longest-n:], xHead[:n]},
			{"dst head, x tail", dHead[:n], xTail[longest-n:]},
			{"same tail", dTail[longest-n:], dTail[longest-n:]},
			{"same head", dHead[:n], dHead[:n]},
		} {
			fill(rnd, c.x)
			fill(rnd, c.dst)
			checkAxpy(t, impl, c.dst, F(-2.0/7), c.x, "%s", c.name)
		}
	}
}

func TestAxpyGuarded(t *testing.T) {
	forEachAxpy(t, testAxpyGuarded[float32], testAxpyGuarded[float64])
}

// specials are the values at which implementations of arithmetic differ.
func specials[F asm.Float]() []F {
	var f F
	inf := F(math.Inf(1))
	list := []F{0, 1, -1, F(1.0 / 3), inf, -inf, F(math.Copysign(0, -1))}
	if unsafe.Sizeof(f) == 4 {
		for _, b := range []uint32{1, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
			0x7fc00000, 0xffc00000, 0x7fc12345, 0x7f800001 /* signalling */} {
			list = append(list, F(math.Float32frombits(b)))
		}
		return list
	}
	for _, b := range []uint64{1, 1<<63 | 1, 1<<52 - 1, 1 << 52, 0x7fefffffffffffff, 0xffefffffffffffff,
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000012345678, 0x7ff0000000000001 /* signalling */} {
		list = append(list, F(math.Float64frombits(b)))
	}
	return list
}

// testAxpySpecials: every triple of special values, in every lane and in the
// rest behind the vectors.
func testAxpySpecials[F asm.Float](t *testing.T, impl asm.AxpyFunc[F]) {
	list := specials[F]()
	var ds, xs []F
	for _, d := range list {
		for _, x := range list {
			ds, xs = append(ds, d), append(xs, x)
		}
	}
	for _, a := range list {
		for skip := range 16 {
			checkAxpy(t, impl, append([]F(nil), ds[skip:]...), a, xs[skip:], "a=%v", a)
		}
	}
}

func TestAxpySpecials(t *testing.T) {
	forEachAxpy(t, testAxpySpecials[float32], testAxpySpecials[float64])
}

// TestAxpyNotFused: (1+u)*(1+u) - (1+2u) is 0 when the product is rounded
// first and u*u when it is not.
func TestAxpyNotFused(t *testing.T) {
	forEachAxpy(t, func(t *testing.T, impl asm.AxpyFunc[float32]) {
		const u = 0x1p-23
		testAxpyNotFused(t, impl, 1+u, -(1 + 2*u))
	}, func(t *testing.T, impl asm.AxpyFunc[float64]) {
		const u = 0x1p-52
		testAxpyNotFused(t, impl, 1+u, -(1 + 2*u))
	})
	d := []float64{-(1 + 0x1p-51)}
	asm.AxpyRef(d, 1+0x1p-52, []float64{1 + 0x1p-52})
	assert.Zero(t, d[0], "the reference")
}

func testAxpyNotFused[F asm.Float](t *testing.T, impl asm.AxpyFunc[F], a, d F) {
	for n := 1; n <= 70; n++ {
		dst, x := make([]F, n), make([]F, n)
		for i := range dst {
			dst[i], x[i] = d, a
		}
		impl(dst, a, x)
		require.Equal(t, make([]F, n), dst, "n=%d", n)
	}
}

// speed stands for a user's own type.
type speed float32

// TestAxpyLong covers several assembly calls and a named element type.
func TestAxpyLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{asm.CallBytes/8 - 1, asm.CallBytes / 8, asm.CallBytes/8 + 1, asm.CallBytes/2 + 17} {
		dst, x := make([]float32, n), make([]float32, n)
		fill(rnd, dst)
		fill(rnd, x)
		checkAxpy(t, asm.Axpy[float32], dst, 0.1, x, "float32")
		wide, y := make([]float64, n), make([]float64, n)
		fill(rnd, wide)
		fill(rnd, y)
		checkAxpy(t, asm.Axpy[float64], wide, 0.1, y, "float64")
	}
	named := []speed{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}
	checkAxpy(t, asm.Axpy[speed], named, 0.1, append([]speed(nil), named...), "a named type")
}

func TestAxpyContract(t *testing.T) {
	assert.PanicsWithValue(t, "asm: Axpy: len(x)=3 is less than len(dst)=4", func() {
		asm.Axpy(make([]float32, 4), 1, make([]float32, 3))
	})
	assert.PanicsWithValue(t, "asm: Axpy: len(x)=0 is less than len(dst)=1", func() {
		asm.Axpy(make([]float64, 1), 1, nil)
	})
	assert.NotPanics(t, func() {
		asm.Axpy(nil, 1, []float32{1})
		asm.Axpy[float64](nil, 1, nil)
		asm.Axpy([]float64{}, 1, nil)
	})

	s := make([]float32, 20)
	assert.Nil(t, asm.AxpyOverlaps(s[:10], s[:10]), "the same memory")
	assert.Nil(t, asm.AxpyOverlaps(s[:10], s[10:]), "neighbours")
	assert.Nil(t, asm.AxpyOverlaps(s[10:], s[:10]), "neighbours")
	const overlap = "asm: Axpy: dst and x overlap: 10 elements, x begins %d bytes behind dst"
	assert.Equal(t, fmt.Sprintf(overlap, 36), asm.AxpyOverlaps(s[:10], s[9:19]))
	assert.Equal(t, fmt.Sprintf(overlap, -4), asm.AxpyOverlaps(s[1:11], s[:10]))
	if debug.On {
		assert.PanicsWithValue(t, fmt.Sprintf(overlap, 4), func() { asm.Axpy(s[:10], 1, s[1:]) })
	}
}

func TestAxpyDoesNotAllocate(t *testing.T) {
	skipIfEverythingAllocates(t)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var short32, x32 [8]float32 // on the stack, unless Axpy lets them escape
		var long64, x64 [200]float64
		asm.Axpy(short32[:], 2, x32[:])
		asm.Axpy(long64[:], 2, x64[:])
	}))
}

// skipIfEverythingAllocates skips in builds with -d=checkptr=2, which moves to
// the heap whatever is converted to an unsafe.Pointer, whether it escapes or not.
func skipIfEverythingAllocates(t *testing.T) {
	t.Helper()
	allocs := testing.AllocsPerRun(100, func() {
		var v [8]float32
		// Safe because the type stays the same.
		p := (*[8]float32)(unsafe.Pointer(&v))
		p[0]++
	})
	if allocs > 0 {
		t.Skip("this build allocates for every unsafe.Pointer")
	}
}
