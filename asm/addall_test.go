package asm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/asm"
	"quarry/internal/debug"
)

// arena is one piece of memory that pairs are cut from, so that what lies around and
// between their columns is compared too.
type arena[F asm.Float] struct {
	all  []F
	cuts [][2]int // begin and length of Dst, X, Dst, X ...
}

// pairs are the columns in a piece of memory; X may be longer than Dst.
func (a *arena[F]) pairs(all []F) []asm.Pair[F] {
	var list []asm.Pair[F]
	for k := 0; k < len(a.cuts); k += 2 {
		d, x := a.cuts[k], a.cuts[k+1]
		list = append(list, asm.Pair[F]{Dst: all[d[0] : d[0]+d[1]], X: all[x[0] : x[0]+x[1]]})
	}
	return list
}

// cut takes columns of the lengths given, each off elements behind the one before; a
// negative length is a pair whose X is its Dst.
func cut[F asm.Float](rnd *rand.Rand, off int, lengths ...int) *arena[F] {
	a := &arena[F]{}
	at := off
	for i, n := range lengths {
		same := n < 0
		n = max(n, -n)
		a.cuts = append(a.cuts, [2]int{at, n})
		at += n + off + i
		if same {
			a.cuts = append(a.cuts, a.cuts[len(a.cuts)-1])
			continue
		}
		a.cuts = append(a.cuts, [2]int{at, n + i%2})
		at += n + off + 1
	}
	a.all = make([]F, at+3)
	fill(rnd, a.all)
	return a
}

func checkAddAll[F asm.Float](t *testing.T, impl asm.Impl[asm.AddAllFunc[F]], a *arena[F]) {
	t.Helper()
	got, want := slices.Clone(a.all), slices.Clone(a.all)
	asm.AddAllRef(a.pairs(want)...)
	impl.Func(a.pairs(got)...)
	for i := range want {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: columns %v: element %d was %v: got %v want %v",
				impl.Name, a.cuts, i, a.all[i], got[i], want[i])
		}
	}
}

func testAddAll[F asm.Float](t *testing.T, impls []asm.Impl[asm.AddAllFunc[F]]) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, impl := range impls {
		for n := range 40 { // every pair of lengths around the widest vectors, and of offsets
			for m := range 40 {
				checkAddAll(t, impl, cut[F](rnd, (n+m)%17, n, m))
				checkAddAll(t, impl, cut[F](rnd, (n+3*m)%17, n, -m, 3))
			}
		}
		for n := range 300 {
			checkAddAll(t, impl, cut[F](rnd, n%17, n, n, n, n, n))
		}
		checkAddAll(t, impl, &arena[F]{})
	}
}

// TestAddAll: lengths and offsets, pairs apart and of one column, no pair at all.
func TestAddAll(t *testing.T) {
	testAddAll(t, asm.AddAllImpls32())
	testAddAll(t, asm.AddAllImpls64())
}

func testAddAllSpecials[F asm.Float](t *testing.T, impls []asm.Impl[asm.AddAllFunc[F]]) {
	list := specials[F]()
	for _, impl := range impls {
		for _, d := range list {
			for _, x := range list {
				a := cut[F](rand.New(rand.NewPCG(7, 8)), 1, 19, 19)
				for _, p := range a.pairs(a.all) {
					asm.FillRef(p.Dst, d)
					asm.FillRef(p.X, x)
				}
				checkAddAll(t, impl, a)
			}
		}
	}
}

func TestAddAllSpecials(t *testing.T) {
	testAddAllSpecials(t, asm.AddAllImpls32())
	testAddAllSpecials(t, asm.AddAllImpls64())
}

// TestAddAllOrder: a pair reads what the pair before it wrote.
func TestAddAllOrder(t *testing.T) {
	for _, impl := range asm.AddAllImpls64() {
		a, b, c := []float64{1, 2, 3}, []float64{10, 20, 30}, []float64{100, 200, 300}
		impl.Func(asm.Pair[float64]{Dst: b, X: a}, asm.Pair[float64]{Dst: c, X: b}, asm.Pair[float64]{Dst: c, X: b})
		assert.Equal(t, []float64{122, 244, 366}, c, impl.Name)
	}
}

// TestAddAllLong: on both sides of what one assembly call may touch, and of a named type.
func TestAddAllLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{asm.CallBytes/32 - 1, asm.CallBytes / 32, asm.CallBytes/32 + 1, asm.CallBytes/8 + 3} {
		checkAddAll(t, asm.AddAllImpls64()[0], cut[float64](rnd, 3, n, n))
		checkAddAll(t, asm.AddAllImpls32()[0], cut[float32](rnd, 3, n, n, n, n))
	}
	named := slices.Repeat([]speed{2}, 40)
	asm.AddAll(asm.Pair[speed]{Dst: named, X: named})
	assert.Equal(t, slices.Repeat([]speed{4}, 40), named)
}

// TestAddAllEdges: columns that end, and begin, at a page without access.
func TestAddAllEdges(t *testing.T) {
	const size = 512
	for _, impl := range asm.AddAllImpls64() {
		d, x := edges[float64](t, size), edges[float64](t, size)
		for n := range len(d) + 1 {
			dst, src := d[len(d)-n:], x[len(x)-n:]
			asm.FillRef(dst, 1)
			asm.FillRef(src, 2)
			impl.Func(asm.Pair[float64]{Dst: dst, X: src}, asm.Pair[float64]{Dst: dst, X: src})
			assert.Equal(t, slices.Repeat([]float64{5}, n), slices.Clone(dst), impl.Name)
		}
	}
}

func TestAddAllContract(t *testing.T) {
	first, second := make([]float32, 99), make([]float32, 4)
	asm.FillRef(second, 1)
	before := bytes.Clone(rawBytes(first))
	require.PanicsWithValue(t, "asm: AddAll: len(x)=3 is less than len(dst)=4", func() {
		asm.AddAll(asm.Pair[float32]{Dst: first, X: slices.Repeat([]float32{1}, 99)}, asm.Pair[float32]{
			Dst: second, X: first[:3],
		})
	})
	assert.Equal(t, before, rawBytes(first), "written before the panic")
	assert.NotPanics(t, func() { asm.AddAll[float64](); asm.AddAll(asm.Pair[float64]{}) })
	if debug.On {
		assert.PanicsWithValue(t, "asm: AddAll: dst and x overlap: 160 bytes, x begins 4 bytes behind dst", func() {
			asm.AddAll(asm.Pair[float32]{Dst: first[:40], X: first[1:]})
		})
	}
}

// BenchmarkAddAll is three pairs of a chunk's columns of five components of two float64,
// beside three calls of Add.
func BenchmarkAddAll(b *testing.B) {
	for _, n := range []int{16, 128, 372} {
		var c [5][]float64
		for i := range c {
			c[i] = make([]float64, n)
		}
		b.Run(fmt.Sprintf("n=%d/way=AddAll", n), func(b *testing.B) {
			for b.Loop() {
				asm.AddAll(asm.Pair[float64]{Dst: c[0], X: c[1]}, asm.Pair[float64]{Dst: c[2], X: c[3]},
					asm.Pair[float64]{Dst: c[4], X: c[1]})
			}
		})
		b.Run(fmt.Sprintf("n=%d/way=Add", n), func(b *testing.B) {
			for b.Loop() {
				asm.Add(c[0], c[1])
				asm.Add(c[2], c[3])
				asm.Add(c[4], c[1])
			}
		})
	}
}
