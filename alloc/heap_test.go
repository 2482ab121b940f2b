package alloc_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

func newHeap(t testing.TB, options ...alloc.Option) *alloc.Heap {
	t.Helper()
	h, err := alloc.NewHeap(newUniverse(t, options...))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, h.Verify())
		require.NoError(t, h.Close())
	})
	return h
}

func bytesOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

func TestSlotOfEveryOffset(t *testing.T) {
	for class, size := range alloc.ClassSizes {
		for offset := range uint32(alloc.ChunkSize) {
			if got, want := alloc.SlotAt(class, offset), offset/size; got != want {
				t.Fatalf("class %d of %d bytes, offset %d: got slot %d want %d", class, size, offset, got, want)
			}
		}
	}
}

func TestClassOfEverySize(t *testing.T) {
	for size := range 8193 {
		class, ok := alloc.ClassFor(size, 0)
		require.True(t, ok)
		require.GreaterOrEqual(t, int(alloc.ClassSizes[class]), size)
		if class > 0 {
			require.Less(t, int(alloc.ClassSizes[class-1]), max(size, 1), "size %d: a smaller class would do", size)
		}
		for align := 32; align <= 8192; align *= 2 {
			if class, ok := alloc.ClassFor(size, align); ok {
				require.Zero(t, int(alloc.ClassSizes[class])%align)
			}
		}
	}
}

func TestHeapMappings(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	for _, c := range []struct{ size, align int }{
		{1<<20 + 1, 0}, {3 << 20, 64}, {100, 1 << 16}, {5000, 1 << 21}, {1 << 20, 1 << 15},
	} {
		p, err := h.Alloc(c.size, c.align)
		require.NoError(t, err)
		require.Zero(t, uintptr(p)%uintptr(max(c.align, 1)))
		b := bytesOf(p, c.size)
		b[0], b[c.size-1] = 1, 2
		q, err := h.Realloc(p, 2*c.size, c.align)
		require.NoError(t, err)
		require.Equal(t, byte(1), bytesOf(q, 1)[0])
		require.Equal(t, byte(2), bytesOf(q, c.size)[c.size-1])
		require.NoError(t, h.Verify())
		h.Free(q)
	}
	require.Zero(t, h.Stats().Mapped)
	require.NotZero(t, h.Stats().Kept)
	require.NoError(t, h.Trim())
	require.Zero(t, h.Stats().Kept)
}

func panicText(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return
}

func TestHeapFullIsAnError(t *testing.T) {
	h := newHeap(t, alloc.Size(2<<20))
	var live []unsafe.Pointer
	for {
		p, err := h.Alloc(30_000, 0)
		if err != nil {
			require.ErrorIs(t, err, alloc.ErrFull)
			break
		}
		live = append(live, p)
	}
	require.Len(t, live, 64)
	require.NoError(t, h.Verify())
	q, err := h.Realloc(live[0], 60_000, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Nil(t, q)
	bytesOf(live[0], 30_000)[29_999] = 1 // the old block is as it was
	for _, p := range live {
		h.Free(p)
	}
}

func TestHeapCloseCountsLeaks(t *testing.T) {
	u := newUniverse(t, alloc.Size(4<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	_, err = h.Alloc(10, 0)
	require.NoError(t, err)
	_, err = h.Alloc(2<<20, 0)
	require.NoError(t, err)
	err = h.Close()
	require.ErrorIs(t, err, alloc.ErrLeak)
	require.ErrorContains(t, err, "2 blocks of 2097168 bytes")
	require.NoError(t, h.Close())
	require.Contains(t, panicText(func() { _, _ = h.Alloc(1, 0) }), "the heap is closed")
	require.Zero(t, u.Stats().LiveChunks)
}

func TestHeapVerifyNamesTheInvariant(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	l := h.NewLocal()
	blocks := []unsafe.Pointer{
		must(h.Alloc(100, 0)), must(h.Alloc(5000, 0)), must(h.Alloc(45_000, 0)), must(h.Alloc(2<<20, 0)),
		must(h.Alloc(9000, 0)), must(l.Alloc(100, 0)),
	}
	require.NoError(t, h.Verify())
	l.Free(must(l.Alloc(100, 0))) // bit 1 is clear in own from here on
	l.Free(blocks[5])             // and bit 0
	l.Free(must(l.Alloc(30_000, 0)))
	for _, name := range []string{"H1", "H1, run", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H8, word", "H9",
		"H9, head", "H9, list", "H11"} {
		restore := h.Corrupt(l, name)
		invariant, _, _ := strings.Cut(name, ",")
		require.ErrorContains(t, h.Verify(), "alloc: "+invariant+":")
		restore()
		require.NoError(t, h.Verify())
	}
	for _, p := range blocks[:5] {
		h.Free(p)
	}
	l.Close()
}

// must is for allocations that cannot fail in a test.
func must(p unsafe.Pointer, err error) unsafe.Pointer {
	if err != nil {
		panic(err)
	}
	return p
}

// TestSlotSize: blocks of each size have as many bytes as SlotSize returns, if that is not 0.
func TestSlotSize(t *testing.T) {
	h := newHeap(t, alloc.Size(16<<20))
	l := h.NewLocal()
	for size := range 8193 {
		for _, b := range []interface {
			Alloc(size, align int) (unsafe.Pointer, error)
			Usable(p unsafe.Pointer) int
			Free(p unsafe.Pointer)
		}{h, l} {
			p := must(b.Alloc(size, 0))
			require.Equal(t, b.Usable(p), alloc.SlotSize(size), size)
			b.Free(p)
		}
	}
	for _, size := range []int{8193, alloc.ChunkSize, alloc.MegachunkSize, alloc.MaxSize} {
		require.Zero(t, alloc.SlotSize(size))
	}
	require.PanicsWithValue(t, "alloc: SlotSize: size=-1 is negative", func() { alloc.SlotSize(-1) })
	l.Close()
}

// TestWideClasses: a wide slot is less than a run would be, and what lies in one
// does not overlap.
func TestWideClasses(t *testing.T) {
	h := newHeap(t, alloc.Size(16<<20))
	for size := 8193; size <= 42_000; size += 13 {
		p := must(h.Alloc(size, 0))
		usable, run := h.Usable(p), (size+alloc.ChunkSize-1)/alloc.ChunkSize*alloc.ChunkSize
		require.GreaterOrEqual(t, usable, size)
		require.LessOrEqual(t, usable, run)
		h.Free(p)
	}
	for _, size := range []int{9000, 10_000, 12_000, 17_000, 20_000, 21_000, 24_000, 40_000} {
		blocks := fillClass(h, 30, size)
		for i, p := range blocks {
			clear(bytesOf(p, size))
			bytesOf(p, size)[0], bytesOf(p, size)[size-1] = byte(i), byte(i)
		}
		require.NoError(t, h.Verify())
		for i, p := range blocks {
			require.Equal(t, [2]byte{byte(i), byte(i)}, [2]byte{bytesOf(p, size)[0], bytesOf(p, size)[size-1]})
		}
		for i := range blocks {
			h.Free(blocks[i*7%30])
		}
		require.Zero(t, h.Stats().LiveBlocks)
	}
	require.NoError(t, h.Trim())
	require.Equal(t, alloc.HeapStats{}, h.Stats())
}
