package asm_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/debug"
)

// setOp is one kernel of setops.go with its twins.
type setOp struct {
	name  string
	ref   asm.SetFunc
	word  func(x, y uint64) uint64
	impls []asm.Impl[asm.SetFunc]
}

var setOps = []setOp{
	{"And", asm.AndRef, func(x, y uint64) uint64 { return x & y }, asm.AndImpls()},
	{"Or", asm.OrRef, func(x, y uint64) uint64 { return x | y }, asm.OrImpls()},
	{"AndNot", asm.AndNotRef, func(x, y uint64) uint64 { return x &^ y }, asm.AndNotImpls()},
}

func forEachSetOp(t *testing.T, body func(t *testing.T, op setOp, impl asm.SetFunc)) {
	for _, op := range setOps {
		for _, impl := range op.impls {
			t.Run("op="+op.name+"/impl="+impl.Name, func(t *testing.T) { body(t, op, impl.Func) })
		}
	}
}

// TestSetOpsColumns: every length and offset, guard pages, aliasing. The
// reference, bit by bit, would take minutes; one word at a time stands in for
// it here, and TestSetOpsReference holds the two together.
func TestSetOpsColumns(t *testing.T) {
	forEachSetOp(t, func(t *testing.T, op setOp, impl asm.SetFunc) {
		want := make([]uint64, longest)
		eachColumn(t, randomWords(rand.New(rand.NewPCG(1, 2))), true, func(c columnCase[uint64]) {
			n := len(c.dst)
			for i := range n {
				want[i] = op.word(c.x[i], c.y[i])
			}
			impl(c.dst, c.x, c.y)
			if !slices.Equal(c.dst, want[:n]) {
				t.Fatalf("%s: n=%d: got %#x want %#x", c.what, n, c.dst, want[:n])
			}
		})
	})
}

// TestSetOpsReference: the implementations against the reference, on words that
// between them hold every combination of two bits at every place.
func TestSetOpsReference(t *testing.T) {
	forEachSetOp(t, func(t *testing.T, op setOp, impl asm.SetFunc) {
		var x, y []uint64
		for bit := range 64 {
			x = append(x, 1<<bit, 1<<bit, 0, 0, ^uint64(1<<bit))
			y = append(y, 1<<bit, 0, 1<<bit, 0, 1<<bit)
		}
		got, want := make([]uint64, len(x)), make([]uint64, len(x))
		op.ref(want, x, y)
		impl(got, x, y)
		assert.Equal(t, want, got)
		for i := range x {
			assert.Equal(t, want[i], op.word(x[i], y[i]))
		}
	})
}

// TestSetOpsLong covers several assembly calls.
func TestSetOpsLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, op := range setOps {
		for _, n := range []int{asm.CallBytes/24 - 1, asm.CallBytes / 24, asm.CallBytes/24 + 1, asm.CallBytes/8 + 3} {
			x, y, got, want := make([]uint64, n), make([]uint64, n), make([]uint64, n), make([]uint64, n)
			randomWords(rnd)(x)
			randomWords(rnd)(y)
			op.impls[0].Func(got, x, y)
			op.ref(want, x, y)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: n=%d: differs from the reference", op.name, n)
			}
		}
	}
}

func TestSetOpsContract(t *testing.T) {
	for _, op := range setOps {
		f := op.impls[0].Func
		assert.PanicsWithValue(t, "asm: "+op.name+": len(x)=3 is less than len(dst)=4", func() {
			f(make([]uint64, 4), make([]uint64, 3), make([]uint64, 4))
		})
		assert.PanicsWithValue(t, "asm: "+op.name+": len(y)=3 is less than len(dst)=40", func() {
			f(make([]uint64, 40), make([]uint64, 41), make([]uint64, 3))
		})
		assert.NotPanics(t, func() { f(nil, nil, make([]uint64, 1)) })
		if debug.On {
			w := make([]uint64, 20)
			assert.PanicsWithValue(t, "asm: "+op.name+": dst and y overlap: 80 bytes, y begins 8 bytes behind dst",
				func() { f(w[:10], w[:10], w[1:]) })
		}
	}
}

// FuzzSetOps: data is the words of x and y by turns; off moves dst.
func FuzzSetOps(f *testing.F) {
	f.Add(byte(0), []byte("sixteen bytes or so, one pair of words"))
	f.Add(byte(5), make([]byte, 16*70))
	f.Fuzz(func(t *testing.T, off byte, data []byte) {
		n, lo := len(data)/16, int(off%8)
		x, y, _ := wordPairs(data)
		for _, op := range setOps {
			want := make([]uint64, n)
			op.ref(want, x, y)
			for _, impl := range op.impls {
				room := make([]uint64, lo+n+1)
				room[lo+n] = 42
				impl.Func(room[lo:lo+n], x, y)
				if !slices.Equal(room[lo:lo+n], want) || room[lo+n] != 42 {
					t.Fatalf("%s %s: n=%d off=%d: got %#x want %#x", op.name, impl.Name, n, lo, room[lo:], want)
				}
			}
		}
	})
}
