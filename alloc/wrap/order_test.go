package wrap_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// layers are wrappers that pass on what they are asked, each with what must hold when all
// blocks are freed.
var layers = []func(t *testing.T, a alloc.Allocator) (alloc.Allocator, func()){
	func(t *testing.T, a alloc.Allocator) (alloc.Allocator, func()) {
		l := wrap.NewLimit(a, 8<<20)
		return l, func() { require.Zero(t, l.Live()) }
	},
	func(t *testing.T, a alloc.Allocator) (alloc.Allocator, func()) {
		s := wrap.NewStats(a)
		return s, func() {
			c := s.Counts()
			require.Zero(t, c.LiveBlocks)
			require.Zero(t, c.LiveBytes)
			require.NotZero(t, c.Allocs)
		}
	},
	func(t *testing.T, a alloc.Allocator) (alloc.Allocator, func()) {
		return wrap.NewZero(a, wrap.Wipe()), func() {}
	},
	func(t *testing.T, a alloc.Allocator) (alloc.Allocator, func()) {
		var text bytes.Buffer
		tr := wrap.NewTrace(a, &text)
		return tr, func() {
			require.NoError(t, tr.Close())
			count := func(s string) int { return bytes.Count(text.Bytes(), []byte(s)) }
			require.Equal(t, count(" malloc ")+count(" memalign ")-count("malloc 0x0 ")-count("memalign 0x0 "), count(" free "))
		}
	},
	func(t *testing.T, a alloc.Allocator) (alloc.Allocator, func()) {
		p := wrap.NewProfile(300)
		s := p.Wrap(a, "a")
		return s, func() {
			require.Zero(t, s.Known())
			require.NoError(t, p.WriteProfile(io.Discard))
		}
	},
}

// TestOrders puts the wrappers around one another in each order, over each kind of
// allocator, and makes random calls of the outermost.
func TestOrders(t *testing.T) {
	h := soundHeap(t)
	l := h.NewLocal()
	defer l.Close()
	for name, inside := range map[string]alloc.Allocator{"heap": h, "local": l, "universe": h.Universe().Allocator()} {
		t.Run(name, func(t *testing.T) {
			for _, order := range orders(len(layers)) {
				composed(t, inside, order)
			}
		})
	}
}

// orders returns the permutations of 0 to n-1.
func orders(n int) (list [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, o := range orders(n - 1) {
		for at := range n {
			list = append(list, append(append(append([]int{}, o[:at]...), n-1), o[at:]...))
		}
	}
	return list
}

func composed(t *testing.T, a alloc.Allocator, order []int) {
	var after []func()
	for _, k := range order {
		var done func()
		a, done = layers[k](t, a)
		after = append(after, done)
	}
	r := rand.New(rand.NewPCG(8, uint64(order[0])))
	model := map[unsafe.Pointer][]byte{}
	live := stream(t, a, r, 60, func(b held, to int, ok bool) {
		was := model[b.p]
		if to < 0 || !ok {
			require.True(t, bytes.Equal(was, b.bytes()) || b.p == nil, "order %v", order)
			if to < 0 {
				delete(model, b.p)
			}
			return
		}
		now := make([]byte, to)
		copy(now, was)
		b.size = to
		require.True(t, bytes.Equal(now, b.bytes()), "order %v", order)
		copy(b.bytes(), bytes.Repeat([]byte{byte(r.IntN(255)) + 1}, to))
		copy(now, b.bytes())
		model[b.p] = now
	})
	freeAll(a, live)
	for _, done := range after {
		done()
	}
}
