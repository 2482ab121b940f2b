package alloc_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

var errNoMemory = errors.New("the test says no")

// eachAllocator runs a test with a heap and with a Local of one.
func eachAllocator(t *testing.T, f func(t *testing.T, h *alloc.Heap, a allocator, name string)) {
	t.Run("Heap", func(t *testing.T) {
		h := newHeap(t, alloc.Size(8<<20))
		f(t, h, h, "Heap")
	})
	t.Run("Local", func(t *testing.T) {
		h := newHeap(t, alloc.Size(8<<20))
		l := h.NewLocal()
		defer l.Close()
		f(t, h, l, "Local")
	})
}

func TestHeapRefuses(t *testing.T) {
	eachAllocator(t, func(t *testing.T, h *alloc.Heap, a allocator, name string) {
		gone, keep := must(a.Alloc(100, 0)), must(a.Alloc(100, 0))
		run, big := must(a.Alloc(45_000, 0)), must(a.Alloc(3<<20, 0))
		wide := must(a.Alloc(9000, 0))
		odd := must(a.Alloc(48, 0))
		var local [64]byte
		a.Free(nil)
		a.FreeSized(nil, 5, 0)
		a.Free(gone)
		for _, c := range []struct {
			op, text string
			f        func()
		}{
			{"Free", "is free (freed twice?)", func() { a.Free(gone) }},
			{"Usable", "is free (freed twice?)", func() { a.Usable(gone) }},
			{"Realloc", "is free (freed twice?)", func() { _, _ = a.Realloc(gone, 5, 0) }},
			{"Resize", "is free (freed twice?)", func() { a.Resize(gone, 100) }},
			{"FreeSized", "is free (freed twice?)", func() { a.FreeSized(gone, 100, 0) }},
			{"Free", "points 8 bytes into a slot of 112 bytes", func() { a.Free(unsafe.Add(keep, 8)) }},
			{"Free", "points 0 bytes into a slot of 48 bytes", func() { a.Free(unsafe.Add(odd, 341*48)) }},
			{"Free", "points 1 bytes into a block of 3 chunks", func() { a.Free(unsafe.Add(run, 1)) }},
			{"Free", "points 16384 bytes into a block of 3 chunks", func() { a.Free(unsafe.Add(run, 16384)) }},
			{"Usable", "points 40000 bytes into a block of 3 chunks", func() { a.Usable(unsafe.Add(run, 40_000)) }},
			{"Free", "points 2 bytes into a slot of 9344 bytes", func() { a.Free(unsafe.Add(wide, 2)) }},
			{"Free", "slot 3 of chunk", func() { a.Free(unsafe.Add(wide, 3*9344)) }},
			{"Free", "slot 7 of chunk", func() { a.Free(unsafe.Add(wide, 7*9344)) }},
			{"Free", "points 5 bytes into a block of 4194304 bytes", func() { a.Free(unsafe.Add(big, 5)) }},
			{"Free", "in chunk 192, is not a block of this heap", func() { a.Free(unsafe.Add(h.Universe().Base(), 3<<20)) }},
			{"Free", "is not a block of this heap", func() { a.Free(unsafe.Pointer(&local)) }},
			{"Alloc", "size=-1 align=0: want a size >= 0", func() { _, _ = a.Alloc(-1, 0) }},
			{"Alloc", "size=8 align=3: want a size >= 0 and a power", func() { _, _ = a.Alloc(8, 3) }},
			{"Alloc", "size=8 align=-16: want", func() { _, _ = a.Alloc(8, -16) }},
			{"Alloc", fmt.Sprintf("align=%d: want", math.MinInt), func() { _, _ = a.Alloc(8, math.MinInt) }},
			{"AllocZeroed", "size=8 align=2147483648: want", func() { _, _ = a.AllocZeroed(8, 1<<31) }},
			{"Realloc", "size=50 align=5: want a size >= 0 and a", func() { _, _ = a.Realloc(keep, 50, 5) }},
			{"Realloc", "size=-2 align=0: want a size >= 0", func() { _, _ = a.Realloc(keep, -2, 0) }},
			{"Resize", "size=-2 align=0: want a size >= 0", func() { a.Resize(keep, -2) }},
			{"FreeSized", "has 112 usable bytes: it was not allocated with size=113 align=0", func() { a.FreeSized(keep, 113, 0) }},
			{"FreeSized", "has 112 usable bytes: it was not allocated with size=55 align=0", func() { a.FreeSized(keep, 55, 0) }},
			{"FreeSized", "has 112 usable bytes: it was not allocated with size=100 align=4096", func() { a.FreeSized(keep, 100, 4096) }},
			{"FreeSized", "has 49152 usable bytes: it was not allocated with size=24000 align=0", func() { a.FreeSized(run, 24_000, 0) }},
		} {
			text := panicText(c.f)
			require.Contains(t, text, "alloc: "+name+"."+c.op+": ")
			require.Contains(t, text, c.text)
			require.NoError(t, h.Verify())
		}
		a.FreeSized(keep, 100, 0)
		a.FreeSized(run, 45_000, 64)
		a.FreeSized(wide, 9000, 8)
		a.FreeSized(odd, 48, 16)
		a.FreeSized(big, 3<<20, 0)
		require.Contains(t, panicText(func() { a.Free(run) }), "freed twice")
		require.Contains(t, panicText(func() { a.Free(big) }), "freed twice?")
		require.Zero(t, h.Stats().LiveBlocks)
	})
}

func TestHeapRefusesHugeSizes(t *testing.T) {
	eachAllocator(t, refuseHugeSizes)
}

// TestSpansRefuseHugeSizes is the same in a universe that has spans.
func TestSpansRefuseHugeSizes(t *testing.T) {
	eachSpanAllocator(t, refuseHugeSizes)
}

func refuseHugeSizes(t *testing.T, h *alloc.Heap, a allocator, _ string) {
	keep := must(a.Alloc(100, 0))
	for _, size := range []int{1<<46 + 1, 1 << 62, math.MaxInt - 1, math.MaxInt} {
		for _, align := range []int{0, 16, 4096, 1 << 20, 1 << 30} {
			_, err := a.Alloc(size, align)
			require.ErrorIs(t, err, alloc.ErrTooBig)
			_, err = a.AllocZeroed(size, align)
			require.ErrorIs(t, err, alloc.ErrTooBig)
			_, err = a.Realloc(keep, size, align)
			require.ErrorIs(t, err, alloc.ErrTooBig)
		}
		require.False(t, a.Resize(keep, size))
	}
	require.NoError(t, h.Verify())
	a.Free(keep)
}

func TestResizeInPlace(t *testing.T) {
	eachAllocator(t, func(t *testing.T, h *alloc.Heap, a allocator, _ string) {
		slot := must(a.Alloc(100, 0))
		for size, want := range map[int]bool{112: true, 56: true, 113: false, 55: false} {
			require.Equal(t, want, a.Resize(slot, size), "%d", size)
		}
		run := must(a.Alloc(30_000, 0)) // 2 chunks, with nothing behind them
		bytesOf(run, 30_000)[29_999] = 9
		require.True(t, a.Resize(run, 300_000))
		require.Equal(t, 19<<14, a.Usable(run))
		require.NoError(t, h.Verify())
		behind := must(a.Alloc(1<<14, 0))
		require.False(t, a.Resize(run, 320_000), "the chunk behind is taken")
		require.True(t, a.Resize(run, 31_000))
		require.Equal(t, 2<<14, a.Usable(run))
		require.NoError(t, h.Verify())
		require.Equal(t, byte(9), bytesOf(run, 30_000)[29_999])
		require.False(t, a.Resize(run, 8000), "half of a chunk would be wasted")
		require.False(t, a.Resize(run, 2<<20))
		big := must(a.Alloc(9<<20, 0)) // 5 granules of a range of 5 or more
		require.True(t, a.Resize(big, 3<<20))
		require.Equal(t, 4<<20, a.Usable(big)&^(2<<20-1))
		require.NoError(t, h.Verify())
		require.True(t, a.Resize(big, 8<<20))
		bytesOf(big, 8<<20)[8<<20-1] = 1
		require.False(t, a.Resize(big, 1<<20-1), "more than half of a granule would be wasted")
		require.False(t, a.Resize(big, 1<<40))
		require.NoError(t, h.Verify())
		for _, p := range []unsafe.Pointer{slot, run, behind, big} {
			a.Free(p)
		}
	})
}

// program allocates, resizes and frees blocks of every kind through a. It goes on
// after a refusal, and checks after each that nothing was lost and that the budget
// counts what is committed beside base.
func program(t *testing.T, h *alloc.Heap, a allocator, base int64) (refused int) {
	var live []unsafe.Pointer
	verify := func() {
		require.NoError(t, h.Verify())
		require.Equal(t, base+h.Universe().CommittedBytes()+h.CommittedBytes(), committed())
	}
	try := func(p unsafe.Pointer, err error) {
		if err == nil {
			live = append(live, p)
			return
		}
		refused++
		require.ErrorIs(t, err, errNoMemory)
		if !errors.Is(err, alloc.ErrCommit) {
			require.ErrorIs(t, err, alloc.ErrReserve)
		}
		verify()
		require.Equal(t, len(live), h.Stats().LiveBlocks)
	}
	for _, size := range []int{10, 5000, 100_000, 900_000, 1 << 20, 1<<20 + 1, 5 << 20, 100, 1 << 20, 4 << 20} {
		try(a.Alloc(size, 0))
		try(a.AllocZeroed(size, 32))
	}
	for i, p := range live {
		switch i % 3 {
		case 0:
			usable := a.Usable(p)
			if q, err := a.Realloc(p, 2*usable, 0); err == nil {
				live[i] = q
			} else {
				refused++
				require.ErrorIs(t, err, errNoMemory)
				require.Equal(t, usable, a.Usable(p))
			}
		case 1:
			a.Resize(p, a.Usable(p)*3/4)
		}
		verify()
	}
	for _, p := range live {
		a.Free(p)
		verify()
	}
	require.Zero(t, h.Stats().LiveBlocks)
	return refused
}

// TestEveryRefusalLosesNothing makes the k-th call of the layer below fail, for
// every k: the universe's, then the mappings'.
func TestEveryRefusalLosesNothing(t *testing.T) {
	for _, local := range []bool{false, true} {
		for k, more := 1, true; more; k++ {
			region, err := mmap.Reserve(16 << 20)
			require.NoError(t, err)
			pages := &alloc.FailingPages{Region: region, FailAt: k, Err: errNoMemory}
			more = refusal(t, pages, &alloc.Script{}, local)
			require.Equal(t, more, pages.Calls >= k)
		}
		for k, more := 1, true; more; k++ {
			region, err := mmap.Reserve(16 << 20)
			require.NoError(t, err)
			script := &alloc.Script{FailAt: k, Err: errNoMemory}
			more = refusal(t, &alloc.FailingPages{Region: region}, script, local)
		}
	}
}

// refusal runs the program and reports whether a call was made to fail.
func refusal(t *testing.T, pages *alloc.FailingPages, script *alloc.Script, local bool) bool {
	base := committed()
	u, err := alloc.NewUniverse(alloc.WithPages(pages))
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	h.FailMappings(script)
	var a allocator = h
	if local {
		l := h.NewLocal()
		defer func() { require.Contains(t, panicText(func() { _, _ = l.Alloc(1, 0) }), "closed") }()
		a = l
	}
	program(t, h, a, base)
	if err := h.Trim(); err != nil {
		require.ErrorIs(t, err, errNoMemory)
		require.NoError(t, h.Verify())
	}
	if err := h.Close(); err != nil {
		require.ErrorIs(t, err, errNoMemory)
		require.NoError(t, h.Close(), "a second try")
	}
	require.Zero(t, u.Stats().LiveChunks)
	if err := u.Close(); err != nil {
		require.ErrorIs(t, err, errNoMemory)
		require.Equal(t, base+u.CommittedBytes(), committed())
		require.NoError(t, u.Close())
	}
	require.Equal(t, base, committed())
	return pages.FailAt > 0 && pages.Calls >= pages.FailAt || script.FailAt > 0 && script.Calls >= script.FailAt
}

// TestMappingsAreKeptForReuse counts the calls of the layer below.
func TestMappingsAreKeptForReuse(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	script := &alloc.Script{}
	h.FailMappings(script)
	h.Free(must(h.Alloc(1_500_000, 0)))
	calls := script.Calls
	for range 100 {
		p := must(h.AllocZeroed(1_600_000, 0))
		for i, v := range bytesOf(p, 1_600_000) {
			if v != 0 {
				t.Fatalf("byte %d of a block that was used before: got %d want 0", i, v)
			}
		}
		bytesOf(p, 1_600_000)[1_234_567] = 1
		h.Free(p)
	}
	require.Equal(t, calls, script.Calls)
	require.Equal(t, 2<<20, h.Stats().Kept)
	var live []unsafe.Pointer
	for range 10 {
		live = append(live, must(h.Alloc(1_500_000, 0)))
	}
	freeAll(h, live)
	require.Equal(t, 8<<20, h.Stats().Kept, "no more than 8 MiB is kept")
	require.NoError(t, h.Trim())
	h.Free(must(h.Alloc(8<<20, 0)))
	small := must(h.Alloc(1_500_000, 0))
	require.Equal(t, 2<<20, h.Stats().Mapped, "a kept mapping of four times the size is not for this")
	h.Free(small)
	h.Free(must(h.Alloc(100<<20, 0)))
	require.LessOrEqual(t, h.Stats().Kept, 8<<20)
	require.NoError(t, h.Trim())
	require.Zero(t, h.Stats().Kept)
}

// TestSmallPagesAreAskedFor: a mapping has the same pages as the universe.
func TestSmallPagesAreAskedFor(t *testing.T) {
	for _, small := range []bool{false, true} {
		options := []alloc.Option{alloc.Size(4 << 20)}
		if small {
			options = append(options, alloc.SmallPages())
		}
		u := newUniverse(t, options...)
		h, err := alloc.NewHeap(u)
		require.NoError(t, err)
		script := &alloc.Script{}
		h.FailMappings(script)
		h.Free(must(h.Alloc(1_200_000, 0)))
		var want []mmap.Hint
		if small {
			want = []mmap.Hint{mmap.SmallPages}
		}
		require.Equal(t, want, script.Hints)
		require.NoError(t, h.Close())
	}
}
