package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestSharedSlabsUseSingleFreeSlots frees fewer slots of each slab than list it for allocation:
// when there is no more memory, and only then, these slots are used. A slab with as many free slots
// as a batch is used at once.
func TestSharedSlabsUseSingleFreeSlots(t *testing.T) {
	u := newUniverse(t, alloc.Size(2<<20))
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	blocks := fillClass(h, 100*256, 64) // 100 slabs
	more := fillClass(h, 1, 64)         // the last of them is found to be full
	for i := range 50 {
		for j := range 3 {
			h.Free(blocks[i*256+j*50])
		}
		require.NoError(t, h.Verify())
	}
	for j := range 64 {
		h.Free(blocks[60*256+j])
	}
	require.NoError(t, h.Verify())
	chunks := h.Stats().Chunks
	more = append(more, fillClass(h, 255+64, 64)...)
	require.NoError(t, h.Verify())
	require.Equal(t, chunks, h.Stats().Chunks, "64 free slots are a batch")
	more = append(more, fillClass(h, 27*256, 64)...)
	require.Equal(t, chunks+27, h.Stats().Chunks, "slabs with a few free slots are left alone while there are others")
	more = append(more, fillClass(h, 150, 64)...)
	require.NoError(t, h.Verify())
	_, err = h.Alloc(64, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Equal(t, 128*256, h.Stats().LiveBlocks)
	freeAll(h, more)
	for i, p := range blocks {
		if !(i < 50*256 && i%256%50 == 0 && i%256 < 150) && !(i >= 60*256 && i < 60*256+64) {
			h.Free(p)
		}
	}
	require.Zero(t, h.Stats().LiveBlocks)
	require.NoError(t, h.Verify())
	require.NoError(t, h.Close())
}
