package asm_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/debug"
)

// checkCompose runs impl and compares with the reference.
func checkCompose(t *testing.T, impl asm.Impl[asm.ComposeFunc], dst [][16]float32, m *[16]float32, x [][8]float32) {
	t.Helper()
	want, m0, x0 := make([][16]float32, len(dst)), *m, slices.Clone(x)
	asm.ComposeRef(want, m, x)
	impl.Func(dst, m, x)
	for i := range want {
		for k := range want[i] {
			if !same(dst[i][k], want[i][k]) {
				t.Fatalf("%s: n=%d: element %d of matrix %d, %v times %v: got %v (%#x) want %v (%#x)",
					impl.Name, len(dst),
					k, i, m0, x0[i], dst[i][k], bitsOf(dst[i][k]), want[i][k], bitsOf(want[i][k]))
			}
		}
	}
	assert.Equal(t, rawBytes(x0), rawBytes(x), "x was changed")
	assert.Equal(t, rawBytes(m0[:]), rawBytes(m[:]), "m was changed")
}

// TestCompose: lengths, placements at any element of a column, more of x than of dst, and what
// lies around dst untouched.
func TestCompose(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	numbers := make([]float32, 16+16*70+8*70)
	for _, impl := range asm.ComposeImpls() {
		for n := range 67 {
			fill(rnd, numbers)
			m, x := (*[16]float32)(numbers), elements[[8]float32](rawBytes(numbers[16:][:8*(n+n%3)]))
			off := 8*70 + n%16
			dst := elements[[16]float32](rawBytes(numbers[off+16:][:16*n]))
			before := slices.Clone(numbers)
			checkCompose(t, impl, dst, m, x)
			assert.Equal(t, rawBytes(before[:off+16]), rawBytes(numbers[:off+16]), "%s: n=%d", impl.Name, n)
			assert.Equal(t, rawBytes(before[off+16+16*n:]), rawBytes(numbers[off+16+16*n:]), "%s: n=%d", impl.Name, n)
		}
	}
}

// TestComposeEdges: columns that end, and a matrix that ends, at a page without access.
func TestComposeEdges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const most = 9
	dst, x := edges[[16]float32](t, 64*most), edges[[8]float32](t, 32*most)
	m := &edges[[16]float32](t, 64)[0]
	for _, impl := range asm.ComposeImpls() {
		for n := range most + 1 {
			for i := range x {
				fill(rnd, x[i][:])
			}
			fill(rnd, m[:])
			checkCompose(t, impl, dst[most-n:], m, x[most-n:])
		}
	}
}

// TestComposeLong: on both sides of what one assembly call may touch.
func TestComposeLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const call = asm.CallBytes / 96
	for _, n := range []int{call - 1, call, call + 1, 2*call + 1} {
		dst, x := make([][16]float32, n), make([][8]float32, n)
		var m [16]float32
		fill(rnd, m[:])
		for i := range x {
			fill(rnd, x[i][:])
		}
		checkCompose(t, asm.ComposeImpls()[0], dst, &m, x)
	}
}

// TestComposeSpecials: each special value in each place of m and of x, among ordinary ones and
// others.
func TestComposeSpecials(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	list := specials[float32]()
	for _, impl := range asm.ComposeImpls() {
		for place := range 16 + 3*8 {
			for _, v := range list {
				for others := range 4 {
					var all [16 + 3*8]float32
					fill(rnd, all[:])
					for range 8 * others {
						all[rnd.IntN(len(all))] = list[rnd.IntN(len(list))]
					}
					all[place] = v
					checkCompose(t, impl, make([][16]float32, 3), (*[16]float32)(all[:]),
						elements[[8]float32](rawBytes(all[16:])))
				}
			}
		}
	}
}

// TestComposeByHand: a quarter turn about Z, twice as large, moved, below a matrix that moves and
// shears.
func TestComposeByHand(t *testing.T) {
	half := float32(math.Sqrt(0.5))
	for _, impl := range asm.ComposeImpls() {
		var got [1][16]float32
		impl.Func(got[:], &[16]float32{1, 0, 0, 9, 1, 1, 0, 9, 0, 0, 1, 9, 10, 20, 30, 9},
			[][8]float32{{1, 2, 3, 2, 0, 0, half, half}})
		want := [16]float32{2, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 13, 22, 33, 1}
		for k := range want {
			assert.InDelta(t, want[k], got[0][k], 1e-6, "%s: element %d", impl.Name, k)
		}
		assert.Equal(t, []float32{0, 0, 0, 1}, []float32{got[0][3], got[0][7], got[0][11], got[0][15]})
	}
}

func TestComposeContract(t *testing.T) {
	var all [64]float32
	m, x := (*[16]float32)(all[:]), elements[[8]float32](rawBytes(all[16:]))
	assert.PanicsWithValue(t, "asm: Compose: len(x)=6 is less than len(dst)=7", func() {
		asm.Compose(make([][16]float32, 7), m, x)
	})
	assert.PanicsWithValue(t, "asm: Compose: m is nil", func() { asm.Compose(make([][16]float32, 1), nil, x) })
	assert.NotPanics(t, func() { asm.Compose(nil, nil, nil); asm.Compose(nil, nil, x) })
	if debug.On {
		dst := elements[[16]float32](rawBytes(all[:48]))
		assert.PanicsWithValue(t, "asm: Compose: dst and m overlap: 192 bytes, m begins 128 bytes behind dst", func() {
			asm.Compose(dst, &dst[2], make([][8]float32, 3))
		})
		assert.PanicsWithValue(t, "asm: Compose: dst and x overlap: 64 bytes, x begins -16 bytes behind dst", func() {
			asm.Compose(elements[[16]float32](rawBytes(all[20:36])), m, x)
		})
	}
}

// FuzzCompose: data is m and the placements, so any bit pattern comes up.
func FuzzCompose(f *testing.F) {
	f.Add(make([]byte, 64+3*32))
	f.Add([]byte("sixty-four bytes of a matrix or so, and behind it one placement of thirty-two, all of them text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all := make([]float32, len(data)/4)
		for i := range all {
			all[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		if len(all) < 16 {
			return
		}
		x := elements[[8]float32](rawBytes(all[16 : 16+(len(all)-16)/8*8]))
		for _, impl := range asm.ComposeImpls() {
			dst := make([][16]float32, len(x)+1)
			dst[len(x)][0] = 42
			checkCompose(t, impl, dst[:len(x)], (*[16]float32)(all), x)
			assert.Equal(t, [16]float32{42}, dst[len(x)], "%s: the matrix behind dst was overwritten", impl.Name)
		}
	})
}

// BenchmarkCompose: the children of one node, as few as a scene's and as many as a chunk's.
func BenchmarkCompose(b *testing.B) {
	for _, n := range []int{1, 2, 3, 10, 64, 256} {
		dst, x := make([][16]float32, n), make([][8]float32, n)
		for i := range x {
			x[i] = [8]float32{1, 2, 3, 1, 7: 1}
		}
		m := &[16]float32{0: 1, 5: 1, 10: 1, 15: 1}
		for _, impl := range asm.ComposeImpls() {
			b.Run(fmt.Sprintf("n=%d/impl=%s", n, impl.Name), func(b *testing.B) {
				for b.Loop() {
					impl.Func(dst, m, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/matrix")
				assert.Equal(b, [16]float32{0: 1, 5: 1, 10: 1, 12: 1, 13: 2, 14: 3, 15: 1}, dst[n-1])
			})
		}
	}
}
