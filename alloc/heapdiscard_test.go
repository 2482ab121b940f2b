package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/mmap"
)

// marked is a block every byte of which holds its mark.
type marked struct {
	p    unsafe.Pointer
	size int
	mark byte
}

func markBlock(p unsafe.Pointer, size int, m byte) marked {
	for i := range unsafe.Slice((*byte)(p), size) {
		unsafe.Slice((*byte)(p), size)[i] = m
	}
	return marked{p, size, m}
}

func (b marked) intact() bool {
	for _, v := range unsafe.Slice((*byte)(b.p), b.size) {
		if v != b.mark {
			return false
		}
	}
	return true
}

// TestHeapTrimGivesBackPages: of blocks of all sizes a tenth stays: Trim gives back pages between
// them, they keep their contents, and blocks that are made there later are good.
func TestHeapTrimGivesBackPages(t *testing.T) {
	for _, most := range []int{64, 1000, 9000, 60_000} {
		u := newUniverse(t, alloc.SmallPages(), alloc.Size(64<<20))
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(uint64(most), 28))
		var all []marked
		fill := func(bytes int) {
			for sum := 0; sum < bytes; {
				size := 1 + r.IntN(most)
				p, err := h.Alloc(size, 0)
				require.NoError(t, err)
				all = append(all, markBlock(p, size, byte(r.IntN(256))))
				sum += size
			}
		}
		fill(8 << 20)
		for round := range 3 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, b := range all[len(all)/10:] {
				h.FreeSized(b.p, b.size, 0)
			}
			all = all[:len(all)/10]
			before, unknown := u.Resident()
			require.NoError(t, h.Trim())
			require.NoError(t, h.Verify())
			require.NoError(t, u.Verify())
			if after, err := u.Resident(); unknown == nil && most == 1000 && !debug.On &&
				mmap.PageSize() < alloc.ChunkSize {
				require.NoError(t, err)
				require.Less(t, after, before*3/4, "most=%d round=%d", most, round)
			}
			_, err := u.Trim(0)
			require.NoError(t, err)
			for _, b := range all {
				require.True(t, b.intact(), "%d bytes, most=%d round=%d", b.size, most, round)
			}
			fill(4 << 20)
			p, err := h.AllocZeroed(most, 0)
			require.NoError(t, err)
			require.True(t, marked{p, most, 0}.intact())
			h.FreeSized(p, most, 0)
			for _, b := range all {
				require.True(t, b.intact())
			}
		}
		for _, b := range all {
			h.FreeSized(b.p, b.size, 0)
		}
		require.NoError(t, h.Close())
	}
}

// TestLocalTrimGivesBackPages is the same for the slabs of a Local: the remaining blocks keep their
// contents, whichever goroutine freed the others, and later blocks there are sound.
func TestLocalTrimGivesBackPages(t *testing.T) {
	u := newUniverse(t, alloc.SmallPages(), alloc.Size(64<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	l := h.NewLocal()
	r := rand.New(rand.NewPCG(5, 30))
	var all []marked
	for round := range 3 {
		for sum := 0; sum < 8<<20; {
			size := 1 + r.IntN(2000)
			p, err := l.Alloc(size, 0)
			require.NoError(t, err)
			all = append(all, markBlock(p, size, byte(r.IntN(256))))
			sum += size
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, b := range all[len(all)/10:] {
			if i%2 == 0 {
				l.Free(b.p)
			} else {
				h.Free(b.p)
			}
		}
		all = all[:len(all)/10]
		before, unknown := u.Resident()
		l.Trim()
		require.NoError(t, h.Verify())
		require.NoError(t, u.Verify())
		if after, err := u.Resident(); unknown == nil && !debug.On && mmap.PageSize() < alloc.ChunkSize {
			require.NoError(t, err)
			require.Less(t, after, before*3/4, "round %d", round)
		}
		for _, b := range all {
			require.True(t, b.intact())
		}
	}
	for _, b := range all {
		l.Free(b.p)
	}
	l.Close()
	require.NoError(t, h.Close())
}

// TestHeapTrimIsRefused: the k-th call of the system is refused, for every k up to some: the error
// has it, blocks keep their contents, and the next Trim works.
func TestHeapTrimIsRefused(t *testing.T) {
	refused := errors.New("refused")
	for k := 1; k < 200; k += k/8 + 1 {
		region, err := mmap.Reserve(16 << 20)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, Err: refused}
		h, err := alloc.NewHeap(newUniverse(t, alloc.WithPages(pages)))
		require.NoError(t, err)
		var all []marked
		for i := range 4000 {
			p, err := h.Alloc(500+i%3*1000, 0)
			require.NoError(t, err)
			all = append(all, markBlock(p, 500+i%3*1000, byte(i)))
		}
		for i, b := range all {
			if i%16 != 0 {
				h.Free(b.p)
			}
		}
		pages.Calls, pages.FailAt = 0, k
		err = h.Trim()
		if pages.Calls >= k {
			require.ErrorIs(t, err, refused)
			require.ErrorContains(t, err, "alloc: Heap.Trim: ")
		} else {
			require.NoError(t, err)
		}
		pages.FailAt = 0
		require.NoError(t, h.Verify())
		require.NoError(t, h.Trim())
		for i := 0; i < len(all); i += 16 {
			require.True(t, all[i].intact())
			h.Free(all[i].p)
		}
		require.NoError(t, h.Close())
	}
}

// TestHeapTrimWhileOthersAllocate: goroutines make, check and free blocks of all kinds, by the heap
// and by Locals, while another trims heap and universe all the time.
func TestHeapTrimWhileOthersAllocate(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	var done atomic.Bool
	var all, trimmer sync.WaitGroup
	trimmer.Go(func() {
		for !done.Load() {
			if err := h.Trim(); err != nil {
				t.Error(err)
			}
			if _, err := u.Trim(0); err != nil {
				t.Error(err)
			}
			runtime.Gosched()
		}
	})
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	for w := range 3 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 29))
			var from alloc.Allocator = h
			if w == 2 {
				l := h.NewLocal()
				defer l.Close()
				from = l
			}
			var held []marked
			for range rounds {
				if len(held) < 200 && (len(held) == 0 || r.IntN(2) == 0) {
					size := 1 + r.IntN(1<<(4+r.IntN(12)))
					p, err := from.Alloc(size, 0)
					if err != nil {
						t.Error(err)
						return
					}
					held = append(held, markBlock(p, size, byte(r.IntN(256))))
					continue
				}
				at := r.IntN(len(held))
				if b := held[at]; !b.intact() {
					t.Errorf("worker %d: a block of %d bytes lost its contents", w, b.size)
					return
				}
				from.FreeSized(held[at].p, held[at].size, 0)
				held[at] = held[len(held)-1]
				held = held[:len(held)-1]
			}
			for _, b := range held {
				from.FreeSized(b.p, b.size, 0)
			}
		})
	}
	all.Wait()
	done.Store(true)
	trimmer.Wait()
	require.NoError(t, h.Verify())
	require.NoError(t, h.Close())
}

// BenchmarkTrimFragmented fills a heap with 500 MB of blocks of 16 bytes to most, sizes evenly
// distributed or their logarithms, frees all but a tenth at random and trims. It reports MB
// resident in the universe before and after, and MB of the blocks that are left; the time is that
// of both Trims.
//
//	go test -run '^$' -bench TrimFragmented -benchtime 1x ./alloc
func BenchmarkTrimFragmented(b *testing.B) {
	for _, most := range []int{128 << 10, 1024} {
		for _, even := range []bool{true, false} {
			for _, pages := range []string{"large", "small"} {
				b.Run(fmt.Sprintf("most=%d/even=%v/pages=%s", most, even, pages), func(b *testing.B) {
					for range b.N {
						trimFragmented(b, most, even, pages == "small")
					}
				})
			}
		}
	}
}

func trimFragmented(b *testing.B, most int, even, small bool) {
	b.StopTimer()
	var options []alloc.Option
	if small {
		options = append(options, alloc.SmallPages())
	}
	u := newUniverse(b, options...)
	h, err := alloc.NewHeap(u)
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(1, 2))
	var all []marked
	for sum := 0; sum < 500<<20; {
		size := 16 + r.IntN(most-15)
		if !even {
			size = int(16 * math.Pow(float64(most)/16, r.Float64()))
		}
		p, err := h.Alloc(size, 0)
		require.NoError(b, err)
		clear(unsafe.Slice((*byte)(p), size))
		all = append(all, marked{p, size, 0})
		sum += size
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	live := 0
	for i, x := range all {
		if i < len(all)/10 {
			live += x.size
		} else {
			h.FreeSized(x.p, x.size, 0)
		}
	}
	before, _ := u.Resident()
	b.StartTimer()
	require.NoError(b, h.Trim())
	_, err = u.Trim(0)
	b.StopTimer()
	require.NoError(b, err)
	after, _ := u.Resident()
	b.ReportMetric(float64(before>>20), "MB-before")
	b.ReportMetric(float64(after>>20), "MB-after")
	b.ReportMetric(float64(live>>20), "MB-live")
	for _, x := range all[:len(all)/10] {
		h.FreeSized(x.p, x.size, 0)
	}
	require.NoError(b, h.Close())
	b.StartTimer()
}
