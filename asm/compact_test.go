package asm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
)

// masks fills m with the k-th of several kinds of mask.
func masks(rnd *rand.Rand, m []uint64, k int) {
	for i := range m {
		switch k % 6 {
		case 0:
			m[i] = rnd.Uint64()
		case 1:
			m[i] = rnd.Uint64() & rnd.Uint64() & rnd.Uint64()
		case 2:
			m[i] = rnd.Uint64() | rnd.Uint64() | rnd.Uint64()
		case 3:
			m[i] = ^uint64(0)
		case 4:
			m[i] = 0
		case 5:
			m[i] = []uint64{0, ^uint64(0), rnd.Uint64()}[rnd.IntN(3)]
		}
	}
}

func testCompact[T comparable](t *testing.T, list []asm.Impl[asm.CompactFunc[T]]) {
	for _, impl := range list {
		t.Run(fmt.Sprintf("size=%d/impl=%s", unsafe.Sizeof(*new(T)), impl.Name), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 6))
			want, mask := make([]T, longest), make([]uint64, longest/64)
			k := 0
			eachColumn(t, randomRows[T](rnd), true, func(c columnCase[T]) {
				n := len(c.dst)
				m := mask[:(n+63)/64]
				k++
				masks(rnd, m, k)
				// Rows behind the result must keep what they held. Where src is dst
				// that is what src held there.
				copy(want, c.dst)
				count := asm.CompactRef(want, slices.Clone(c.x[:n]), m)
				if got := impl.Func(c.dst, c.x[:n], m); got != count {
					t.Fatalf("%s: n=%d mask %#x: got %d rows want %d", c.what, n, m, got, count)
				}
				if !slices.Equal(c.dst, want[:n]) {
					t.Fatalf("%s: n=%d mask %#x: got %v want %v", c.what, n, m, c.dst, want[:n])
				}
			})
		})
	}
}

func TestCompactColumns(t *testing.T) {
	testCompact(t, asm.CompactImpls[four]())
	testCompact(t, asm.CompactImpls[eight]())
	testCompact(t, asm.CompactImpls[sixteen]())
	testCompact(t, []asm.Impl[asm.CompactFunc[[3]byte]]{{Name: "public", Func: asm.Compact[[3]byte]}})
}

// TestCompactTight: dst is exactly as long as the result and ends at a page
// without access, and so does the mask.
func TestCompactTight(t *testing.T) {
	testCompactTight(t, asm.CompactImpls[four]())
	testCompactTight(t, asm.CompactImpls[eight]())
	testCompactTight(t, asm.CompactImpls[sixteen]())
}

func testCompactTight[T comparable](t *testing.T, list []asm.Impl[asm.CompactFunc[T]]) {
	rnd := rand.New(rand.NewPCG(7, 8))
	size := 300 * int(unsafe.Sizeof(*new(T)))
	room := edges[T](t, size)
	src, want := make([]T, 300), make([]T, 300)
	randomRows[T](rnd)(src)
	mask := edges[uint64](t, 5*8)
	for n := range 301 {
		m := mask[5-(n+63)/64:]
		masks(rnd, m, n%3)
		count := asm.CompactRef(want, src[:n], m)
		for _, impl := range list {
			dst := room[300-count:]
			if got := impl.Func(dst, src[:n], m); got != count || !slices.Equal(dst, want[:count]) {
				t.Fatalf("%s: n=%d mask %#x: got %d rows %v want %d rows %v",
					impl.Name, n, m, got, dst, count, want[:count])
			}
		}
	}
}

// TestCompactSlides: dst begins before src in the same memory.
func TestCompactSlides(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, impl := range asm.CompactImpls[eight]() {
		for shift := range 40 {
			room, mask := make([]eight, 240), make([]uint64, 4)
			randomRows[eight](rnd)(room)
			masks(rnd, mask, shift)
			want := slices.Clone(room)
			count := asm.CompactRef(want, room[shift:], mask)
			assert.Equal(t, count, impl.Func(room, room[shift:], mask), impl.Name)
			assert.Equal(t, want[:count], room[:count], "%s: src begins %d rows behind dst", impl.Name, shift)
		}
	}
}

func TestCompactLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	n := asm.CallBytes/8*3 + 77
	src, mask := make([]eight, n), make([]uint64, (n+63)/64)
	randomRows[eight](rnd)(src)
	masks(rnd, mask, 5)
	want := make([]eight, n)
	want = want[:asm.CompactRef(want, src, mask)]
	got := make([]eight, len(want))
	assert.Equal(t, len(want), asm.Compact(got, src, mask))
	assert.True(t, slices.Equal(want, got))
}

func TestCompactContract(t *testing.T) {
	dst, src := make([]uint32, 3), make([]uint32, 65)
	assert.PanicsWithValue(t, "asm: Compact: len(mask)=1 is less than 2 words for len(src)=65", func() {
		asm.Compact(src, src, []uint64{0})
	})
	assert.PanicsWithValue(t, "asm: Compact: len(dst)=3 is less than the 4 elements that mask chooses", func() {
		asm.Compact(dst, src, []uint64{7, 1})
	})
	assert.Equal(t, 3, asm.Compact(dst, src, []uint64{3, 0xff01}), "bits behind len(src) do not count")
	assert.Equal(t, 0, asm.Compact[uint32](nil, nil, nil))
}

// FuzzCompact: the first word is the mask's seed, the rest the rows.
func FuzzCompact(f *testing.F) {
	f.Add(uint64(0xf0f0), []byte("rows of eight bytes, of which the mask chooses half"))
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		_, _, src := wordPairs(data)
		mask := make([]uint64, (len(src)+63)/64)
		masks(rand.New(rand.NewPCG(seed, 0)), mask, int(seed%6))
		want := make([]uint64, len(src))
		want = want[:asm.CompactRef(want, src, mask)]
		for _, impl := range asm.CompactImpls[uint64]() {
			got := make([]uint64, len(src))
			if n := impl.Func(got, src, mask); n != len(want) || !slices.Equal(got[:n], want) {
				t.Fatalf("%s: mask %#x: got %#x want %#x", impl.Name, mask, got[:n], want)
			}
		}
	})
}
