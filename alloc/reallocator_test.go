package alloc_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// plain hides every method of an allocator but the three of Allocator.
type plain struct{ alloc.Allocator }

func (p plain) Unwrap() alloc.Allocator { return p.Allocator }

// eachReallocator runs a test with every allocator of the package, and with what the package makes
// of the methods of a plain one. most is the size of the largest block it has.
func eachReallocator(t *testing.T, f func(t *testing.T, a alloc.Allocator, most int)) {
	run := func(name string, most int,
		open func(t *testing.T, h *alloc.Heap) (a alloc.Allocator, verify func() error)) {
		for _, hidden := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, plain %v", name, hidden), func(t *testing.T) {
				a, verify := open(t, newHeap(t, alloc.Size(64<<20)))
				b := a
				if hidden {
					b = plain{a}
				}
				f(t, b, most)
				require.NoError(t, verify())
			})
		}
	}
	run("Heap", 5<<20, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) { return h, h.Verify })
	run("Local", 5<<20, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) {
		l := h.NewLocal()
		return l, func() error { l.Close(); return h.Verify() }
	})
	run("Universe", 1<<20, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) {
		return h.Universe().Allocator(), h.Universe().Verify
	})
	run("Pages", 5<<20, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) {
		p := alloc.NewPages(alloc.Retain(8 << 20))
		return p, func() error { return errors.Join(p.Verify(), p.Close()) }
	})
	run("Arena", 300_000, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) {
		a := alloc.NewArena(h)
		return a, func() error { err := a.Verify(); a.Close(); return err }
	})
	run("Stack", 100_000, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) {
		s, err := alloc.NewStack(h, 300_000)
		require.NoError(t, err)
		return s, s.Close
	})
	run("Pool", 4096, func(t *testing.T, h *alloc.Heap) (alloc.Allocator, func() error) {
		p, err := alloc.NewPool[[512]uint64](h)
		require.NoError(t, err)
		return p, func() error { return errors.Join(p.Verify(), p.Close()) }
	})
}

// TestReallocators runs a stream of zeroed blocks and reallocations beside a model of their
// contents: kept bytes are unchanged, added bytes are zero although all memory was written before,
// and a refusal changes nothing.
func TestReallocators(t *testing.T) {
	eachReallocator(t, func(t *testing.T, a alloc.Allocator, most int) {
		type held struct {
			p    unsafe.Pointer
			want []byte
		}
		rng := rand.New(rand.NewPCG(7, uint64(most)))
		size := func() int {
			switch rng.IntN(12) {
			case 0:
				return 0
			case 1:
				return rng.IntN(most)
			case 2, 3:
				return rng.IntN(min(most, 60_000))
			}
			return rng.IntN(min(most, 1000))
		}
		var blocks []held
		fill := func(b *held) {
			s := bytesOf(b.p, len(b.want))
			for i := range s {
				s[i] = byte(rng.Uint32()) | 1
			}
			copy(b.want, s)
		}
		inOrder := alloc.FreesInOrder(a)
		steps := 400
		if testing.Short() {
			steps = 120
		}
		for range steps {
			op := rng.IntN(10)
			switch {
			case len(blocks) == 0 || op < 3 && len(blocks) < 20:
				n := size()
				p, err := alloc.AllocZeroed(a, n, 8)
				if err != nil {
					require.ErrorIs(t, err, alloc.ErrFull)
					continue
				}
				same(t, make([]byte, n), bytesOf(p, n))
				blocks = append(blocks, held{p, make([]byte, n)})
				fill(&blocks[len(blocks)-1])
			case op < 5:
				b := blocks[len(blocks)-1]
				same(t, b.want, bytesOf(b.p, len(b.want)))
				a.FreeSized(b.p, len(b.want), 8)
				blocks = blocks[:len(blocks)-1]
			default:
				i, n := rng.IntN(len(blocks)), size()
				b, have := &blocks[i], len(blocks[i].want)
				call := alloc.Realloc
				if op < 8 {
					call = alloc.ReallocZeroed
				}
				p, err := call(a, b.p, have, 8, n)
				if err != nil {
					require.ErrorIs(t, err, alloc.ErrFull)
					require.True(t, inOrder)
					same(t, b.want, bytesOf(b.p, have))
					continue
				}
				kept := min(have, n)
				same(t, b.want[:kept], bytesOf(p, kept))
				if op < 8 {
					same(t, make([]byte, n-kept), bytesOf(p, n)[kept:])
				}
				b.p, b.want = p, make([]byte, n)
				fill(b)
			}
		}
		for i := len(blocks) - 1; i >= 0; i-- {
			same(t, blocks[i].want, bytesOf(blocks[i].p, len(blocks[i].want)))
			a.FreeSized(blocks[i].p, len(blocks[i].want), 8)
		}
	})
}

// TestSizeZero is the answer that every allocator gives for size 0: a block with an address of its
// own, in every call, which is freed once like any other.
func TestSizeZero(t *testing.T) {
	eachReallocator(t, func(t *testing.T, a alloc.Allocator, most int) {
		seen := map[unsafe.Pointer]bool{}
		var order []unsafe.Pointer
		for _, call := range []func() (unsafe.Pointer, error){
			func() (unsafe.Pointer, error) { return a.Alloc(0, 0) },
			func() (unsafe.Pointer, error) { return a.Alloc(0, 1) },
			func() (unsafe.Pointer, error) { return a.Alloc(0, 64) },
			func() (unsafe.Pointer, error) { return alloc.AllocZeroed(a, 0, 16) },
			func() (unsafe.Pointer, error) { return alloc.Realloc(a, nil, 0, 16, 0) },
			func() (unsafe.Pointer, error) { return alloc.ReallocZeroed(a, nil, 0, 16, 0) },
		} {
			p := must(call())
			require.NotNil(t, p)
			require.False(t, seen[p], "an address of its own")
			seen[p] = true
			order = append(order, p)
		}
		last := order[len(order)-1]
		require.True(t, a.ResizeSized(last, 0, 16, 0))
		p := must(alloc.ReallocZeroed(a, last, 0, 16, 100))
		require.Equal(t, make([]byte, 100), append([]byte{}, bytesOf(p, 100)...))
		q := must(alloc.ReallocZeroed(a, p, 100, 16, 0))
		require.NotNil(t, q, "not a free")
		order[len(order)-1] = q
		a.FreeSized(nil, 0, 0)
		aligns := []int{0, 1, 64, 16, 16, 16}
		for i := len(order) - 1; i >= 0; i-- {
			a.FreeSized(order[i], 0, aligns[i])
		}
		switch innermost(a).(type) {
		case *alloc.Arena: // gives up the block that it allocated last and cannot know of others
		default:
			require.Panics(t, func() { a.FreeSized(order[0], 0, 0) }, "freed twice")
		}
	})
	nothing, err := alloc.MakeSlice[int](newHeap(t), 0, 0)
	require.NoError(t, err)
	require.Nil(t, nothing, "a slice without room has no block")
}

// TestReallocatorsTakeNoBadArguments: a bad size or alignment panics, too large a size is an error,
// and after each the block is live and unchanged.
func TestReallocatorsTakeNoBadArguments(t *testing.T) {
	eachReallocator(t, func(t *testing.T, a alloc.Allocator, most int) {
		r := alloc.WithRealloc(a)
		p := must(a.Alloc(40, 8))
		copy(bytesOf(p, 40), "what must be here after all of the calls")
		for _, bad := range [][2]int{
			{-1, 8}, {math.MinInt, 8}, {1, -8}, {1, 3}, {1, 24}, {1, math.MinInt}, {1, 2 * alloc.MaxAlign},
		} {
			require.Contains(t, panicText(func() { _, _ = alloc.AllocZeroed(a, bad[0], bad[1]) }), "alloc: ", "%v", bad)
			for _, realloc := range []func(unsafe.Pointer, int, int, int) (unsafe.Pointer, error){
				r.ReallocSized, r.ReallocZeroed,
			} {
				require.Contains(t, panicText(func() { _, _ = realloc(nil, 0, bad[1], bad[0]) }), "alloc: ", "%v", bad)
				require.Contains(t, panicText(func() { _, _ = realloc(p, 40, bad[1], bad[0]) }), "alloc: ", "%v", bad)
				require.Contains(t, panicText(func() { _, _ = realloc(p, bad[0], bad[1], 8) }), "alloc: ", "%v", bad)
			}
		}
		for _, big := range []int{1<<46 + 1, 1 << 60, math.MaxInt - 15, math.MaxInt} {
			_, err := alloc.AllocZeroed(a, big, 8)
			require.Error(t, err, "%d bytes", big)
			for _, realloc := range []func(unsafe.Pointer, int, int, int) (unsafe.Pointer, error){
				r.ReallocSized, r.ReallocZeroed,
			} {
				_, err = realloc(p, 40, 8, big)
				require.Error(t, err, "%d bytes", big)
				_, err = realloc(nil, 0, 8, big)
				require.Error(t, err, "%d bytes", big)
			}
		}
		if _, arena := innermost(a).(*alloc.Arena); !arena {
			require.Contains(t, panicText(func() { _, _ = r.ReallocZeroed(p, 90_000, 8, 100_000) }), "alloc: ",
				"a size it has not")
			require.Contains(t, panicText(func() { _, _ = r.ReallocSized(unsafe.Add(p, 8), 40, 8, 50) }), "alloc: ",
				"inside a block")
		}
		require.Equal(t, "what must be here after all of the calls", string(bytesOf(p, 40)))
		a.FreeSized(p, 40, 8)
	})
}

// TestReallocAfterTheEnd: the names of what is called, when it is closed.
func TestReallocAfterTheEnd(t *testing.T) {
	h := newHeap(t)
	l, pages := h.NewLocal(), alloc.NewPages()
	p := must(l.Alloc(10, 8))
	l.Close()
	require.NoError(t, pages.Close())
	require.Equal(t, "alloc: Local.AllocZeroed: the Local is closed", panicText(func() { _, _ = l.AllocZeroed(1, 1) }))
	require.Equal(t, "alloc: Local.ReallocZeroed: the Local is closed",
		panicText(func() { _, _ = l.ReallocZeroed(p, 10, 8, 20) }))
	require.Equal(t, "alloc: Local.ReallocSized: the Local is closed",
		panicText(func() { _, _ = l.ReallocSized(nil, 0, 8, 20) }))
	require.Equal(t, "alloc: Pages.AllocZeroed: the Pages are closed",
		panicText(func() { _, _ = pages.AllocZeroed(1, 1) }))
	require.Equal(t, "alloc: Pages.ReallocZeroed: the Pages are closed",
		panicText(func() { _, _ = pages.ReallocZeroed(nil, 1, 1, 1) }))
	h.Free(p)
	g, err := alloc.NewHeap(h.Universe())
	require.NoError(t, err)
	require.NoError(t, g.Close())
	require.Equal(t, "alloc: Heap.AllocZeroed: the heap is closed", panicText(func() { _, _ = g.AllocZeroed(1, 1) }))
	require.Equal(t, "alloc: Heap.ReallocSized: the heap is closed",
		panicText(func() { _, _ = g.ReallocSized(nil, 1, 1, 1) }))
}

// TestReallocRefused refuses each request for memory in turn: the block stays as it was, nothing is
// lost, and errors have the name of what was called.
func TestReallocRefused(t *testing.T) {
	sizes := []int{10, 5000, 9000, 100_000, 3 << 20}
	for _, local := range []bool{false, true} {
		for _, from := range sizes {
			for _, to := range sizes {
				require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) (err error) {
					u, err := alloc.NewUniverse(alloc.Size(8<<20), alloc.InjectFailures(f))
					if err != nil {
						return err
					}
					h, err := alloc.NewHeap(u)
					if err != nil {
						return errors.Join(err, u.Close())
					}
					a := allocator(h)
					if local {
						l := h.NewLocal()
						defer l.Close()
						a = l
					}
					defer func() { err = errors.Join(err, h.Verify(), h.Close(), u.Verify(), u.Close()) }()
					p, err := a.AllocZeroed(from, 0)
					if err != nil {
						require.Regexp(t, `^alloc: (Heap|Local)\.AllocZeroed: `, err.Error())
						return err
					}
					bytesOf(p, from)[0], bytesOf(p, from)[from-1] = 1, 2
					q, err := a.ReallocZeroed(p, from, 0, to)
					if err != nil {
						require.Equal(t, []byte{1, 2}, []byte{bytesOf(p, from)[0], bytesOf(p, from)[from-1]})
						a.FreeSized(p, from, 0)
						return err
					}
					require.Equal(t, byte(1), *(*byte)(q))
					a.FreeSized(q, to, 0)
					return nil
				}))
			}
		}
	}
}

// brittle panics in the free of one block.
type brittle struct {
	alloc.Allocator
	broken unsafe.Pointer
}

func (b *brittle) ResizeSized(unsafe.Pointer, int, int, int) bool { return false }

func (b *brittle) FreeSized(p unsafe.Pointer, size, align int) {
	if p == b.broken {
		panic("damaged")
	}
	b.Allocator.FreeSized(p, size, align)
}

// TestReallocOfABrokenBlock: when the free of the old block panics, the new one is not lost.
func TestReallocOfABrokenBlock(t *testing.T) {
	h := newHeap(t)
	b := &brittle{Allocator: h}
	p := must(b.Alloc(10, 8))
	b.broken = p
	require.Equal(t, "damaged", panicText(func() { _, _ = alloc.Realloc(b, p, 10, 8, 200) }))
	require.Equal(t, 1, h.Stats().LiveBlocks)
	h.Free(p)
	r := alloc.WithRealloc(b)
	require.False(t, alloc.FreesInOrder(r))
	require.Equal(t, alloc.Allocator(b), r.(interface{ Unwrap() alloc.Allocator }).Unwrap())
	require.Equal(t, alloc.Reallocator(h), alloc.WithRealloc(h), "one already")
}

// TestReallocOfTwoGoroutines hands blocks from one goroutine to the other, which makes them larger
// through the heap or a Local of its own.
func TestReallocOfTwoGoroutines(t *testing.T) {
	h := newHeap(t, alloc.Size(64<<20))
	type sent struct {
		p    unsafe.Pointer
		size int
	}
	hand := make(chan sent, 64)
	var both sync.WaitGroup
	both.Go(func() {
		l := h.NewLocal()
		defer l.Close()
		defer close(hand)
		for i := range 4000 {
			n := 1 + i*37%700
			p, err := l.AllocZeroed(n, 0)
			if err != nil {
				t.Error(err)
				return
			}
			bytesOf(p, n)[0] = byte(i)
			hand <- sent{p, n}
		}
	})
	both.Go(func() {
		l := h.NewLocal()
		defer l.Close()
		i := 0
		for b := range hand {
			r := []alloc.Reallocator{h, l}[i%2]
			p, err := r.ReallocZeroed(b.p, b.size, 0, 3*b.size)
			if err != nil || bytesOf(p, 1)[0] != byte(i) {
				t.Errorf("block %d: %v, first byte %d", i, err, bytesOf(p, 1)[0])
				return
			}
			for j, v := range bytesOf(p, 3*b.size)[b.size:] {
				if v != 0 {
					t.Errorf("block %d: byte %d is %d", i, b.size+j, v)
					return
				}
			}
			copy(bytesOf(p, 3*b.size), "dirty again for those who come after us")
			r.FreeSized(p, 3*b.size, 0)
			i++
		}
	})
	both.Wait()
	require.NoError(t, h.Verify())
	require.Zero(t, h.Stats().LiveBlocks)
}

// innermost returns the allocator inside a plain one.
func innermost(a alloc.Allocator) alloc.Allocator {
	if p, ok := a.(plain); ok {
		return p.Allocator
	}
	return a
}

// same compares long contents, of which no test should print a difference.
func same(t *testing.T, want, have []byte) {
	t.Helper()
	if !bytes.Equal(want, have) {
		at := 0
		for at < min(len(want), len(have)) && want[at] == have[at] {
			at++
		}
		t.Fatalf("%d of %d bytes are the same", at, len(want))
	}
}
