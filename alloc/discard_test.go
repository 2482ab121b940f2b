package alloc_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/mmap"
)

// chunkWords is a chunk as words.
func chunkWords(u *alloc.Universe, c alloc.ChunkIndex) []uint64 {
	return unsafe.Slice((*uint64)(u.Pointer(c)), alloc.ChunkSize/8)
}

func fillChunk(u *alloc.Universe, c alloc.ChunkIndex, v uint64) {
	for i := range chunkWords(u, c) {
		chunkWords(u, c)[i] = v
	}
}

func requireChunk(t *testing.T, u *alloc.Universe, c alloc.ChunkIndex, v uint64) {
	t.Helper()
	for i, w := range chunkWords(u, c) {
		if w != v {
			t.Fatalf("word %d of chunk %d is %#x, want %#x", i, c, w, v)
		}
	}
}

// mottled is a universe of which every step-th chunk is in use, and holds its own number; all
// others were written to and freed.
func mottled(t *testing.T, chunks, step int, options ...alloc.Option) (u *alloc.Universe, live []alloc.ChunkIndex) {
	u = newUniverse(t, append([]alloc.Option{alloc.Size(chunks * alloc.ChunkSize)}, options...)...)
	var free []alloc.ChunkIndex
	for range chunks {
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		fillChunk(u, c, uint64(c))
		if int(c)%step == 0 {
			live = append(live, c)
		} else {
			free = append(free, c)
		}
	}
	for _, c := range free {
		u.Free(c, 1)
	}
	return u, live
}

// givesParts reports whether this system gives back less than a granule.
var givesParts = mmap.Real && runtime.GOOS != "windows" && mmap.PageSize() <= alloc.ChunkSize

func givesBackChunks(t *testing.T) {
	t.Helper()
	if !givesParts {
		t.Skip("this system gives back whole granules only")
	}
}

// TestTrimGivesBackFreeChunks: what is free between chunks in use goes back, on small pages and
// large ones; what is in use stays; what is taken again reads zero and counts again.
func TestTrimGivesBackFreeChunks(t *testing.T) {
	givesBackChunks(t)
	for _, options := range [][]alloc.Option{nil, {alloc.SmallPages()}} {
		u, live := mottled(t, 512, 4, options...)
		require.Equal(t, 512*alloc.ChunkSize, u.Stats().Committed)
		before, err := u.Resident()
		returned, e := u.Trim(0)
		require.NoError(t, e)
		require.Equal(t, 384*alloc.ChunkSize, returned)
		require.Equal(t, 128*alloc.ChunkSize, u.Stats().Committed)
		if err == nil {
			after, err := u.Resident()
			require.NoError(t, err)
			require.Equal(t, before-returned, after)
		}
		require.NoError(t, u.Verify())
		returned, e = u.Trim(0)
		require.NoError(t, e)
		require.Zero(t, returned, "once")
		for _, c := range live {
			requireChunk(t, u, c, uint64(c))
		}
		var again []alloc.ChunkIndex
		for range 200 {
			c, err := u.AllocExact(1)
			require.NoError(t, err)
			if !debug.On { // else it holds a pattern
				requireChunk(t, u, c, 0)
			}
			again = append(again, c)
		}
		first, n, err := u.AllocZeroed(3)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Equal(t, (128+203)*alloc.ChunkSize, u.Stats().Committed)
		require.NoError(t, u.Verify())
		u.Free(first, 3)
		for _, c := range append(again, live...) {
			u.Free(c, 1)
		}
		_, e = u.Trim(0)
		require.NoError(t, e)
		require.Zero(t, u.Stats().Committed)
	}
}

// TestMaintainGivesBackFreeChunks: those that were free at two looks, the delay apart, and only of
// a granule that has many.
func TestMaintainGivesBackFreeChunks(t *testing.T) {
	givesBackChunks(t)
	u, live := mottled(t, 256, 4, alloc.PurgeAfter(time.Second))
	few, err := u.AllocExact(60) // granule 0 or 1 has fewer free ones
	if err == nil {
		u.Free(few, 60)
	}
	now := time.Now()
	maintain := func(after time.Duration) int {
		n, err := u.Maintain(now.Add(after))
		require.NoError(t, err)
		return n
	}
	require.Zero(t, maintain(0), "a first look")
	require.Zero(t, maintain(time.Second/2))
	taken, err := u.AllocExact(1)
	require.NoError(t, err)
	require.Equal(t, (192-1)*alloc.ChunkSize, maintain(time.Second))
	require.Zero(t, maintain(2*time.Second))
	u.Free(taken, 1)
	require.Zero(t, maintain(3*time.Second))
	require.Zero(t, maintain(4*time.Second), "one chunk is not worth a huge page")
	require.NoError(t, u.Verify())
	for _, c := range live {
		requireChunk(t, u, c, uint64(c))
		u.Free(c, 1)
	}
}

// TestTrimRefusedInTheMiddle: the k-th call of the system is refused, for every k: the others are
// done, the chunks of the refused one stay good, and the next Trim does it.
func TestTrimRefusedInTheMiddle(t *testing.T) {
	refused := errors.New("refused")
	for k := 1; ; k++ {
		region, err := mmap.Reserve(4 << 20)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, Err: refused}
		u, live := mottled(t, 256, 16, alloc.WithPages(pages))
		pages.Calls, pages.FailAt = 0, k
		returned, err := u.Trim(0)
		require.NoError(t, u.Verify())
		pages.FailAt = 0
		if pages.Calls < k {
			require.NoError(t, err)
			require.Greater(t, k, 1)
			for _, c := range live {
				u.Free(c, 1)
			}
			break
		}
		require.ErrorIs(t, err, refused)
		require.ErrorContains(t, err, "alloc: Universe.Trim: ")
		for _, c := range live {
			requireChunk(t, u, c, uint64(c))
		}
		rest, err := u.Trim(0)
		require.NoError(t, err)
		if mmap.Real && runtime.GOOS != "windows" {
			require.Equal(t, 240*alloc.ChunkSize, returned+rest)
		}
		for _, c := range live {
			u.Free(c, 1)
		}
	}
}

// TestDiscardWhileOthersAllocate: goroutines take, fill, check and free chunks and runs of a
// universe that another trims all the time. Nobody loses contents, and nobody hears that it is full
// while there is a chunk for each.
func TestDiscardWhileOthersAllocate(t *testing.T) {
	discardWhileOthersAllocate(t, 4, 8)
	discardWhileOthersAllocate(t, 1, 1)
}

// discardWhileOthersAllocate has room for so many chunks of each worker, and for no more.
func discardWhileOthersAllocate(t *testing.T, workers, each int) {
	const chunks = 256
	u, live := mottled(t, chunks, 2)
	for len(live) < chunks-each*workers {
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		fillChunk(u, c, uint64(c))
		live = append(live, c)
	}
	var done atomic.Bool
	var spun atomic.Int64
	var all, trimmer sync.WaitGroup
	trimmer.Go(func() {
		for !done.Load() {
			if _, err := u.Trim(0); err != nil {
				t.Error(err)
			}
			runtime.Gosched()
		}
	})
	rounds := 20_000
	if testing.Short() {
		rounds = 300
	}
	for w := range workers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 28))
			var held []alloc.ChunkIndex
			for i := range rounds {
				if len(held) < each && (len(held) == 0 || r.IntN(2) == 0) {
					for range r.IntN(1000) { // so that the trimmer finds free chunks
						spun.Add(1)
					}
					c, err := u.AllocExact(1)
					if err != nil {
						t.Errorf("worker %d, round %d: %v", w, i, err)
						return
					}
					fillChunk(u, c, uint64(c)<<8|uint64(w))
					held = append(held, c)
					continue
				}
				at := r.IntN(len(held))
				for _, v := range chunkWords(u, held[at]) {
					if v != uint64(held[at])<<8|uint64(w) {
						t.Errorf("worker %d, round %d: chunk %d holds %#x", w, i, held[at], v)
						return
					}
				}
				u.Free(held[at], 1)
				held[at] = held[len(held)-1]
				held = held[:len(held)-1]
			}
			for _, c := range held {
				u.Free(c, 1)
			}
		})
	}
	all.Wait()
	done.Store(true)
	trimmer.Wait()
	require.NoError(t, u.Verify())
	for _, c := range live {
		requireChunk(t, u, c, uint64(c))
		u.Free(c, 1)
	}
}
