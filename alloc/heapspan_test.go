package alloc_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/mmap"
)

// spanUniverse is a size of which spans may have 64 MiB.
const spanUniverse = 192 << 20

// TestSpansPack: blocks of 1 MiB and a byte lie 65 chunks apart, and one that is freed is found
// again.
func TestSpansPack(t *testing.T) {
	h := newHeap(t, alloc.Size(spanUniverse))
	var live []unsafe.Pointer
	for i := range 60 {
		p := must(h.Alloc(1<<20+1, 0))
		require.Equal(t, 65*alloc.ChunkSize, h.Usable(p))
		require.Equal(t, i*65*alloc.ChunkSize, int(uintptr(p)-uintptr(h.Universe().Base())))
		live = append(live, p)
	}
	require.Equal(t, alloc.HeapStats{LiveBlocks: 60, LiveBytes: 60 * 65 << 14, Chunks: 60 * 65}, h.Stats())
	for _, i := range []int{3, 40, 17} {
		h.Free(live[i])
		require.Equal(t, live[i], must(h.Alloc(1<<20+1, 0)))
	}
	for _, i := range []int{7, 8} {
		h.Free(live[i])
	}
	require.Equal(t, live[7], must(h.Alloc(2*65<<14, 0)))
	live[8] = nil
	freeAll(h, live)
}

// TestRunsAcross: runs of 17 chunks and more lie one behind the other, whatever megachunks they are
// in, and are guarded and resized there.
func TestRunsAcross(t *testing.T) {
	eachAllocator(t, func(t *testing.T, h *alloc.Heap, a allocator, name string) {
		const size = 38 * alloc.ChunkSize
		var live []unsafe.Pointer
		for i := range 13 { // of 512 chunks
			p := must(a.AllocZeroed(size, 0))
			require.Equal(t, size, a.Usable(p))
			require.Equal(t, i*size, int(uintptr(p)-uintptr(h.Universe().Base())))
			bytesOf(p, size)[size-1] = byte(i)
			live = append(live, p)
		}
		_, err := a.Alloc(size, 0)
		require.ErrorIs(t, err, alloc.ErrFull)
		require.NoError(t, h.Verify())
		// The second has chunks 38 to 75.
		require.Contains(t, panicText(func() { a.Free(unsafe.Add(live[1], 30<<14)) }),
			"points 491520 bytes into a block of 38 chunks")
		require.Contains(t, panicText(func() { a.Free(unsafe.Add(live[1], 5)) }),
			"points 5 bytes into a block of 38 chunks")
		require.False(t, a.Resize(live[1], size+1))
		require.True(t, a.Resize(live[1], 30<<14))
		require.True(t, a.Resize(live[1], 22<<14), "in one megachunk now")
		require.NoError(t, h.Verify())
		require.Equal(t, 12*38+22, h.Stats().Chunks)
		require.True(t, a.Resize(live[1], size))
		require.Equal(t, byte(0), bytesOf(live[2], 1)[0])
		a.Free(live[1])
		require.Contains(t, panicText(func() { a.Free(live[1]) }), "freed twice")
		require.False(t, h.Owns(unsafe.Add(live[1], 30<<14)))
		again := must(a.AllocZeroed(size, 0))
		require.Equal(t, live[1], again)
		for i, v := range bytesOf(again, size) {
			if v != 0 {
				t.Fatalf("byte %d: got %d want 0", i, v)
			}
		}
		for i, p := range live {
			if i != 1 {
				require.Equal(t, byte(i), bytesOf(p, size)[size-1])
			}
		}
		freeAll(a, live)
		require.NoError(t, h.Universe().Verify())
		require.Zero(t, h.Stats().Chunks)
	})
}

// TestSpanMisuse passes pointers that are not spans, or freed ones.
func TestSpanMisuse(t *testing.T) {
	eachSpanAllocator(t, func(t *testing.T, h *alloc.Heap, a allocator, name string) {
		p, gone := must(a.Alloc(3<<20, 0)), must(a.Alloc(3<<20, 0))
		require.Equal(t, unsafe.Add(p, 3<<20), gone)
		if uintptr(p)%(1<<30) == 0 { // by chance; the other one is not aligned so then
			p, gone = gone, p
		}
		a.Free(gone)
		for _, c := range []struct {
			op, text string
			f        func()
		}{
			{"Free", "is not a block of this heap (freed twice", func() { a.Free(gone) }},
			{"Usable", "is not a block of this heap (freed twice", func() { a.Usable(gone) }},
			{"Realloc", "is not a block of this heap (freed twice", func() { _, _ = a.Realloc(gone, 5<<20, 0) }},
			{"Resize", "is not a block of this heap (freed twice", func() { a.Resize(gone, 5<<20) }},
			{"FreeSized", "is not a block of this heap (freed twice", func() { a.FreeSized(gone, 3<<20, 0) }},
			{"Free", "points 1 bytes into a block of 192 chunks", func() { a.Free(unsafe.Add(p, 1)) }},
			{"Free", "points 16384 bytes into a block of 192 chunks", func() { a.Free(unsafe.Add(p, 16384)) }},
			{"Free", "points 2097152 bytes into a block of 192 chunks", func() { a.Free(unsafe.Add(p, 2<<20)) }},
			{"FreeSized", "has 3145728 usable bytes: it was not allocated with size=1000000", func() { a.FreeSized(p, 1000000, 0) }},
			{"FreeSized", "has 3145728 usable bytes: it was not allocated with size=3145729", func() { a.FreeSized(p, 3<<20+1, 0) }},
			{"FreeSized", "it was not allocated with size=3145728 align=1073741824", func() { a.FreeSized(p, 3<<20, 1<<30) }},
		} {
			text := panicText(c.f)
			require.Contains(t, text, "alloc: "+name+"."+c.op+": ")
			require.Contains(t, text, c.text)
			require.NoError(t, h.Verify())
		}
		a.FreeSized(p, 3<<20, 0)
		require.Zero(t, h.Stats().LiveBlocks)
		require.Zero(t, h.Universe().SpanChunks())
	})
}

// eachSpanAllocator is eachAllocator on a universe that has spans.
func eachSpanAllocator(t *testing.T, f func(t *testing.T, h *alloc.Heap, a allocator, name string)) {
	for _, name := range []string{"Heap", "Local"} {
		t.Run(name, func(t *testing.T) {
			h := newHeap(t, alloc.Size(spanUniverse))
			var a allocator = h
			if name == "Local" {
				l := h.NewLocal()
				defer l.Close()
				a = l
			}
			f(t, h, a, name)
		})
	}
}

// TestSpanResize grows and shrinks a span where it is.
func TestSpanResize(t *testing.T) {
	eachSpanAllocator(t, func(t *testing.T, h *alloc.Heap, a allocator, _ string) {
		p := must(a.Alloc(2<<20, 0))
		require.True(t, a.Resize(p, 20<<20))
		require.Equal(t, 20<<20, a.Usable(p))
		bytesOf(p, 20<<20)[20<<20-1] = 1
		behind := must(a.Alloc(1<<20+1, 0))
		require.Equal(t, unsafe.Add(p, 20<<20), behind)
		require.False(t, a.Resize(p, 20<<20+1), "the chunk behind is taken")
		require.Equal(t, 20<<20, a.Usable(p))
		require.True(t, a.Resize(p, 10<<20))
		require.Equal(t, 10<<20, a.Usable(p))
		require.NoError(t, h.Verify())
		require.False(t, a.Resize(p, 1<<19), "more than half of the shortest span would be wasted")
		require.True(t, a.Resize(p, 600_000))
		require.Equal(t, 65<<14, a.Usable(p), "the shortest span")
		require.False(t, a.Resize(p, 1<<40))
		require.False(t, a.Resize(p, 60<<20), "the block behind is in the way")
		a.Free(behind)
		require.False(t, a.Resize(p, 65<<20), "above the share of spans")
		require.NoError(t, h.Verify())
		require.Equal(t, 65, h.Universe().SpanChunks())
		q := must(a.Realloc(p, 30<<20, 0))
		require.Equal(t, p, q)
		a.Free(q)
		require.Zero(t, h.Universe().SpanChunks())
	})
}

// TestSpansLeaveRoom: large blocks beyond the share of spans have mappings, so small ones find
// room.
func TestSpansLeaveRoom(t *testing.T) {
	h := newHeap(t, alloc.Size(spanUniverse))
	var live []unsafe.Pointer
	for range 10 {
		live = append(live, must(h.Alloc(10<<20, 0)))
	}
	require.Equal(t, 6*10<<20, h.Stats().Chunks*alloc.ChunkSize)
	require.Equal(t, 4*10<<20, h.Stats().Mapped)
	for _, p := range live {
		bytesOf(p, 10<<20)[10<<20-1] = 1
	}
	freeAll(h, live)
	small := newHeap(t, alloc.Size(64<<20))
	small.Free(must(small.Alloc(2<<20, 0)))
	require.NotZero(t, small.Stats().Kept, "a universe of 64 MiB has no spans")
	far := must(h.Alloc(64<<20, 0))
	require.Equal(t, 64<<20, h.Stats().Chunks*alloc.ChunkSize)
	h.Free(far)
}

// spanProgram allocates, grows and frees spans, goes on after refusals and checks after each step
// that nothing was lost. It returns how many there were.
func spanProgram(t *testing.T, h *alloc.Heap, base int64, expected error) (refused int) {
	u := h.Universe()
	var live []unsafe.Pointer
	verify := func() {
		require.NoError(t, h.Verify())
		require.NoError(t, u.Verify())
		require.Equal(t, len(live), h.Stats().LiveBlocks)
		require.Equal(t, u.Stats().LiveChunks, h.Stats().Chunks)
		require.Equal(t, base+u.CommittedBytes()+h.CommittedBytes(), committed())
	}
	try := func(p unsafe.Pointer, err error) {
		if err == nil {
			live = append(live, p)
		} else {
			refused++
			require.ErrorIs(t, err, expected)
			require.ErrorIs(t, err, alloc.ErrCommit)
		}
		verify()
	}
	for _, size := range []int{1<<20 + 1, 3 << 20, 9 << 20} {
		try(h.Alloc(size, 0))
		try(h.AllocZeroed(size, 1<<20))
	}
	for i := 0; i < len(live); i += 2 {
		h.Free(live[i])
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
		verify()
	}
	_, err := u.Trim(0)
	if err != nil {
		refused++
		require.ErrorIs(t, err, expected)
	}
	verify()
	for i, p := range live {
		if usable := h.Usable(p); !h.Resize(p, usable+5<<20) {
			require.Equal(t, usable, h.Usable(p))
			verify()
			q, err := h.Realloc(p, usable+5<<20, 0)
			if err != nil {
				refused++
				require.ErrorIs(t, err, expected)
				q = p
			}
			live[i] = q
		}
		verify()
	}
	for len(live) > 0 {
		h.Free(live[0])
		live = live[1:]
		verify()
	}
	return refused
}

// TestSpanRefusals makes the k-th call of the pages fail, for every k.
func TestSpanRefusals(t *testing.T) {
	for k, more := 1, true; more; k++ {
		base := committed()
		region, err := mmap.Reserve(spanUniverse)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, FailAt: k, Err: errNoMemory}
		u, err := alloc.NewUniverse(alloc.WithPages(pages))
		require.NoError(t, err)
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		spanProgram(t, h, base, errNoMemory)
		more = pages.Calls >= k
		pages.FailAt = 0
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
		require.Equal(t, base, committed())
	}
}

// TestSpanInjectedFailures refuses each request for a span.
func TestSpanInjectedFailures(t *testing.T) {
	for n := 1; ; n++ {
		f := alloc.FailAt(n)
		base := committed()
		u := newUniverse(t, alloc.Size(spanUniverse), alloc.InjectFailures(f))
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		refused := spanProgram(t, h, base, alloc.ErrInjected)
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
		if f.Refused() == 0 {
			require.Greater(t, n, 6)
			require.Zero(t, refused)
			return
		}
	}
}

// TestSpanBudget: a budget that has room for half of a span refuses it, and all is as before.
func TestSpanBudget(t *testing.T) {
	base := alloc.PurgeAll()
	h := newHeap(t, alloc.Size(spanUniverse))
	setBudget(t, alloc.Budget{OffHeap: base + 20<<20})
	p := must(h.Alloc(12<<20, 0))
	_, err := h.Alloc(12<<20, 0)
	require.ErrorIs(t, err, alloc.ErrBudget)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.NoError(t, h.Verify())
	require.NoError(t, h.Universe().Verify())
	require.Equal(t, 12<<20/alloc.ChunkSize, h.Universe().SpanChunks())
	require.False(t, h.Resize(p, 24<<20))
	q := must(h.Alloc(8<<20, 0))
	h.Free(p)
	h.Free(must(h.Alloc(12<<20, 0)))
	h.Free(q)
}

// TestSpansByManyGoroutines runs the same on several goroutines, with chunks in between.
func TestSpansByManyGoroutines(t *testing.T) {
	h := newHeap(t, alloc.Size(spanUniverse), alloc.SmallPages(), alloc.PurgeAfter(0), alloc.Retain(0))
	var all sync.WaitGroup
	for g := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			rng := rand.New(rand.NewPCG(uint64(g), 7))
			var live []modelBlock64
			for step := range 400 {
				if len(live) < 6 && rng.IntN(2) == 0 || len(live) == 0 {
					size := 1<<20 + rng.IntN(2<<20)
					if rng.IntN(3) == 0 {
						size = 1 + rng.IntN(100_000) | 8
					}
					b := modelBlock64{must(h.Alloc(size, 0)), size, 0, uint64(g)<<32 + uint64(step)}
					b.fill()
					live = append(live, b)
					continue
				}
				i := rng.IntN(len(live))
				b := live[i]
				for off := 0; off+8 <= b.size; off += alloc.ChunkSize {
					if *b.at(off) != b.mark {
						t.Errorf("block of %d bytes: at %d: got %#x want %#x", b.size, off, *b.at(off), b.mark)
						return
					}
				}
				if to := b.size + rng.IntN(1<<20); b.size > 1<<20 && rng.IntN(3) == 0 && h.Resize(b.p, to) {
					live[i].size = to
					live[i].fill()
					continue
				}
				h.Free(b.p)
				live = append(live[:i], live[i+1:]...)
			}
			for _, b := range live {
				h.Free(b.p)
			}
		}()
	}
	all.Wait()
	require.NoError(t, h.Universe().Verify())
	require.Zero(t, h.Universe().SpanChunks())
}

// TestSpanFreedByTwo: of two goroutines that free one span, one panics, and nothing is lost.
func TestSpanFreedByTwo(t *testing.T) {
	h := newHeap(t, alloc.Size(spanUniverse), alloc.SmallPages())
	for range 300 {
		p := must(h.Alloc(2<<20, 0))
		var panics, at atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Add(1)
			go func() {
				defer both.Done()
				defer func() {
					if v := recover(); v != nil {
						panics.Add(1)
						if s := fmt.Sprint(v); !strings.Contains(s, "two goroutines at once") &&
							!strings.Contains(s, "freed twice") {
							t.Error(s)
						}
					}
				}()
				for at.Add(1); at.Load() < 2; {
					runtime.Gosched()
				}
				h.Free(p)
			}()
		}
		both.Wait()
		require.Equal(t, int32(1), panics.Load())
	}
	require.NoError(t, h.Verify())
	require.NoError(t, h.Universe().Verify())
}

// TestSpanMovesWithoutTwice: a block that moves gives back what is copied; also when the system
// refuses that, all bytes arrive.
func TestSpanMovesWithoutTwice(t *testing.T) {
	for _, refused := range []bool{false, true} {
		region, err := mmap.Reserve(spanUniverse)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region}
		u, err := alloc.NewUniverse(alloc.WithPages(pages))
		require.NoError(t, err)
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		first := must(h.Alloc(1<<20+5, 0)) // so that the next begins inside a granule
		p := must(h.Alloc(20<<20, 0))
		behind := must(h.Alloc(2<<20, 0))
		words := unsafe.Slice((*uint64)(p), 20<<20/8)
		for i := range words {
			words[i] = uint64(i)
		}
		if refused {
			pages.NoDiscard = errNoMemory
		}
		before := pages.Discards
		q := must(h.Realloc(p, 22<<20, 0))
		require.NotEqual(t, p, q)
		for i, v := range unsafe.Slice((*uint64)(q), 20<<20/8) {
			if v != uint64(i) {
				t.Fatalf("word %d: got %d", i, v)
			}
		}
		if !debug.On && mmap.Real {
			require.Equal(t, 9, pages.Discards-before, "whole granules of the old block")
		}
		freeAll(h, []unsafe.Pointer{first, q, behind})
		require.NoError(t, h.Verify())
		require.NoError(t, u.Verify())
		require.NoError(t, h.Close())
		require.NoError(t, u.Close())
	}
}

// TestSpanVerify breaks the invariant of spans.
func TestSpanVerify(t *testing.T) {
	h := newHeap(t, alloc.Size(spanUniverse))
	p := must(h.Alloc(2<<20, 0))
	for _, what := range []string{"chunk", "head"} {
		restore := h.CorruptSpan(p, what)
		require.ErrorContains(t, h.Verify(), "H10", what)
		restore()
		require.NoError(t, h.Verify(), what)
	}
	h.Free(p)
}

// TestSpansCloseWithLeak: Close counts spans that are live, and frees them.
func TestSpansCloseWithLeak(t *testing.T) {
	u := newUniverse(t, alloc.Size(spanUniverse))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	p := must(h.Alloc(5<<20, 0))
	err = h.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "1 blocks of 5242880 bytes")
	require.Zero(t, u.Stats().LiveChunks)
	require.Contains(t, panicText(func() { h.Free(p) }), "the heap is closed")
	require.NoError(t, u.Close())
}
