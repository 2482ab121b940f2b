package value

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/internal/universe"
)

// TestAdmit: a header of a file is admitted if it leads to the blocks that came with the file, and
// is an empty buffer's otherwise.
func TestAdmit(t *testing.T) {
	u, err := universe.New(universe.Size(8 << 20))
	require.NoError(t, err)
	first, err := u.AllocGranules(1)
	require.NoError(t, err)
	const moved, chunks = 3, 4 // the file's first chunk is chunk 3 of the universe, its blocks lie in 4 from chunk 5 on
	for c := range universe.ChunkIndex(2 * universe.ChunksPerMegachunk) {
		if c < 5 || c >= 5+chunks {
			u.Free(first+c, 1)
		}
	}
	var b Buffers
	b.Open(u, nil)
	b.AdoptBlocks(first+5, chunks, 2)
	k := &Shape{Element: 24, Inline: 2}
	at := func(chunk, unit int) uint32 { return uint32(chunk*universe.ChunkSize/refUnit+unit) + 1 } // of the file
	for _, x := range []struct {
		h  Header
		ok bool
	}{
		{Header{}, true},
		{Header{length: 2, born: 9}, true},
		{Header{length: 3}, false},
		{Header{ref: at(2, 0), length: 5, capacity: 5}, true},
		{Header{ref: at(2, 0), length: 0, capacity: 3, born: 1 << 31}, true},
		{Header{ref: at(2, 0), length: 2, capacity: 2}, false},
		{Header{ref: at(2, 0), length: 6, capacity: 5}, false},
		{Header{ref: at(1, 1023), length: 5, capacity: 5}, false},
		{Header{ref: at(6, 0), length: 5, capacity: 5}, false},
		{Header{ref: at(5, 1024-8), length: 5, capacity: 5}, true},
		{Header{ref: at(5, 1024-7), length: 5, capacity: 5}, false},
		{Header{ref: at(2, 0), length: 5, capacity: 1 << 31}, false},
		{Header{ref: 1<<32 - 1, length: 5, capacity: 5}, false},
		{Header{ref: 1, length: 5, capacity: 5}, false},
	} {
		h := x.h
		err := b.Admit(&h, k, first+moved)
		require.Equal(t, x.ok, err == nil, "%+v: %v", x.h, err)
		want := Header{}
		if x.ok {
			want = Header{ref: x.h.ref, length: x.h.length, capacity: x.h.capacity}
			if want.ref != 0 {
				want.ref += uint32(first+moved) * (universe.ChunkSize / refUnit)
			}
		}
		require.Equal(t, want, h)
		require.NoError(t, b.VerifyRow(&h, k))
		b.Admitted() // the next may have the same block
	}
	shared := [2]Header{{ref: at(2, 0), length: 5, capacity: 5}, {ref: at(2, 0) + 1, length: 5, capacity: 5}}
	require.NoError(t, b.Admit(&shared[0], k, first+moved))
	require.ErrorContains(t, b.Admit(&shared[1], k, first+moved), "where another's are")
	b.Admitted()
	require.Equal(t, 2, b.Live())
	h := Header{ref: at(5+int(first), 0), length: 1, capacity: 9}
	b.Free(&h)
	require.Equal(t, chunks, u.Stats().LiveChunks)
	b.Free(&h)
	require.Zero(t, b.Live())
	require.Zero(t, u.Stats().LiveChunks, "the last block has ended")
	require.False(t, b.region.has(h.ref))
	require.NoError(t, b.Close())
	require.NoError(t, u.Close())
}

// TestRecount: a region lives as long as the blocks that there are, not those that a file counts.
func TestRecount(t *testing.T) {
	u, err := universe.New(universe.Size(4 << 20))
	require.NoError(t, err)
	for _, there := range []int{0, 1, 3} {
		first, err := u.AllocExact(2)
		require.NoError(t, err)
		var b Buffers
		b.Open(u, nil)
		b.Recount(7) // without a region
		b.AdoptBlocks(first, 2, 2)
		b.Recount(there)
		require.Equal(t, there, b.Live())
		for i := range there {
			require.Equal(t, 2, u.Stats().LiveChunks, "%d of %d", i, there)
			h := Header{ref: uint32(first)*(universe.ChunkSize/refUnit) + 1 + uint32(i)*4, length: 1, capacity: 9}
			b.Free(&h)
		}
		require.Zero(t, u.Stats().LiveChunks)
		require.NoError(t, b.Close())
	}
	require.NoError(t, u.Close())
}
