package arrowalloc_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/alloc/wrap"
	"quarry/arrowalloc"
)

// sizes are around those at which a heap changes its way.
var sizes = []int{0, 1, 63, 64, 65, 127, 128, 1000, 4096, 8192, 8193, 16 << 10, 100_000, 1 << 20, 1<<20 + 1, 5 << 20}

// TestAllocate: blocks on used memory are zero and aligned, and their capacity is their size.
func TestAllocate(t *testing.T) {
	mem := arrowalloc.New(newHeap(t))
	for range 3 {
		live, sum := [][]byte{}, 0
		for _, size := range sizes {
			b := mem.Allocate(size)
			require.NotNil(t, b)
			require.Equal(t, []int{size, size}, []int{len(b), cap(b)})
			require.Equal(t, make([]byte, size), b)
			if size > 0 {
				require.Zero(t, addressOf(b)%arrowalloc.Align)
			}
			fill(b, 0xEE)
			sum += size
			require.Equal(t, sum, mem.CurrentAlloc())
			live = append(live, b)
		}
		for _, b := range live {
			mem.Free(b)
		}
		mem.AssertSize(t, 0)
	}
}

// TestReallocate: from each size to each other, with a slice of full length and a shortened one.
func TestReallocate(t *testing.T) {
	mem := arrowalloc.New(newHeap(t))
	for _, from := range sizes {
		for _, to := range sizes {
			if testing.Short() && max(from, to) > 200_000 {
				continue
			}
			for _, known := range []int{from, from / 2, 0} {
				b := mem.Allocate(from)
				fill(b, 0xEE)
				b = mem.Reallocate(to, b[:known])
				require.NotNil(t, b)
				require.Equal(t, []int{to, to}, []int{len(b), cap(b)})
				same := min(known, to)
				require.Equal(t, bytes.Repeat([]byte{0xEE}, same), b[:same])
				require.Equal(t, make([]byte, to-same), append([]byte{}, b[same:]...), "%d of %d to %d",
					known, from, to)
				require.Equal(t, to, mem.CurrentAlloc())
				mem.Free(b[:to/3])
				mem.AssertSize(t, 0)
			}
		}
	}
}

// TestNothing: what arrow's buffers do with slices of no size, here as with GoAllocator.
func TestNothing(t *testing.T) {
	mine := arrowalloc.New(newHeap(t))
	for _, mem := range []memory.Allocator{mine, memory.NewGoAllocator()} {
		mem.Free(nil)
		mem.Free([]byte{})
		b := mem.Allocate(0)
		require.True(t, b != nil && len(b) == 0)
		b = mem.Reallocate(10, b)
		require.Equal(t, make([]byte, 10), b)
		b = mem.Reallocate(0, b)
		require.True(t, b != nil && len(b) == 0)
		mem.Free(b)
		b = mem.Reallocate(5, nil)
		require.Equal(t, make([]byte, 5), b)
		mem.Free(b[:0])
		require.Panics(t, func() { mem.Allocate(-100) })
	}
	mine.AssertSize(t, 0)
	require.PanicsWithValue(t, "arrowalloc: Allocate: size=-1 is negative", func() { mine.Allocate(-1) })
	b := mine.Allocate(1)
	require.PanicsWithValue(t, "arrowalloc: Reallocate: size=-1 is negative", func() { mine.Reallocate(-1, b) })
	mine.Free(b)
}

// stubborn never shrinks a block.
type stubborn struct{ *alloc.Heap }

func (s stubborn) ReallocZeroed(p unsafe.Pointer, size, align, to int) (unsafe.Pointer, error) {
	if to < size {
		return nil, alloc.ErrFull
	}
	return s.Heap.ReallocZeroed(p, size, align, to)
}

// TestShrinkRefused: a block that cannot shrink stays, with its size, behind a shorter slice.
func TestShrinkRefused(t *testing.T) {
	mem := arrowalloc.New(stubborn{newHeap(t)})
	b := mem.Allocate(1000)
	fill(b, 0xEE)
	b = mem.Reallocate(100, b)
	require.Equal(t, []int{100, 1000, 1000}, []int{len(b), cap(b), mem.CurrentAlloc()})
	b = mem.Reallocate(1000, b)
	require.Equal(t, append(bytes.Repeat([]byte{0xEE}, 100), make([]byte, 900)...), b)
	b = mem.Reallocate(100, b)
	b = mem.Reallocate(2000, b)
	require.Equal(t, append(bytes.Repeat([]byte{0xEE}, 100), make([]byte, 1900)...), b)
	mem.Free(b)
	mem.AssertSize(t, 0)
}

// TestRefused: a refusal is an error in a panic, and what was live is live and as it was.
func TestRefused(t *testing.T) {
	mem := arrowalloc.New(wrap.NewLimit(newHeap(t), 1000))
	b := mem.Allocate(600)
	fill(b, 0xEE)
	err := refusal(t, func() { mem.Allocate(401) })
	require.EqualError(t, err,
		"arrowalloc: Allocate: 401 bytes: wrap: Limit: 401 bytes more would be 1001 of 1000: full")
	require.ErrorIs(t, err, alloc.ErrFull)
	err = refusal(t, func() { mem.Reallocate(1001, b) })
	require.EqualError(t, err,
		"arrowalloc: Reallocate: 1001 bytes instead of 600: wrap: Limit: 401 bytes more would be 1001 of 1000: full")
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Equal(t, bytes.Repeat([]byte{0xEE}, 600), b)
	mem.AssertSize(t, 600)
	require.ErrorIs(t, refusal(t, func() { mem.Allocate(1 << 60) }), alloc.ErrFull)
	mem.Free(mem.Reallocate(1000, b))
	mem.AssertSize(t, 0)
	require.ErrorIs(t, refusal(t, func() { arrowalloc.New(newHeap(t)).Allocate(1 << 60) }), alloc.ErrTooBig)
}

// TestMisuse: what the heap, and a Track around it, tell about slices that are no live blocks.
func TestMisuse(t *testing.T) {
	heap := newHeap(t)
	track := wrap.NewTrack(heap, "heap")
	t.Cleanup(func() { require.NoError(t, track.Close()) })
	for name, from := range map[string]alloc.Allocator{"heap": heap, "track": track} {
		t.Run(name, func(t *testing.T) {
			mem := arrowalloc.New(from)
			keep := mem.Allocate(640)
			b := mem.Allocate(640)
			mem.Free(b)
			for what, f := range map[string]func(){
				"freed twice":      func() { mem.Free(b) },
				"resized freed":    func() { mem.Reallocate(100, b) },
				"of Go":            func() { mem.Free(make([]byte, 640)) },
				"begins elsewhere": func() { mem.Free(keep[64:]) },
			} {
				require.Panics(t, f, what)
				mem.AssertSize(t, 640)
			}
			mem.Free(keep)
			mem.AssertSize(t, 0)
		})
	}
}

// told records what a test is told.
type told struct{ text string }

func (m *told) Errorf(format string, args ...any) { m.text += fmt.Sprintf(format, args...) }
func (m *told) Helper()                           {}

// TestAssertSize: the words of arrow's CheckedAllocator, and its numbers.
func TestAssertSize(t *testing.T) {
	mem := arrowalloc.New(newHeap(t))
	checked := memory.NewCheckedAllocator(mem)
	b := checked.Allocate(100)
	var mine, theirs told
	mem.AssertSize(&mine, 0)
	require.Equal(t, "invalid memory size exp=0, got=100", mine.text)
	checked.AssertSize(&theirs, 0)
	require.Contains(t, theirs.text, mine.text)
	require.Equal(t, checked.CurrentAlloc(), mem.CurrentAlloc())
	require.EqualValues(t, 100, mem.AllocatedBytes())
	mine.text = ""
	mem.AssertSize(&mine, 100)
	require.Empty(t, mine.text)
	checked.Free(b)
	checked.AssertSize(t, 0)
	mem.AssertSize(t, 0)
}

// TestStack: New refuses what frees in order, through wrappers.
func TestStack(t *testing.T) {
	h := newHeap(t)
	s, err := alloc.NewStack(h, 1000)
	require.NoError(t, err)
	defer s.Close()
	require.PanicsWithValue(t, "arrowalloc: New: a *alloc.Stack frees in order, arrow does not",
		func() { arrowalloc.New(s) })
	require.PanicsWithValue(t, "arrowalloc: New: a *wrap.Stats frees in order, arrow does not",
		func() { arrowalloc.New(wrap.NewStats(s)) })
}

// TestGoroutines: blocks are made by one goroutine and freed by another, with counts that agree.
func TestGoroutines(t *testing.T) {
	mem := arrowalloc.New(newHeap(t))
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	blocks := make(chan []byte, 100)
	var makers, enders sync.WaitGroup
	for i := range 4 {
		makers.Go(func() {
			for k := range n {
				b := mem.Allocate(1 + (k*37+i)%5000)
				fill(b, byte(len(b)))
				blocks <- b
			}
		})
		enders.Go(func() {
			for b := range blocks {
				size := len(b)
				if size%3 == 0 {
					b = mem.Reallocate(2*size, b)
				}
				if b[0] != byte(size) || b[size-1] != byte(size) {
					t.Errorf("%d bytes were written by another", size)
				}
				mem.Free(b)
			}
		})
	}
	makers.Wait()
	close(blocks)
	enders.Wait()
	mem.AssertSize(t, 0)
}
