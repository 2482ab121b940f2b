package wrap_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// randomCalls makes n random calls of a, of which some are refused, and tells each to
// see; what is live at the end is returned. to is -1 for a block that is freed.
func randomCalls(t testing.TB, a alloc.Allocator, r *rand.Rand, n int, see func(b live, to int, ok bool)) []live {
	t.Helper()
	var blocks []live
	for range n {
		at := -1
		if len(blocks) > 0 {
			at = r.IntN(len(blocks))
		}
		switch k := r.IntN(10); {
		case at < 0 || k < 5:
			b := live{size: r.IntN(1 << r.IntN(17)), align: 1 << r.IntN(9)}
			p, err := a.Alloc(b.size, b.align)
			if err != nil {
				require.ErrorIs(t, err, alloc.ErrFull)
			} else {
				require.Zero(t, uintptr(p)%uintptr(b.align))
			}
			b.p = p
			see(b, b.size, err == nil)
			if err == nil {
				blocks = append(blocks, b)
			}
		case k < 7:
			to := r.IntN(2*blocks[at].size + 2)
			ok := a.ResizeSized(blocks[at].p, blocks[at].size, blocks[at].align, to)
			see(blocks[at], to, ok)
			if ok {
				blocks[at].size = to
			}
		default:
			b := blocks[at]
			blocks[at] = blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			see(b, -1, true)
			a.FreeSized(b.p, b.size, b.align)
		}
	}
	return blocks
}

func freeAll(a alloc.Allocator, blocks []live) {
	for _, b := range blocks {
		a.FreeSized(b.p, b.size, b.align)
	}
}

func TestStatsCountsAsAModelDoes(t *testing.T) {
	s := wrap.NewStats(wrap.NewLimit(newHeap(t), 1<<20))
	var want wrap.Counts
	known := map[unsafe.Pointer]bool{}
	sizes := [64]int64{}
	see := func(b live, to int, ok bool) {
		switch {
		case to < 0:
			want.Frees++
			want.LiveBytes -= int64(b.size)
			delete(known, b.p)
		case known[b.p] && ok:
			want.Resizes++
			want.LiveBytes += int64(to - b.size)
		case known[b.p]:
			want.RefusedResizes++
		case ok:
			known[b.p] = true
			want.Allocs++
			want.LiveBytes += int64(to)
			sizes[bits.Len(uint(max(to, 1)-1))]++
		default:
			want.RefusedAllocs++
		}
		want.LiveBlocks = int64(len(known))
		want.PeakBytes = max(want.PeakBytes, want.LiveBytes)
	}
	blocks := randomCalls(t, s, rand.New(rand.NewPCG(1, 2)), 20_000, func(b live, to int, ok bool) {
		see(b, to, ok)
		if to >= 0 {
			require.Equal(t, want.LiveBytes, s.Counts().LiveBytes)
		}
	})
	want.Sizes = sizes[:17]
	require.Equal(t, want, s.Counts())
	require.NotZero(t, want.RefusedAllocs)
	require.NotZero(t, want.RefusedResizes)
	freeAll(s, blocks)
	s.FreeSized(nil, 5, 0)
	c := s.Counts()
	require.Zero(t, c.LiveBlocks+c.LiveBytes)
	require.Equal(t, want.Allocs, c.Frees, "a free of nil does not count")
}

func TestStatsSizes(t *testing.T) {
	for _, c := range []struct{ size, at int }{
		{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {64, 6}, {65, 7}, {1 << 20, 20}, {1<<20 + 1, 21},
	} {
		s := wrap.NewStats(newHeap(t))
		p, err := s.Alloc(c.size, 0)
		require.NoError(t, err)
		want := make([]int64, c.at+1)
		want[c.at] = 1
		require.Equal(t, want, s.Counts().Sizes, "size %d", c.size)
		require.Equal(t, int64(c.size), s.Counts().PeakBytes)
		s.FreeSized(p, c.size, 0)
	}
}

func TestStatsOfSeveralGoroutines(t *testing.T) {
	s := wrap.NewStats(newHeap(t))
	const n = 2000
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for range n {
				p, err := s.Alloc(100+g, 0)
				if err != nil {
					panic(err)
				}
				s.ResizeSized(p, 100+g, 0, 104)
				s.FreeSized(p, 104, 0)
			}
		})
	}
	group.Wait()
	c := s.Counts()
	require.Equal(t, []int64{4 * n, 4 * n, 4 * n, 0, 0}, []int64{
		c.Allocs, c.Resizes, c.Frees, c.LiveBlocks, c.LiveBytes,
	})
	require.LessOrEqual(t, c.PeakBytes, int64(8*104))
}

func TestStatsIsAnExpvar(t *testing.T) {
	s := wrap.NewStats(newHeap(t))
	name := fmt.Sprintf("%s-%p", t.Name(), s) // names are for good, and tests run again by -count
	expvar.Publish(name, s)
	var c wrap.Counts
	require.NoError(t, json.Unmarshal([]byte(expvar.Get(name).String()), &c))
	require.Equal(t, wrap.Counts{Sizes: []int64{}}, c)
	p, err := s.Alloc(40, 0)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(expvar.Get(name).String()), &c))
	require.Equal(t, s.Counts(), c)
	require.Equal(t, int64(40), c.LiveBytes)
	s.FreeSized(p, 40, 0)
}

func BenchmarkStats(b *testing.B) {
	h := newHeap(b)
	for _, c := range []struct {
		name string
		a    alloc.Allocator
	}{{"heap", h}, {"stats", wrap.NewStats(h)}} {
		b.Run("way="+c.name, func(b *testing.B) {
			for b.Loop() {
				p, err := c.a.Alloc(64, 0)
				if err != nil {
					b.Fatal(err)
				}
				c.a.FreeSized(p, 64, 0)
			}
		})
	}
}
