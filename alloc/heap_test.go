package alloc_test

import (
	"fmt"
	"math/rand/v2"
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

// TestHeapAgainstModel runs a stream of allocations, reallocations and frees of
// all sizes and alignments; every byte of every block is filled and checked.
func TestHeapAgainstModel(t *testing.T) {
	h := newHeap(t, alloc.Size(48<<20))
	rng := rand.New(rand.NewPCG(5, 9))
	type block struct {
		p    unsafe.Pointer
		size int
		mark byte
	}
	var live []block
	fill := func(b block) {
		for i := range bytesOf(b.p, b.size) {
			bytesOf(b.p, b.size)[i] = b.mark + byte(i)
		}
	}
	check := func(b block, n int) {
		for i, v := range bytesOf(b.p, n) {
			if v != b.mark+byte(i) {
				t.Fatalf("block of %d bytes: byte %d: got %d want %d", b.size, i, v, b.mark+byte(i))
			}
		}
	}
	size := func() int {
		switch rng.IntN(20) {
		case 0:
			return rng.IntN(200_000)
		case 1, 2:
			return rng.IntN(9000)
		case 3:
			return 0
		default:
			return rng.IntN(300)
		}
	}
	total := 0
	steps := 20_000
	if testing.Short() {
		steps = 3000
	}
	for step := range steps {
		switch op := rng.IntN(10); {
		case op < 5 && total < 24<<20 || len(live) == 0:
			n, align := size(), 1<<rng.IntN(15)
			p, err := h.Alloc(n, align)
			require.NoError(t, err)
			require.Zero(t, uintptr(p)%uintptr(align))
			require.GreaterOrEqual(t, h.Usable(p), n)
			b := block{p, n, byte(step)}
			fill(b)
			live = append(live, b)
			total += n
		case op < 7:
			i := rng.IntN(len(live))
			n := size()
			check(live[i], live[i].size)
			p, err := h.Realloc(live[i].p, n, 0)
			require.NoError(t, err)
			b := block{p, n, live[i].mark}
			check(b, min(n, live[i].size))
			total += n - live[i].size
			fill(b)
			live[i] = b
		default:
			i := rng.IntN(len(live))
			check(live[i], live[i].size)
			h.Free(live[i].p)
			total -= live[i].size
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		}
		require.Equal(t, len(live), h.Stats().LiveBlocks)
		if step%256 == 0 {
			require.NoError(t, h.Verify(), "step %d", step)
		}
	}
	for _, b := range live {
		check(b, b.size)
		h.Free(b.p)
	}
	require.Zero(t, h.Stats().LiveBytes)
}

func TestHeapMappings(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	for _, c := range []struct{ size, align int }{{1<<20 + 1, 0}, {3 << 20, 64}, {100, 1 << 16}, {5000, 1 << 21}, {1 << 20, 1 << 15}} {
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
}

func TestHeapRefuses(t *testing.T) {
	h := newHeap(t, alloc.Size(4<<20))
	p, err := h.Alloc(100, 0)
	require.NoError(t, err)
	keep, err := h.Alloc(100, 0)
	require.NoError(t, err)
	run, err := h.Alloc(40_000, 0)
	require.NoError(t, err)
	var local [64]byte
	h.Free(nil)
	h.Free(p)
	for text, f := range map[string]func(){
		"is free (freed twice?)":                       func() { h.Free(p) },
		"points 8 bytes into a slot of 112 bytes":      func() { h.Free(unsafe.Add(keep, 8)) },
		"points 16384 bytes into a block of 3 chunks":  func() { h.Free(unsafe.Add(run, 16384)) },
		"is not a block of this heap (freed twice?)":   func() { h.Free(unsafe.Add(h.Universe().Base(), 3<<20)) },
		"is not a block of this heap":                  func() { h.Free(unsafe.Pointer(&local)) },
		"size=-1 align=0: want a size >= 0":            func() { _, _ = h.Alloc(-1, 0) },
		"size=8 align=3: want a size >= 0 and a power": func() { _, _ = h.Alloc(8, 3) },
		"size=50 align=5: want a size >= 0 and a":      func() { _, _ = h.Realloc(keep, 50, 5) },
		"size=-2 align=0: want a size >= 0":            func() { _, _ = h.Realloc(keep, -2, 0) },
	} {
		require.Contains(t, panicText(f), text)
		require.NoError(t, h.Verify())
	}
	_, err = h.Alloc(1<<62, 0)
	require.ErrorIs(t, err, alloc.ErrTooBig)
	h.Free(keep)
	h.Free(run)
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
	p, err := h.Alloc(100, 0)
	require.NoError(t, err)
	for _, name := range []string{"H1", "H2", "H3", "H4"} {
		restore := h.Corrupt(name)
		require.ErrorContains(t, h.Verify(), "alloc: "+name+":")
		restore()
		require.NoError(t, h.Verify())
	}
	h.Free(p)
}
