package alloc_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// numbered returns a file of n granules, of which each byte of granule i is i+1.
func numbered(t *testing.T, n int) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	for i := range n {
		_, err := f.Write(bytes.Repeat([]byte{byte(i + 1)}, mmap.Granule))
		require.NoError(t, err)
	}
	return f
}

const perGranule = mmap.Granule / alloc.ChunkSize

// freeGranules frees chunks of whole granules, megachunk by megachunk.
func freeGranules(u *alloc.Universe, first alloc.ChunkIndex, n int) {
	for range 2 * n {
		u.Free(first, alloc.ChunksPerMegachunk)
		first += alloc.ChunksPerMegachunk
	}
}

// requireAll compares all bytes of a chunk with one.
func requireAll(t *testing.T, u *alloc.Universe, c alloc.ChunkIndex, want byte) {
	t.Helper()
	require.True(t, bytes.Equal(u.Bytes(c, 1), bytes.Repeat([]byte{want}, alloc.ChunkSize)), "chunk %d is not all %d",
		c, want)
}

// TestAllocGranules: the first empty granules, whatever lies before and after.
func TestAllocGranules(t *testing.T) {
	u := newUniverse(t, alloc.Size(8*mmap.Granule))
	first, err := u.AllocGranules(2)
	require.NoError(t, err)
	require.Zero(t, first)
	one, _, err := u.Alloc(1)
	require.NoError(t, err)
	require.Equal(t, alloc.ChunkIndex(2), one/perGranule)
	next, err := u.AllocGranules(5)
	require.NoError(t, err)
	require.Equal(t, alloc.ChunkIndex(3*perGranule), next)
	_, err = u.AllocGranules(1)
	require.ErrorIs(t, err, alloc.ErrFull)
	require.NoError(t, u.Verify())
	for c := range alloc.ChunkIndex(2 * perGranule) {
		u.Bytes(first+c, 1)[7] = 1
		u.Free(first+c, 1) // apart
	}
	again, err := u.AllocGranules(2)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NoError(t, u.Verify())
	freeGranules(u, again, 2)
	freeGranules(u, next, 5)
	u.Free(one, 1)
	require.PanicsWithValue(t, "alloc: Universe.AllocGranules: n=0 is less than 1",
		func() { _, _ = u.AllocGranules(0) })
	require.NoError(t, u.Verify())
}

// mapped maps a file of n granules, or skips the test.
func mapped(t *testing.T, u *alloc.Universe, n int) alloc.ChunkIndex {
	t.Helper()
	first, err := u.MapFile(n, numbered(t, n), 0)
	if err != nil {
		require.ErrorIs(t, err, mmap.ErrUnsupported)
		require.Zero(t, u.Stats().LiveChunks)
		require.NoError(t, u.Verify())
		t.Skip("files cannot be mapped")
	}
	return first
}

// TestMapFile: the file's bytes are there and can be written; after a block was freed, a request
// for zeroed memory never shows them again, whether the memory was given back meanwhile or not.
func TestMapFile(t *testing.T) {
	u := newUniverse(t, alloc.Size(8*mmap.Granule), alloc.Retain(0), alloc.PurgeAfter(0))
	before := alloc.ReadBudget().Committed
	c, _, err := u.Alloc(1)
	require.NoError(t, err)
	u.Free(c, 1) // granule 0 has memory, of which nothing is used
	first := mapped(t, u, 3)
	require.Zero(t, first)
	require.NoError(t, u.Verify())
	require.Equal(t, 3*mmap.Granule, u.Stats().Committed)
	require.Equal(t, before+3*mmap.Granule, alloc.ReadBudget().Committed)
	for i := range 3 {
		requireAll(t, u, alloc.ChunkIndex(i*perGranule+5), byte(i+1))
	}
	u.Bytes(5, 1)[0] = 99

	// Half of granule 1 is freed; Trim leaves it, for it would bring the file's bytes back.
	u.Free(perGranule, alloc.ChunksPerMegachunk)
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.NoError(t, u.Verify())
	require.Equal(t, 3*mmap.Granule, u.Stats().Committed)
	zero, _, err := u.AllocZeroed(alloc.ChunksPerMegachunk)
	require.NoError(t, err)
	require.Equal(t, alloc.ChunkIndex(perGranule), zero)
	for i := range alloc.ChunkIndex(alloc.ChunksPerMegachunk) {
		requireAll(t, u, zero+i, 0)
	}

	// All of granule 2 is freed and given back, and comes back as memory like any other.
	freeGranules(u, 2*perGranule, 1)
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.Equal(t, 2*mmap.Granule, u.Stats().Committed)
	require.NoError(t, u.Verify())
	again := alloc.ChunkIndex(2 * perGranule)
	for i := range 2 {
		got, n, err := u.AllocZeroed(alloc.ChunksPerMegachunk)
		require.NoError(t, err)
		require.Equal(t, [2]int{int(again) + i*alloc.ChunksPerMegachunk, alloc.ChunksPerMegachunk}, [2]int{int(got), n})
	}
	for i := range alloc.ChunkIndex(perGranule) {
		requireAll(t, u, again+i, 0)
	}
	require.Equal(t, byte(99), u.Bytes(5, 1)[0])
	u.Free(again, 64)
	_, err = u.Trim(0) // gives back the half, as it is no file's
	require.NoError(t, err)
	require.Equal(t, 2*mmap.Granule+mmap.Granule/2, u.Stats().Committed)
	u.Free(again+64, 64)
	freeGranules(u, 0, 2)
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.Zero(t, u.Stats().Committed)
	require.Equal(t, before, alloc.ReadBudget().Committed)
	require.NoError(t, u.Verify())
}

// TestMapFileRefused: no room, no budget, too short a file, no file, and every step of the
// system's.
func TestMapFileRefused(t *testing.T) {
	probe := newUniverse(t, alloc.Size(4*mmap.Granule))
	freeGranules(probe, mapped(t, probe, 1), 1)
	f := numbered(t, 2)
	_, err := probe.MapFile(5, f, 0)
	require.ErrorIs(t, err, alloc.ErrFull)
	_, err = probe.MapFile(3, f, 0)
	require.ErrorIs(t, err, alloc.ErrCommit)
	require.ErrorContains(t, err, "the file ends before")
	require.PanicsWithValue(t, "alloc: Universe.MapFile: the file is nil", func() { _, _ = probe.MapFile(1, nil, 0) })
	for _, at := range []int64{-mmap.Granule, 1, mmap.Granule + 4096} {
		require.Equal(t, fmt.Sprintf("alloc: Universe.MapFile: at=%d is not a multiple of 2097152 from 0 on", at),
			panicText(func() { _, _ = probe.MapFile(1, f, at) }))
	}
	require.NoError(t, probe.Verify())
	require.Zero(t, probe.Stats().LiveChunks)
	t.Run("budget", func(t *testing.T) {
		base := alloc.PurgeAll()
		setBudget(t, alloc.Budget{OffHeap: base + 2*mmap.Granule - 1})
		_, err := probe.MapFile(2, f, 0)
		require.ErrorIs(t, err, alloc.ErrBudget)
		require.NoError(t, probe.Verify())
		require.Equal(t, base, committed())
	})

	for k := 1; k < 20; k++ {
		region, err := mmap.Reserve(4 * mmap.Granule)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, Err: mmap.ErrMemory}
		u := newUniverse(t, alloc.WithPages(pages), alloc.Retain(0))
		c, err := u.AllocGranules(2)
		require.NoError(t, err)
		freeGranules(u, c, 2) // both have memory that is given back first
		pages.FailAt = pages.Calls + k
		first, err := u.MapFile(2, f, 0)
		require.NoError(t, u.Verify())
		if err == nil {
			require.Greater(t, k, 2)
			pages.FailAt = 0
			freeGranules(u, first, 2)
			return
		}
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.Zero(t, u.Stats().LiveChunks)
		pages.FailAt = 0
		first, err = u.MapFile(2, f, 0)
		require.NoError(t, err)
		requireAll(t, u, first+perGranule, 2)
		freeGranules(u, first, 2)
	}
	t.Fatal("a step fails each time")
}
