package alloc_test

import (
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/mmap"
)

// allThere fails unless a universe commits so many bytes, all of which the system has backed, where
// it reports that and backs any before their use.
func allThere(t *testing.T, u *alloc.Universe, bytes int) {
	t.Helper()
	require.NoError(t, u.Verify())
	require.Equal(t, bytes, u.Stats().Committed)
	if n, err := u.Resident(); err == nil && backsAhead() {
		require.Equal(t, bytes, n)
	}
}

// backsAhead reports whether this kernel, or what stands in for it, backs memory ahead of its use;
// emulators do not.
var backsAhead = sync.OnceValue(func() bool {
	r, err := mmap.Reserve(mmap.Granule)
	if err != nil {
		return false
	}
	defer r.Release()
	if r.Commit(0, mmap.Granule) != nil || r.Prefault(0, mmap.Granule) != nil {
		return false
	}
	n, err := r.Resident()
	return err == nil && n > 0
})

// TestPrefault: free chunks are there before they are allocated, however some are in use, and
// memory that is there counts.
func TestPrefault(t *testing.T) {
	for _, option := range []alloc.Option{alloc.PurgeAfter(time.Hour), alloc.SmallPages()} {
		u := newUniverse(t, alloc.Size(64<<20), alloc.PurgeAfter(time.Hour), option)
		require.NoError(t, u.Prefault(0))
		allThere(t, u, 0)
		require.NoError(t, u.Prefault(1))
		allThere(t, u, mmap.Granule)
		require.NoError(t, u.Prefault(10<<20))
		allThere(t, u, 10<<20)
		require.NoError(t, u.Prefault(10<<20))
		allThere(t, u, 10<<20)
		require.Zero(t, u.Stats().Live)
		var all []alloc.ChunkIndex
		for range 10 { // 64 chunks each: all that is there
			c, err := u.AllocExact(64)
			require.NoError(t, err)
			all = append(all, c)
			use(u, c, 64)
		}
		allThere(t, u, 10<<20)
		u.Free(all[3]+7, 30)
		require.NoError(t, u.Prefault(30*alloc.ChunkSize))
		allThere(t, u, 10<<20)
		require.NoError(t, u.Prefault(31*alloc.ChunkSize))
		allThere(t, u, 12<<20)
		u.Free(all[3], 7)
		u.Free(all[3]+37, 27)
		for i, c := range all {
			if i != 3 {
				u.Free(c, 64)
			}
		}
		returned, err := u.Trim(0)
		require.NoError(t, err)
		require.Equal(t, 12<<20, returned, "what was never allocated goes too")
	}
}

// TestPrefaultReadsZero: AllocZeroed has nothing to clear in memory that is there and was never in
// use.
func TestPrefaultReadsZero(t *testing.T) {
	u := newUniverse(t, alloc.Size(8<<20))
	require.NoError(t, u.Prefault(8<<20))
	for range 8 {
		c, _, err := u.AllocZeroed(64)
		require.NoError(t, err)
		for i := range alloc.ChunkIndex(64) {
			requireAll(t, u, c+i, 0)
		}
		u.Bytes(c, 64)[9] = 1
	}
	for c, n := range u.Runs() {
		u.Free(c, n)
	}
}

// TestPrefaultIsGivenBack: what nobody allocates returns to the system like other empty memory.
func TestPrefaultIsGivenBack(t *testing.T) {
	u := newUniverse(t, alloc.Size(64<<20), alloc.PurgeAfter(time.Minute), alloc.Retain(4<<20))
	require.NoError(t, u.Prefault(20<<20))
	now := time.Now()
	returned, err := u.Maintain(now)
	require.NoError(t, err)
	require.Zero(t, returned)
	returned, err = u.Maintain(now.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, 20<<20, returned)
	allThere(t, u, 0)
}

// TestPrefaultWhatWasGivenBack: free chunks beside chunks in use are there again, and count; they
// are what is allocated next.
func TestPrefaultWhatWasGivenBack(t *testing.T) {
	u := newUniverse(t, alloc.Size(8<<20), alloc.PurgeAfter(time.Hour))
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	use(u, c, 1)
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.NoError(t, u.Prefault(mmap.Granule-alloc.ChunkSize))
	allThere(t, u, mmap.Granule)
	for range mmap.Granule/alloc.ChunkSize - 1 {
		c, n, err := u.AllocZeroed(1)
		require.NoError(t, err)
		requireAll(t, u, c, 0)
		use(u, c, n)
	}
	allThere(t, u, mmap.Granule)
	for c, n := range u.Runs() {
		u.Free(c, n)
	}
	_, err = u.Trim(0)
	require.NoError(t, err)
	allThere(t, u, 0)

	// Without room in the budget they stay given back.
	if c, err = u.AllocExact(1); mmap.Real {
		require.NoError(t, err)
		use(u, c, 1)
		_, err = u.Trim(0)
		require.NoError(t, err)
		setBudget(t, alloc.Budget{OffHeap: alloc.PurgeAll() + mmap.Granule/2})
		before := u.Stats().Committed
		err = u.Prefault(1)
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.ErrorIs(t, err, alloc.ErrBudget)
		require.NoError(t, u.Verify())
		require.LessOrEqual(t, u.Stats().Committed, before+mmap.Granule/2)
	}
	u.Free(c, 1)
}

func TestPrefaultRefused(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(8 << 20))
	require.NoError(t, err)
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	require.ErrorIs(t, u.Prefault(8<<20), alloc.ErrFull)
	require.ErrorContains(t, u.Prefault(8<<20),
		"alloc: Universe.Prefault: 8388608 bytes are to be ready, 16384 of 8388608 bytes are in use: ")
	require.Equal(t, mmap.Granule, u.Stats().Committed, "nothing has changed")
	require.NoError(t, u.Prefault(8<<20-alloc.ChunkSize))
	require.Equal(t, "alloc: Universe.Prefault: size=-1 is negative", panicText(func() { _ = u.Prefault(-1) }))
	u.Free(c, 1)
	require.NoError(t, u.Close())
	require.Equal(t, "alloc: Universe.Prefault: the universe is closed", panicText(func() { _ = u.Prefault(1) }))

	require.NoError(t, alloc.CheckEveryFailure(func(f *alloc.Failures) error {
		u := newUniverse(t, alloc.Size(8<<20), alloc.InjectFailures(f))
		err := u.Prefault(4 << 20)
		require.NoError(t, u.Verify())
		return err
	}))
	t.Run("budget", func(t *testing.T) {
		base := alloc.PurgeAll()
		setBudget(t, alloc.Budget{OffHeap: base + 3*mmap.Granule - 1})
		u := newUniverse(t, alloc.Size(8<<20))
		err := u.Prefault(8 << 20)
		require.ErrorIs(t, err, alloc.ErrBudget)
		require.ErrorIs(t, err, alloc.ErrCommit)
		require.ErrorContains(t, err, "alloc: Universe.Prefault: 4194304 bytes are not ready: ")
		require.NoError(t, u.Verify())
		require.Equal(t, base+2*mmap.Granule, committed(), "what was made ready stays")
	})
	if !mmap.Real {
		return // nothing is backed
	}
	for k := 1; k <= 16; k++ { // the third granule's commit or the backing of its two halves, and so on
		region, err := mmap.Reserve(8 << 20)
		require.NoError(t, err)
		pages := &alloc.FailingPages{Region: region, Err: mmap.ErrMemory, FailAt: k}
		u := newUniverse(t, alloc.WithPages(pages), alloc.PurgeAfter(time.Hour))
		err = u.Prefault(8 << 20)
		require.NoError(t, u.Verify())
		require.Zero(t, u.Stats().LiveChunks)
		if k <= 12 {
			require.ErrorIs(t, err, alloc.ErrCommit, "%d", k)
			require.ErrorIs(t, err, mmap.ErrMemory)
			require.Equal(t, (k+1)/3*mmap.Granule, u.Stats().Committed, "%d", k)
		} else {
			require.NoError(t, err)
		}
		pages.FailAt = 0
		require.NoError(t, u.Prefault(8<<20))
		allThere(t, u, 8<<20)
	}
}

// TestPrefaultLeavesFilesAlone: a granule that shows a file is neither counted nor backed.
func TestPrefaultLeavesFilesAlone(t *testing.T) {
	u := newUniverse(t, alloc.Size(8<<20), alloc.PurgeAfter(time.Hour))
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(mmap.Granule))
	first, err := u.MapFile(1, f, 0)
	if err != nil {
		t.Skip("files cannot be mapped here")
	}
	u.Free(first+5, 20)
	require.NoError(t, u.Prefault(1))
	require.Equal(t, 2*mmap.Granule, u.Stats().Committed)
	if n, err := u.Resident(); err == nil && !debug.On { // which writes to what is freed
		require.Less(t, n, 2*mmap.Granule)
	}
	u.Free(first, 5)
	u.Free(first+25, 39)
	u.Free(first+64, 64)
}

// TestPrefaultAFineGranule: long runs avoid the granule with small pages, so others are made ready
// for them.
func TestPrefaultAFineGranule(t *testing.T) {
	u := fineUniverse(t, alloc.Size(8<<20), alloc.PurgeAfter(time.Hour))
	require.NoError(t, u.Prefault(2*mmap.Granule))
	allThere(t, u, 3*mmap.Granule)
	for range 4 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		use(u, c, 64)
	}
	allThere(t, u, 3*mmap.Granule)
	for c, n := range u.Runs() {
		u.Free(c, n)
	}
}

// TestPrefaultAFineGranuleUnderABudget: long runs come from it then, so it counts.
func TestPrefaultAFineGranuleUnderABudget(t *testing.T) {
	u := fineUniverse(t, alloc.Size(8<<20), alloc.PurgeAfter(time.Hour))
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	setBudget(t, alloc.Budget{OffHeap: committed()})
	require.NoError(t, u.Prefault(mmap.Granule-alloc.ChunkSize))
	allThere(t, u, mmap.Granule)
	long, err := u.AllocExact(64)
	require.NoError(t, err)
	u.Free(long, 64)
	u.Free(c, 1)
}

// TestPrefaultBesideOthers: goroutines allocate, free and trim while others prefault; each finds
// its own bytes.
func TestPrefaultBesideOthers(t *testing.T) {
	base := committed()
	u := newUniverse(t, alloc.Size(32<<20), alloc.Retain(0), alloc.PurgeAfter(0))
	pinned, err := u.AllocGranules(4) // a chunk of each stays in use: a Trim gives back the others
	require.NoError(t, err)
	for i := range alloc.ChunkIndex(4) {
		u.Free(pinned+i*perGranule, 63)
		u.Free(pinned+i*perGranule+64, 64)
	}
	var all sync.WaitGroup
	rounds := 300
	if testing.Short() {
		rounds = 100
	}
	for id := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 1))
			for range rounds {
				switch id {
				case 0:
					if err := u.Prefault(r.IntN(8 << 20)); err != nil {
						t.Error(err)
					}
				case 1:
					if _, err := u.Trim(r.IntN(8 << 20)); err != nil {
						t.Error(err)
					}
				default:
					c, n, err := u.AllocZeroed(1 + r.IntN(40))
					if err != nil {
						t.Error(err)
						continue
					}
					b := u.Bytes(c, n)
					if b[0] != 0 || b[len(b)-1] != 0 {
						t.Error("memory does not read zero")
					}
					b[0], b[len(b)-1] = byte(id), byte(id)
					if b[0] != byte(id) || b[len(b)-1] != byte(id) {
						t.Error("memory has another owner")
					}
					u.Free(c, n)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, u.Verify())
	for i := range alloc.ChunkIndex(4) {
		u.Free(pinned+i*perGranule+63, 1)
	}
	_, err = u.Trim(0)
	require.NoError(t, err)
	require.Equal(t, base, committed(), "what was charged is what was there")
}
