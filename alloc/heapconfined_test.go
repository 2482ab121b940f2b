package alloc_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// newConfined returns a confined heap on a universe of so many bytes.
func newConfined(t *testing.T, bytes int) *alloc.Heap {
	u := newUniverse(t, alloc.Size(bytes))
	h, err := alloc.NewHeap(u, alloc.Confined())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// TestConfinedSpans: a confined heap has spans in universes of which others have no share for
// them, up to all chunks, and grows them where they are.
func TestConfinedSpans(t *testing.T) {
	h := newConfined(t, 16<<20)
	u := h.Universe()
	for _, a := range []allocator{h, h.NewLocal()} {
		p := must(a.Alloc(5<<20, 0))
		require.Equal(t, u.Base(), p)
		require.Equal(t, 5<<20, a.Usable(p))
		require.True(t, a.Resize(p, 9<<20), "in place")
		p = must(a.Realloc(p, 16<<20, 0))
		require.Equal(t, u.Base(), p)
		bytesOf(p, 16<<20)[16<<20-1] = 1
		require.False(t, a.Resize(p, 16<<20+1))
		require.Equal(t, 16<<20, u.Stats().Live)
		require.Zero(t, h.Stats().Mapped)
		require.NoError(t, h.Verify())
		a.Free(p)
		require.Zero(t, u.SpanChunks())
		p = must(a.Alloc(3<<20, 2<<20))
		require.Zero(t, uintptr(p)%(2<<20))
		require.Zero(t, h.Stats().Mapped)
		a.Free(p)
	}
	require.NoError(t, u.Verify())
}

// TestConfinedRefuses: what does not fit the universe is refused and changes nothing, for each size
// above a run, by text.
func TestConfinedRefuses(t *testing.T) {
	h := newConfined(t, 8<<20)
	for name, a := range map[string]allocator{"Heap": h, "Local": h.NewLocal()} {
		p, behind := must(a.Alloc(3<<20, 0)), must(a.Alloc(2<<20, 0))
		for _, size := range []int{3<<20 + 1, 8 << 20, 9 << 20, 1<<63 - 1} {
			before := h.Stats()
			_, err := a.Alloc(size, 0)
			require.ErrorIs(t, err, alloc.ErrFull)
			require.Contains(t, err.Error(), "alloc: "+name+".Alloc: block of ")
			require.Contains(t, err.Error(), "bytes: no free chunks in a row for it in the universe: full")
			_, err = a.Realloc(p, size, 0)
			require.ErrorIs(t, err, alloc.ErrFull)
			require.False(t, a.Resize(p, size))
			require.Equal(t, before, h.Stats())
			require.NoError(t, h.Verify())
		}
		_, err := a.Alloc(100, 1<<30)
		require.ErrorIs(t, err, alloc.ErrFull)
		a.Free(must(a.Alloc(3<<20, 0)))
		a.Free(behind)
		a.Free(must(a.Alloc(5<<20, 0)))
		a.Free(p)
	}
}

// TestConfinedSeesFreedChunks: after a refusal, chunks that others free one by one are found, also
// where no granule of 2 MiB becomes empty; and so are those that a Local keeps.
func TestConfinedSeesFreedChunks(t *testing.T) {
	h := newConfined(t, 4<<20)
	u, l := h.Universe(), h.NewLocal()
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	require.Len(t, hog, 256)
	for c := range alloc.ChunkIndex(66) {
		_, err := l.Alloc(1<<20+1, 0)
		require.ErrorIs(t, err, alloc.ErrFull, "%d chunks are free", c)
		u.Free(c+63, 1)
		if c == 64 {
			break
		}
	}
	p := must(l.Alloc(1<<20+1, 0))
	require.Equal(t, unsafe.Add(u.Base(), 63<<14), p)
	l.Free(p)
	small := must(l.Alloc(5<<14, 0)) // among the 65
	l.Free(small)                    // and kept
	l.Free(must(l.Alloc(1<<20+1, 0)))
	for _, c := range hog {
		if c < 63 || c > 127 {
			u.Free(c, 1)
		}
	}
	require.NoError(t, h.Verify())
}
