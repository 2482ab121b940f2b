package alloc_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// overflowSize is the size of overflow heaps in these tests.
const overflowSize = 8 << 20

// newOverflowing returns a heap on a universe of 4 MiB that goes on in overflow heaps.
func newOverflowing(t *testing.T, options ...alloc.Option) *alloc.Heap {
	h := newHeap(t, append(options, alloc.Size(4<<20))...)
	h.OverflowOf(overflowSize)
	return h
}

// TestOverflowAgainstModel runs a stream over blocks of all sizes that need several universes.
func TestOverflowAgainstModel(t *testing.T) {
	for _, local := range []bool{false, true} {
		base := committed()
		u := newUniverse(t, alloc.Size(4<<20), alloc.SmallPages())
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		h.OverflowOf(overflowSize)
		m := &heapModel{t: t, h: h, rng: rand.New(rand.NewPCG(3, 6))}
		if local {
			m.locals = []*alloc.Local{h.NewLocal()}
		}
		for i := range 150 {
			b := modelBlock{p: must(h.Alloc(100_000, 0)), size: 100_000, mark: byte(i)}
			m.fill(b)
			m.live = append(m.live, b)
			m.bytes += b.size
		}
		steps := 6000
		if testing.Short() {
			steps = 1500
		}
		for step := range steps {
			switch op := m.rng.IntN(1000); {
			case op < 4:
				require.NoError(t, h.Trim())
			case op < 600 && m.bytes < 24<<20 || len(m.live) == 0:
				m.alloc(step)
			case op < 750:
				m.resize(m.rng.IntN(len(m.live)))
			default:
				m.free(m.rng.IntN(len(m.live)))
			}
			require.Equal(t, len(m.live), h.Stats().LiveBlocks)
			if step%64 == 0 {
				require.NoError(t, h.Verify(), "step %d", step)
				require.Equal(t, base+u.CommittedBytes()+h.OverflowBytes()+h.CommittedBytes(), committed())
			}
		}
		require.Greater(t, h.Overflows(), 1)
		for len(m.live) > 0 {
			m.free(len(m.live) - 1)
		}
		for _, l := range m.locals {
			l.Close()
		}
		require.NoError(t, h.Trim())
		require.Equal(t, alloc.HeapStats{}, h.Stats())
		require.NoError(t, h.Verify())
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
		require.Equal(t, base, committed())
	}
}

// TestOverflowMisuse: blocks of overflow heaps are guarded like others.
func TestOverflowMisuse(t *testing.T) {
	h := newOverflowing(t)
	var live []unsafe.Pointer
	for range 300 { // 10 MB: the last are in an overflow heap
		live = append(live, must(h.Alloc(33_000, 0)))
	}
	slot, span := must(h.Alloc(100, 0)), must(h.Alloc(2<<20, 0))
	run := live[299]
	require.Positive(t, h.Overflows())
	for _, p := range []unsafe.Pointer{slot, span, run} {
		_, inside := h.Universe().IndexOf(p)
		require.False(t, inside)
		require.True(t, h.Owns(p))
		usable := h.Usable(p)
		require.False(t, h.Owns(unsafe.Add(p, 16)))
		require.Contains(t, panicText(func() { h.Free(unsafe.Add(p, 16)) }), "alloc: Heap.Free: ")
		require.Contains(t, panicText(func() { h.FreeSized(p, 9_999_999, 0) }), "it was not allocated with")
		h.FreeSized(p, usable, 0)
		require.Contains(t, panicText(func() { h.Free(p) }), "freed twice")
		require.NoError(t, h.Verify())
	}
	freeAll(h, live[:299])
	require.Zero(t, h.Stats().LiveBlocks)
	require.Contains(t, panicText(func() { h.Free(unsafe.Pointer(new(int))) }), "is not a block of this heap")
}

// TestOverflowsServeInTurn: after the universe was full, requests go to the overflow heaps, and
// some time later to the universe again, if it has room by then.
func TestOverflowsServeInTurn(t *testing.T) {
	h := newOverflowing(t)
	var live []unsafe.Pointer
	in := func(p unsafe.Pointer) bool {
		_, inside := h.Universe().IndexOf(p)
		return inside
	}
	for len(live) == 0 || in(live[len(live)-1]) {
		live = append(live, must(h.Alloc(50_000, 0)))
	}
	require.Equal(t, 1, h.Overflows())
	last := len(live) - 1
	freeAll(h, live[:last])
	back := 0
	for ; back < 2000; back++ {
		p := must(h.Alloc(50_000, 0))
		found := in(p)
		h.Free(p)
		if found {
			break
		}
	}
	require.Positive(t, back)
	require.Less(t, back, 2000)
	require.Equal(t, 1, h.Overflows())
	h.Free(live[last])
}

// TestOverflowBounds: who has none.
func TestOverflowBounds(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	var live []unsafe.Pointer
	p, err := h.Alloc(50_000, 0)
	for ; err == nil; p, err = h.Alloc(50_000, 0) {
		live = append(live, p)
	}
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Zero(t, h.Overflows())
	freeAll(h, live)

	// A block of more than half of an overflow heap has a mapping, and so has one that is aligned
	// to more than an overflow heap is sure to honor.
	a := newOverflowing(t)
	for _, b := range [][2]int{{overflowSize/2 + 1, 0}, {100, 2 << 20}} {
		p := must(a.Alloc(b[0], b[1]))
		require.Zero(t, a.Overflows())
		require.NotZero(t, a.Stats().Mapped)
		a.Free(p)
	}

	u := newUniverse(t)
	confined, err := alloc.NewHeap(u, alloc.Confined())
	require.NoError(t, err)
	require.Zero(t, confined.OverflowSize())
	require.NoError(t, confined.Close())
	plain, err := alloc.NewHeap(u)
	require.NoError(t, err)
	require.Equal(t, mmap.Real, plain.OverflowSize() == alloc.MaxSize)
	require.NoError(t, plain.Close())
}

// TestOverflowRefused: a budget leaves no room for an overflow heap, and later does.
func TestOverflowRefused(t *testing.T) {
	base := alloc.PurgeAll()
	h := newOverflowing(t)
	setBudget(t, alloc.Budget{OffHeap: base + 8<<20})
	var live []unsafe.Pointer
	p, err := h.Alloc(100_000, 0)
	for ; err == nil; p, err = h.Alloc(100_000, 0) {
		live = append(live, p)
	}
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.NoError(t, h.Verify())
	require.Equal(t, len(live), h.Stats().LiveBlocks)
	require.LessOrEqual(t, committed(), base+8<<20)
	freeAll(h, live)
	live = nil
	for range 60 {
		live = append(live, must(h.Alloc(100_000, 0)))
	}
	freeAll(h, live)
}

// TestOverflowInjectedFailures refuses each request of a program that needs overflow heaps.
func TestOverflowInjectedFailures(t *testing.T) {
	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) (err error) {
		u, err := alloc.NewUniverse(alloc.Size(2<<20), alloc.InjectFailures(f))
		require.NoError(t, err)
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		h.OverflowOf(overflowSize)
		var live []unsafe.Pointer
		for range 8 {
			p, e := h.Alloc(600_000, 0)
			if e != nil {
				err = errors.Join(err, e)
				continue
			}
			live = append(live, p)
		}
		err = errors.Join(err, h.Verify())
		freeAll(h, live)
		return errors.Join(err, h.Close(), u.Close())
	}))
}

// TestOverflowsByManyGoroutines: several goroutines find the universe full at once.
func TestOverflowsByManyGoroutines(t *testing.T) {
	h := newOverflowing(t, alloc.SmallPages())
	var all sync.WaitGroup
	for g := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			rng := rand.New(rand.NewPCG(uint64(g), 4))
			var live []modelBlock64
			for step := range 1500 {
				if len(live) < 60 && rng.IntN(3) > 0 || len(live) == 0 {
					size := 8 + rng.IntN(200_000)
					b := modelBlock64{must(h.Alloc(size, 0)), size, 0, uint64(g)<<32 + uint64(step)}
					b.fill()
					live = append(live, b)
					continue
				}
				i := rng.IntN(len(live))
				if got := *live[i].at(0); got != live[i].mark {
					t.Errorf("got %#x want %#x", got, live[i].mark)
					return
				}
				h.Free(live[i].p)
				live = append(live[:i], live[i+1:]...)
			}
			for _, b := range live {
				h.Free(b.p)
			}
		}()
	}
	all.Wait()
	require.Positive(t, h.Overflows())
	require.Less(t, h.Overflows(), 12)
	require.Zero(t, h.Stats().LiveBlocks)
}

// TestOverflowsCloseWithLeak: Close counts the blocks of overflow heaps.
func TestOverflowsCloseWithLeak(t *testing.T) {
	base := committed()
	u := newUniverse(t, alloc.Size(2<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	h.OverflowOf(overflowSize)
	for range 5 {
		must(h.Alloc(600_000, 0))
	}
	err = h.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "5 blocks")
	require.NoError(t, u.Close())
	require.Equal(t, base, committed())
}
