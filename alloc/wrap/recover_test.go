package wrap_test

import (
	"bytes"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// What is left of a wrapper when the allocator inside panicked, and that was recovered from.

// TestAllocatorsTakeNoBadArguments: each of them alone and in each wrapper refuses sizes and
// alignments that there are not, and nothing is counted as live then.
func TestAllocatorsTakeNoBadArguments(t *testing.T) {
	bare := wrapper{"bare", func(a alloc.Allocator) (alloc.Allocator, func() error) { return a, none }}
	for _, b := range bases {
		for _, w := range append([]wrapper{bare}, wrappers...) {
			name := b.name + ", " + w.name
			t.Run(name, func(t *testing.T) { // with a heap that ends with it
				a, end := b.make(t)
				a, done := w.around(a)
				for _, bad := range [][2]int{
					{-1, 16}, {math.MinInt, 0}, {1, -1}, {1, 3}, {1, math.MinInt}, {1, 2 * alloc.MaxAlign},
				} {
					require.Panics(t, func() { _, _ = a.Alloc(bad[0], bad[1]) }, "%s: Alloc %v", name, bad)
					require.Panics(t, func() { _, _ = alloc.AllocZeroed(a, bad[0], bad[1]) }, "%s: AllocZeroed %v",
						name, bad)
					require.Panics(t, func() { _, _ = alloc.ReallocZeroed(a, nil, 0, bad[1], bad[0]) },
						"%s: ReallocZeroed %v", name, bad)
				}
				for _, big := range [][2]int{{math.MaxInt, 16}, {math.MaxInt - 15, alloc.MaxAlign}, {1<<46 + 1, 8},
					{math.MaxInt, 1}, {math.MaxInt - alloc.MaxAlign, alloc.MaxAlign}} {
					_, err := a.Alloc(big[0], big[1])
					require.Error(t, err, "%s: Alloc %v", name, big)
					_, err = alloc.AllocZeroed(a, big[0], big[1])
					require.Error(t, err, "%s: AllocZeroed %v", name, big)
					_, err = alloc.Realloc(a, nil, 0, big[1], big[0])
					require.Error(t, err, "%s: Realloc %v", name, big)
				}
				if p, err := a.Alloc(1, 8); err == nil {
					for _, bad := range [][2]int{{-1, 8}, {-5, 8}, {1, 3}, {1, -8}, {1, 2 * alloc.MaxAlign}} {
						require.Panics(t, func() { a.FreeSized(p, bad[0], bad[1]) }, "%s: FreeSized %v", name, bad)
						require.Panics(t, func() { a.ResizeSized(p, bad[0], bad[1], 8) }, "%s: ResizeSized %v",
							name, bad)
						require.Panics(t, func() { _, _ = alloc.Realloc(a, p, bad[0], bad[1], 8) }, "%s: Realloc %v",
							name, bad)
						require.Panics(t, func() { _, _ = alloc.ReallocZeroed(a, p, bad[0], bad[1], 8) },
							"%s: ReallocZeroed %v", name, bad)
					}
					require.Panics(t, func() { a.ResizeSized(p, 1, 8, -1) }, name)
					require.Panics(t, func() { _, _ = alloc.ReallocZeroed(a, p, 1, 8, -1) }, name)
					_, err = alloc.ReallocZeroed(a, p, 1, 8, math.MaxInt)
					require.Error(t, err, name)
					require.False(t, a.ResizeSized(p, 1, 8, math.MaxInt), name)
					a.FreeSized(p, 1, 8)
				} else {
					require.ErrorIs(t, err, alloc.ErrTooBig, name)
				}
				require.NoError(t, done(), name)
				end()
			})
		}
	}
}

// TestAlign0Is16: a block may be allocated with one and given back with the other.
func TestAlign0Is16(t *testing.T) {
	for _, b := range bases {
		for _, w := range wrappers {
			t.Run(b.name+", "+w.name, func(t *testing.T) { // with a heap that ends with it
				a, end := b.make(t)
				a, done := w.around(a)
				for _, aligns := range [][2]int{{0, 16}, {16, 0}} {
					for _, size := range []int{0, 15, 16, 100, 5000} {
						p, err := a.Alloc(size, aligns[0])
						if err != nil {
							require.ErrorIs(t, err, alloc.ErrTooBig)
							continue
						}
						require.NotPanics(t, func() { a.ResizeSized(p, size, aligns[1], size) }, "%s, %s",
							b.name, w.name)
						require.NotPanics(t, func() { a.FreeSized(p, size, aligns[1]) }, "%s, %s", b.name, w.name)
					}
				}
				require.NoError(t, done())
				end()
			})
		}
	}
}

// TestWrongOrderInside: a free that the Stack inside refuses leaves the block live, for each
// wrapper. Trace has no line for the free that comes then: it wrote one before.
func TestWrongOrderInside(t *testing.T) {
	for _, w := range wrappers {
		s, err := alloc.NewStack(newHeap(t), 1<<20)
		require.NoError(t, err)
		a, done := w.around(s)
		p, q := must(a.Alloc(100, 8)), must(a.Alloc(200, 8))
		write(bytesOf(p, 100), 7)
		require.Panics(t, func() { a.FreeSized(p, 100, 8) }, w.name)
		require.Equal(t, bytes.Repeat([]byte{7}, 100), bytesOf(p, 100), w.name)
		a.FreeSized(q, 200, 8)
		require.NotPanics(t, func() { a.FreeSized(p, 100, 8) }, w.name)
		require.NoError(t, done(), w.name)
		require.NoError(t, s.Close())
	}
}

// TestLimitAfterPanic: a block that was requested and never handed out is not live.
func TestLimitAfterPanic(t *testing.T) {
	l := wrap.NewLimit(newHeap(t), 1000)
	require.Panics(t, func() { _, _ = l.Alloc(100, 3) })
	require.Zero(t, l.Live())
	p := must(l.Alloc(100, 0))
	require.Panics(t, func() { l.ResizeSized(p, 1, 0, 500) }, "it has 100 bytes")
	require.Equal(t, 100, l.Live())
	require.Panics(t, func() { l.ResizeSized(p, math.MinInt, 0, math.MaxInt) })
	require.Equal(t, 100, l.Live())
	l.FreeSized(p, 100, 0)
	require.Zero(t, l.Live())
}

// TestLimitRefusesNobodyElse: a request that is too large takes no room while it is refused.
func TestLimitRefusesNobodyElse(t *testing.T) {
	l := wrap.NewLimit(newHeap(t), 1000)
	var both sync.WaitGroup
	var done atomic.Bool
	both.Go(func() {
		for !done.Load() {
			_, err := l.Alloc(2000, 0)
			require.ErrorIs(t, err, alloc.ErrFull)
		}
	})
	for range 1_000_000 {
		p, err := l.Alloc(1000, 0)
		if err != nil {
			t.Error(err)
			break
		}
		l.FreeSized(p, 1000, 0)
	}
	done.Store(true)
	both.Wait()
}

// TestTrackAfterPanic: a block that was not freed for the order is live, with its stack, and
// later freed once.
func TestTrackAfterPanic(t *testing.T) {
	s, err := alloc.NewStack(newHeap(t), 1000)
	require.NoError(t, err)
	tr := wrap.NewTrack(s, "ordered")
	p, q := loadTexture(tr, 100), loadTexture(tr, 200)
	require.Contains(t, panicText(func() { dropTexture(tr, p, 100) }), "is not the last one")
	blocks, size := tr.Live()
	require.Equal(t, []int{2, 300}, []int{blocks, size})
	dropTexture(tr, q, 200)
	dropTexture(tr, p, 100)
	require.Contains(t, panicText(func() { tr.FreeSized(p, 100, 8) }),
		"was freed already; allocated at\n\tquarry/alloc/wrap_test.loadTexture")
	blocks, size = tr.Live()
	require.Zero(t, blocks+size)
	require.NoError(t, s.Close())
}

// TestTrackOfAnArena: an address that comes again after a reset is one block.
func TestTrackOfAnArena(t *testing.T) {
	a := alloc.NewArena(newHeap(t))
	defer a.Close()
	tr := wrap.NewTrack(a, "frame")
	for range 3 {
		must(tr.Alloc(100, 8))
		a.Reset(alloc.KeepAll)
	}
	blocks, size := tr.Live()
	require.Equal(t, []int{1, 100}, []int{blocks, size})
}

// TestWipeOfAFreedRun: a second free of a run of chunks panics before anything is wiped:
// its memory may be gone.
func TestWipeOfAFreedRun(t *testing.T) {
	u := newHeap(t).Universe()
	z := wrap.NewZero(u.Allocator(), wrap.Wipe())
	p := must(z.Alloc(100, 0))
	z.FreeSized(p, 100, 0)
	_, err := u.Trim(0)
	require.NoError(t, err)
	require.Contains(t, panicText(func() { z.FreeSized(p, 100, 0) }), "(freed before?)")
	require.Contains(t, panicText(func() { u.Allocator().ResizeSized(p, 100, 0, 200) }), "(freed before?)")
}

// TestWrappersStandOnPools: a wrapper that needs lines of 64 B can stand on a pool of slots that
// are multiples of that.
func TestWrappersStandOnPools(t *testing.T) {
	p, err := alloc.NewPool[[1024]uint64](newHeap(t))
	require.NoError(t, err)
	g := wrap.NewGuard(p, wrap.Canaries())
	q := must(g.Alloc(1000, 64))
	g.FreeSized(q, 1000, 64)
	require.NoError(t, g.Close())
	a := alloc.NewArena(p)
	must(a.Alloc(1000, 64))
	must(a.Alloc(8000, 64))
	a.Close()
	s, err := alloc.NewStack(p, 8192)
	require.NoError(t, err)
	must(s.Alloc(8192, 64))
	require.ErrorIs(t, s.Close(), alloc.ErrLeak)
	require.NoError(t, p.Close())
}
