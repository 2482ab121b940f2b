package alloc_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// fillClass allocates n blocks of a size.
func fillClass(a allocator, n, size int) []unsafe.Pointer {
	blocks := make([]unsafe.Pointer, n)
	for i := range blocks {
		blocks[i] = must(a.Alloc(size, 0))
	}
	return blocks
}

func freeAll(a allocator, blocks []unsafe.Pointer) {
	for _, p := range blocks {
		a.Free(p)
	}
}

func TestLocalsFreeEachOthersBlocks(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	a, b := h.NewLocal(), h.NewLocal()
	blocks := fillClass(a, 1000, 64) // 4 slabs, the last one current
	chunks := h.Stats().Chunks
	require.Equal(t, 4, chunks)
	freeAll(b, blocks[:500])
	require.NoError(t, h.Verify())
	freeAll(h, blocks[500:])
	require.NoError(t, h.Verify())
	require.Zero(t, h.Stats().LiveBlocks)
	again := fillClass(a, 1000, 64)
	require.NoError(t, h.Verify())
	require.Equal(t, chunks, h.Stats().Chunks, "what others freed was used again")
	freeAll(a, again)
	a.Close()
	b.Close()
	require.NoError(t, h.Verify())
}

func TestLocalCloseLeavesBlocksLive(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	a := h.NewLocal()
	blocks := fillClass(a, 700, 100)
	run := must(a.Alloc(50_000, 0))
	mapped := must(a.Alloc(3<<20, 0))
	for i, p := range blocks {
		bytesOf(p, 100)[99] = byte(i)
	}
	freeAll(h, blocks[:100])
	freeAll(a, blocks[100:200])
	a.Close()
	a.Close()
	require.NoError(t, h.Verify())
	require.Equal(t, 502, h.Stats().LiveBlocks)
	for i, p := range blocks[200:] {
		require.Equal(t, byte(i+200), bytesOf(p, 100)[99])
		require.True(t, h.Owns(p))
	}
	b := h.NewLocal() // adopts what a left
	chunks := h.Stats().Chunks
	more := fillClass(b, 80, 100)
	require.Equal(t, chunks, h.Stats().Chunks)
	require.NoError(t, h.Verify())
	freeAll(b, blocks[200:])
	freeAll(h, more)
	b.Free(run)
	b.Free(mapped)
	b.Close()
	require.Zero(t, h.Stats().LiveBlocks)
	for name, f := range map[string]func(){
		"Alloc":       func() { _, _ = a.Alloc(1, 0) },
		"AllocZeroed": func() { _, _ = a.AllocZeroed(1, 0) },
		"Free":        func() { a.Free(run) },
		"Realloc":     func() { _, _ = a.Realloc(nil, 1, 0) },
		"Resize":      func() { a.Resize(run, 1) },
	} {
		require.Equal(t, "alloc: Local."+name+": the Local is closed", panicText(f))
	}
}

func TestHeapCloseEndsItsLocals(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	h, err := alloc.NewHeap(u, alloc.SlabGrowth(alloc.Fixed(10)))
	require.NoError(t, err)
	l := h.NewLocal()
	p := must(l.Alloc(64, 0))
	require.Equal(t, 10, u.Stats().LiveChunks)
	require.Equal(t, alloc.HeapStats{LiveBlocks: 1, LiveBytes: 64, Chunks: 10, Ahead: 9}, h.Stats())
	err = h.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "1 blocks of 64 bytes")
	require.Zero(t, u.Stats().LiveChunks)
	for name, f := range map[string]func(){
		"Local.Alloc":     func() { _, _ = l.Alloc(64, 0) },
		"Local.Free":      func() { l.Free(p) },
		"Local.Usable":    func() { l.Usable(p) },
		"Heap.Free":       func() { h.Free(p) },
		"Heap.Realloc":    func() { _, _ = h.Realloc(p, 5, 0) },
		"Heap.FreeSized":  func() { h.FreeSized(p, 64, 0) },
		"Heap.Resize":     func() { h.Resize(p, 64) },
		"Heap.NewLocal":   func() { h.NewLocal() },
		"Heap.Trim":       func() { _ = h.Trim() },
		"Heap.Alloc":      func() { _, _ = h.Alloc(64, 0) },
		"Heap.Usable":     func() { h.Usable(p) },
		"Local.FreeSized": func() { l.FreeSized(p, 64, 0) },
	} {
		require.Contains(t, panicText(f), "the heap is closed", name)
	}
	require.False(t, h.Owns(p))
	l.Close()
	require.NoError(t, h.Close())
}

// TestDoubleFreeIsFound frees a block twice in every way that can be detected.
func TestDoubleFreeIsFound(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	a, b := h.NewLocal(), h.NewLocal()
	defer b.Close()
	all := map[string]allocator{"heap": h, "owner": a, "other": b}
	for first, x := range all {
		for second, y := range all {
			for third, from := range all {
				for _, size := range []int{64, 20_000, 16_384, 45_000, 900_000, 2 << 20} {
					p := must(from.Alloc(size, 0))
					x.Free(p)
					require.Contains(t, panicText(func() { y.Free(p) }), "freed twice", "%s, %s, %s, %d",
						first, second, third, size)
					require.False(t, h.Owns(p))
					require.NoError(t, h.Verify())
				}
			}
		}
	}
	// Later, when the chunk holds slots of another class: detected by their places.
	blocks := fillClass(a, 600, 64)
	freeAll(b, blocks)
	freeAll(a, fillClass(a, 2000, 64)) // folds what b freed, and drops slabs
	a.Close()
	require.NoError(t, h.Trim())
	later := fillClass(h, 100, 5000)
	told := 0
	for _, p := range blocks {
		if h.Owns(p) {
			continue // a live block begins there now: nothing could detect it
		}
		require.Contains(t, panicText(func() { h.Free(p) }), "alloc: Heap.Free: ")
		told++
	}
	require.Greater(t, told, 500)
	freeAll(h, later)
}

// TestLocalKeepsNoMoreThanItMust empties slabs in random order: what is left is
// at most two slabs, the current one and a spare.
func TestLocalKeepsNoMoreThanItMust(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	l := h.NewLocal()
	for _, a := range []allocator{l, h} {
		blocks := fillClass(a, 6000, 64)
		for i := range blocks {
			j := i * 2477 % len(blocks)
			blocks[i], blocks[j] = blocks[j], blocks[i]
		}
		freeAll(a, blocks)
		require.Zero(t, h.Stats().LiveBlocks)
		require.LessOrEqual(t, h.Stats().Chunks, 4)
	}
	l.Close()
	require.NoError(t, h.Trim())
	require.Zero(t, h.Stats().Chunks)
}

// TestChunksAheadNeverFailARequest: a run takes what was taken ahead.
func TestChunksAheadNeverFailARequest(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20)) // two megachunks
	h, err := alloc.NewHeap(u, alloc.SlabGrowth(alloc.Fixed(1000)))
	require.NoError(t, err)
	small := must(h.Alloc(10, 0))
	require.Equal(t, 64, h.Stats().Chunks)
	big := must(h.Alloc(1<<20, 0))
	run := must(h.Alloc(63<<14, 0))
	require.Equal(t, 128, h.Stats().Chunks)
	require.NoError(t, h.Verify())
	_, err = h.Alloc(10_000, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	freeAll(h, []unsafe.Pointer{small, big, run})
	require.NoError(t, h.Close())
}

// TestARefusedCommitDoesNotFailWhatFits: the chunks that the policy would like are
// refused, the one that is needed lies in memory that is committed.
func TestARefusedCommitDoesNotFailWhatFits(t *testing.T) {
	region, err := mmap.Reserve(8 << 20)
	require.NoError(t, err)
	u, err := alloc.NewUniverse(alloc.WithPages(&alloc.FailingPages{Region: region, FailAt: 2, Err: errNoMemory}))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u, alloc.SlabGrowth(alloc.Fixed(64)))
	require.NoError(t, err)
	first := must(h.Alloc(8000, 0)) // 64 chunks: megachunk 0
	run := must(h.Alloc(10<<14, 0)) // of megachunk 1, in the same granule
	blocks := fillClass(h, 128, 8000)
	require.NoError(t, h.Verify())
	require.Equal(t, 75, h.Stats().Chunks)
	freeAll(h, append(blocks, first, run))
	require.NoError(t, h.Close())
	require.NoError(t, u.Close())
}

func ExampleHeap_NewLocal() {
	u, err := alloc.NewUniverse(alloc.Size(16 << 20))
	if err != nil {
		panic(err)
	}
	h, err := alloc.NewHeap(u)
	if err != nil {
		panic(err)
	}
	blocks := make(chan unsafe.Pointer, 100)
	go func() {
		l := h.NewLocal() // this goroutine's; no atomic operation for small blocks
		for range 100 {
			p, err := l.Alloc(200, 0)
			if err != nil {
				panic(err)
			}
			blocks <- p
		}
		l.Close() // the blocks live on
		close(blocks)
	}()
	n := 0
	for p := range blocks {
		n += h.Usable(p)
		h.Free(p) // from another goroutine
	}
	fmt.Println(n, h.Stats().LiveBlocks)
	if err := errors.Join(h.Close(), u.Close()); err != nil {
		panic(err)
	}
	// Output: 22400 0
}

// TestLocalTrim: what a Local keeps for reuse goes back, blocks stay.
func TestLocalTrim(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	l := h.NewLocal()
	defer l.Close()
	require.Same(t, h, l.Heap())
	kept := must(l.Alloc(100, 0))
	for _, size := range []int{16, 500, 5000} {
		l.Free(must(l.Alloc(size, 0)))
	}
	require.Equal(t, 4, h.Stats().Chunks)
	l.Trim()
	require.Equal(t, 1, h.Stats().Chunks)
	require.True(t, h.Owns(kept))
	l.Free(kept)
	l.Trim()
	require.Zero(t, h.Stats().Chunks)
	l.Close()
	require.PanicsWithValue(t, "alloc: Local.Trim: the Local is closed", l.Trim)
}
