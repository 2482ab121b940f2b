package alloc_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
)

// TestLocalKeepsRuns frees a run in each way that keeps it: it comes back for the next block of its
// length, and meanwhile it is free for everybody.
func TestLocalKeepsRuns(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	l, other := h.NewLocal(), h.NewLocal()
	defer other.Close()
	for from, a := range map[string]allocator{"heap": h, "own": l, "other": other} {
		for chunks, size := range map[int]int{1: 16_384, 3: 48 << 10, 4: 64 << 10, 16: 256 << 10} {
			p := must(a.Alloc(size, 0))
			held := h.Stats().Chunks
			bytesOf(p, size)[size-1] = 7
			l.Free(p)
			require.NoError(t, h.Verify())
			require.Equal(t, alloc.HeapStats{Chunks: held, Cached: chunks * alloc.ChunkSize}, h.Stats(), from)
			require.False(t, h.Owns(p))
			if debug.On {
				require.Equal(t, byte(debug.Freed), bytesOf(p, size)[size-1])
			}
			for _, f := range []func(){
				func() { l.Free(p) },
				func() { other.Free(p) },
				func() { h.Free(p) },
				func() { h.Usable(p) },
				func() { l.FreeSized(p, size, 0) },
				func() { l.Resize(p, size) },
				func() { _, _ = other.Realloc(p, size, 0) },
				func() { h.Free(unsafe.Add(p, alloc.ChunkSize/2)) },
			} {
				require.Contains(t, panicText(f), "freed twice")
				require.NoError(t, h.Verify())
			}
			require.Equal(t, p, must(l.Alloc(size, 4096)))
			require.Equal(t, alloc.HeapStats{Chunks: held, LiveBlocks: 1, LiveBytes: chunks * alloc.ChunkSize},
				h.Stats())
			bytesOf(p, size)[size-1] = 7
			l.FreeSized(p, size, 4096)
			require.Equal(t, p, must(l.AllocZeroed(size, 0)))
			require.Zero(t, bytesOf(p, size)[size-1])
			l.Free(p)
			l.Trim()
			require.NoError(t, h.Verify())
			require.Equal(t, alloc.HeapStats{}, h.Stats())
		}
	}
	l.Free(must(l.Alloc(50_000, 0)))
	l.Close()
	require.NoError(t, h.Verify())
	require.Equal(t, alloc.HeapStats{}, h.Stats())
	other.Free(must(h.Alloc(50_000, 0)))
	require.NoError(t, h.Close(), "what Locals keep is no leak")
	require.Zero(t, h.Universe().Stats().LiveChunks)
}

// TestLocalKeepsWideSlots is TestLocalKeepsRuns for slots of wide slabs.
func TestLocalKeepsWideSlots(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	l, other := h.NewLocal(), h.NewLocal()
	defer other.Close()
	for from, a := range map[string]allocator{"heap": h, "own": l, "other": other} {
		for size, chunks := range map[int]int{
			9344: 4, 10_880: 2, 12_288: 3, 18_688: 8, 20_480: 5, 21_824: 4, 24_576: 3, 40_960: 5,
		} {
			hold, p := must(h.Alloc(size, 0)), must(a.Alloc(size, 0))
			bytesOf(p, size)[size-1] = 7
			l.Free(p)
			require.NoError(t, h.Verify())
			require.Equal(t, alloc.HeapStats{Chunks: chunks, Cached: size, LiveBlocks: 1, LiveBytes: size},
				h.Stats(), from)
			require.False(t, h.Owns(p))
			require.True(t, h.Owns(hold))
			if debug.On {
				require.Equal(t, byte(debug.Freed), bytesOf(p, size)[size-1])
			}
			for _, f := range []func(){
				func() { l.Free(p) },
				func() { other.Free(p) },
				func() { h.Free(p) },
				func() { h.Usable(p) },
				func() { l.FreeSized(p, size, 0) },
				func() { _, _ = other.Realloc(p, size, 0) },
			} {
				require.Contains(t, panicText(f), "freed twice")
				require.NoError(t, h.Verify())
			}
			require.Equal(t, p, must(l.Alloc(size, 8)))
			require.Equal(t, 2, h.Stats().LiveBlocks)
			bytesOf(p, size)[size-1] = 7
			l.FreeSized(p, size, 16)
			require.Equal(t, p, must(l.AllocZeroed(size, 0)))
			require.Zero(t, bytesOf(p, size)[size-1])
			h.Free(hold)
			l.Free(p)
			l.Trim()
			require.NoError(t, h.Trim())
			require.NoError(t, h.Verify())
			require.Equal(t, alloc.HeapStats{}, h.Stats())
		}
	}
	l.Free(must(l.Alloc(20_000, 0)))
	l.Close()
	require.NoError(t, h.Verify())
	require.Zero(t, h.Stats().Cached)
	other.Free(must(h.Alloc(20_000, 0)))
	require.NoError(t, h.Close(), "what Locals keep is no leak")
	require.Zero(t, h.Universe().Stats().LiveChunks)
}

// TestLocalKeepsABoundedNumberOfRuns: 256 KiB, whatever is freed.
func TestLocalKeepsABoundedNumberOfRuns(t *testing.T) {
	h := newHeap(t, alloc.Size(64<<20))
	l := h.NewLocal()
	defer l.Close()
	var blocks []unsafe.Pointer
	for i := range 100 {
		blocks = append(blocks, must(l.Alloc((1+i*7%40)*alloc.ChunkSize-i, 0)), must(l.Alloc(9000+i*300, 0)))
	}
	for _, p := range blocks {
		l.Free(p)
		require.NoError(t, h.Verify())
		require.LessOrEqual(t, h.Stats().Cached, 256<<10)
	}
	require.NotZero(t, h.Stats().Cached)
	l.Trim()
	require.Zero(t, h.Stats().Cached)
}

// TestKeptRunsStandInNobodysWay: a Local that needs memory, or room behind a block, frees what it
// keeps.
func TestKeptRunsStandInNobodysWay(t *testing.T) {
	h := newHeap(t, alloc.Size(2<<20)) // two megachunks
	l := h.NewLocal()
	defer l.Close()
	whole := must(l.Alloc(1<<20, 0))
	two, behind := must(l.Alloc(32<<10, 0)), must(l.Alloc(15<<14, 0))
	require.Equal(t, unsafe.Add(two, 32<<10), behind)
	l.Free(behind)
	require.Equal(t, 15*alloc.ChunkSize, h.Stats().Cached)
	require.True(t, l.Resize(two, 16<<14), "what is kept behind the block gives way")
	require.NoError(t, h.Verify())
	require.Zero(t, h.Stats().Cached)
	for i := range 44 { // to the end of the universe
		l.Free(must(l.Alloc((1+i%15)<<14, 0)))
	}
	require.NotZero(t, h.Stats().Cached)
	rest := must(l.Alloc(48<<14, 0))
	require.NoError(t, h.Verify())
	_, err := l.Alloc(16<<10, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	freeAll(l, []unsafe.Pointer{whole, two, rest})
	require.NoError(t, h.Verify())
}

// TestBlockFreedByTwoAtOnce frees each block by its Local and by the heap at the same time: one of
// them finds it free.
func TestBlockFreedByTwoAtOnce(t *testing.T) {
	h := newHeap(t, alloc.Size(8<<20))
	l := h.NewLocal()
	defer l.Close()
	for i := range 600 {
		p := must(l.Alloc(20_000+i%2*28<<10, 0))
		texts := [2]string{}
		var both sync.WaitGroup
		for i, f := range []func(){func() { l.Free(p) }, func() { h.Free(p) }} {
			both.Go(func() { texts[i] = panicText(f) })
		}
		both.Wait()
		require.True(t, (texts[0] == "<nil>") != (texts[1] == "<nil>"), "%q", texts)
		require.NoError(t, h.Verify())
		require.Zero(t, h.Stats().LiveBlocks)
	}
}

// TestGrowthBesideAMegachunkWithoutSlabs resizes a run of a Local that ends in a megachunk where
// the heap has no slab, and has no room: it does not grow, and nothing else happens.
func TestGrowthBesideAMegachunkWithoutSlabs(t *testing.T) {
	const size = 40 * alloc.ChunkSize
	u := newUniverse(t, alloc.Size(32<<20), alloc.SmallPages()) // so that no granule is left to small requests
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	l := h.NewLocal()
	l.Free(must(l.Alloc(alloc.ChunkSize, 0))) // kept
	blocks := []unsafe.Pointer{must(l.Alloc(size, 0)), must(l.Alloc(size, 0)), must(l.Alloc(size, 0))}
	across := blocks[2]
	first, ok := u.IndexOf(across)
	require.True(t, ok)
	require.EqualValues(t, 40, first%alloc.ChunksPerMegachunk)
	behind, err := u.AllocExact(48)
	require.NoError(t, err)
	require.Equal(t, first+40, behind)
	require.False(t, l.Resize(across, size+5*alloc.ChunkSize))
	require.NoError(t, h.Verify())
	u.Free(behind, 48)
	require.True(t, l.Resize(across, size+5*alloc.ChunkSize))
	freeAll(l, blocks)
	l.Close()
	require.NoError(t, h.Close())
}
