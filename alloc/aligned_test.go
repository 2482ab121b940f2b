package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestAllocAligned takes runs of every power of two among single chunks: each is
// a multiple of its length, and the universe fills to the last chunk.
func TestAllocAligned(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	type run struct {
		first alloc.ChunkIndex
		n     int
	}
	var runs []run
	held := 0
	for n := 64; n >= 1; n /= 2 {
		for range 2 {
			if held+n > u.Size()/alloc.ChunkSize {
				break
			}
			c, err := u.AllocAligned(n)
			require.NoError(t, err)
			require.Zero(t, int(c)%n, "%d chunks at %d", n, c)
			runs = append(runs, run{c, n})
			held += n
			require.NoError(t, u.Verify())
		}
	}
	for c, err := u.AllocAligned(1); err == nil; c, err = u.AllocAligned(1) {
		runs = append(runs, run{c, 1})
		held++
	}
	require.Equal(t, u.Size()/alloc.ChunkSize, held)
	for _, n := range []int{1, 2, 64} {
		_, err = u.AllocAligned(n)
		require.ErrorIs(t, err, alloc.ErrFull)
		require.ErrorContains(t, err, fmt.Sprintf("alloc: Universe.AllocAligned: no room for %d chunks", n))
	}
	for _, r := range runs {
		u.Free(r.first, r.n)
	}
	require.Zero(t, u.Stats().LiveChunks)
	for _, n := range []int{-2, 0, 3, 63, 65, 128} {
		require.PanicsWithValue(t, fmt.Sprintf("alloc: Universe.AllocAligned: n=%d is not a power of two in 1..64", n),
			func() { _, _ = u.AllocAligned(n) })
	}
	require.NoError(t, u.Close())
}

// TestAllocAlignedAmongHoles leaves pairs free at odd offsets: no aligned pair is
// there, though runs of two are.
func TestAllocAlignedAmongHoles(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	for range 2 {
		_, err = u.AllocExact(64)
		require.NoError(t, err)
	}
	for c := alloc.ChunkIndex(1); c+2 < 64; c += 4 {
		u.Free(c, 2)
	}
	_, err = u.AllocAligned(2)
	require.ErrorIs(t, err, alloc.ErrFull)
	c, err := u.AllocExact(2)
	require.NoError(t, err)
	u.Free(c, 2)
	u.Free(c+2, 1)
	c, err = u.AllocAligned(2)
	require.NoError(t, err)
	require.Zero(t, c%2)
	require.NoError(t, u.Verify())
}

// TestAlignedBlocksWasteLittle allocates every size up to 16 KiB: the blocks take an eighth more
// than was requested, aligned to a cache line or not.
func TestAlignedBlocksWasteLittle(t *testing.T) {
	h, err := alloc.NewHeap(newUniverse(t, alloc.Size(16<<20)))
	require.NoError(t, err)
	for _, align := range []int{16, 64} {
		used, asked := 0, 0
		for size := 1; size <= 16<<10; size++ {
			p, err := h.Alloc(size, align)
			require.NoError(t, err)
			require.Zero(t, uintptr(p)%uintptr(align), "size=%d align=%d", size, align)
			used, asked = used+h.Usable(p), asked+size
			h.FreeSized(p, size, align)
		}
		ratio := float64(used) / float64(asked)
		t.Logf("alignment %d: bytes used to bytes asked %.3f", align, ratio)
		require.Less(t, ratio, 1.13, "align=%d", align)
	}
	require.NoError(t, h.Verify())
	require.NoError(t, h.Close())
}

// TestAlignmentChoosesTheClass checks where blocks above a slot go: to a wide slot whose size is a
// multiple of the alignment, else to a run.
func TestAlignmentChoosesTheClass(t *testing.T) {
	h, err := alloc.NewHeap(newUniverse(t, alloc.Size(16<<20)))
	require.NoError(t, err)
	for _, c := range []struct{ size, align, usable int }{
		{1025, 64, 1152}, {1025, 128, 1152}, {1025, 256, 1792}, {1025, 4096, 4096},
		{8193, 0, 9344}, {8193, 64, 9344}, {8193, 128, 9344}, {8193, 256, 12288}, {8193, 4096, 12288},
		{12288, 64, 12288}, {12289, 64, 16384}, {16385, 4096, 20480}, {16385, 8192, 24576}, {16385, 16384, 32768},
		{32769, 8192, 40960}, {32769, 16384, 49152},
	} {
		p, err := h.Alloc(c.size, c.align)
		require.NoError(t, err)
		require.Equal(t, c.usable, h.Usable(p), "size=%d align=%d", c.size, c.align)
		require.Zero(t, uintptr(p)%uintptr(max(c.align, 1)))
		h.FreeSized(p, c.size, c.align)
	}
	require.NoError(t, h.Close())
}
