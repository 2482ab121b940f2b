package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestLocalUsesSingleFreeSlots frees fewer slots of each slab than list it for
// allocation, by the Local and by the heap: when there is no more memory, and only
// then, these slots are used.
func TestLocalUsesSingleFreeSlots(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	l := h.NewLocal()
	blocks := fillClass(l, 100*256, 64) // 100 slabs of 128
	for i := range 50 {
		l.Free(blocks[i*256])
		h.Free(blocks[i*256+100])
		h.Free(blocks[i*256+101])
		require.NoError(t, h.Verify())
	}
	chunks := h.Stats().Chunks
	more := fillClass(l, 28*256, 64)
	require.NoError(t, h.Verify())
	require.Equal(t, chunks+28, h.Stats().Chunks, "slabs with a few free slots are left alone while there are others")
	for range 150 {
		more = append(more, must(l.Alloc(64, 0)))
	}
	require.NoError(t, h.Verify())
	_, err = l.Alloc(64, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.NoError(t, h.Verify())
	require.Equal(t, 128*256, h.Stats().LiveBlocks)
	freeAll(l, more)
	for i, p := range blocks {
		if i%256 != 0 && i%256 != 100 && i%256 != 101 || i >= 50*256 {
			l.Free(p)
		}
	}
	l.Close()
	require.NoError(t, h.Verify())
	require.NoError(t, h.Close())
}
