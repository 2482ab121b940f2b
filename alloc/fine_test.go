package alloc_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
	"quarry/mmap"
)

// fineUniverse returns a universe on pages that can be fine, or skips the test.
func fineUniverse(t *testing.T, options ...alloc.Option) *alloc.Universe {
	t.Helper()
	before := alloc.FineFrom(0)
	t.Cleanup(func() { alloc.FineFrom(before) })
	u := newUniverse(t, options...)
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	u.Free(c, 1)
	if g, _ := u.Fine(); g < 0 {
		t.Skip("memory of this build or system has pages of one size")
	}
	_, err = u.Trim(0)
	require.NoError(t, err)
	return u
}

// residentOf is the resident bytes of a universe by the system's count.
func residentOf(t *testing.T, u *alloc.Universe) int {
	t.Helper()
	n, err := u.Resident()
	require.NoError(t, err)
	return n
}

// use writes the first byte of each page of a run.
func use(u *alloc.Universe, first alloc.ChunkIndex, n int) {
	b := u.Bytes(first, n)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

// TestFewChunksTakeLittle: as long as single chunks are in use they take what they have, and a
// universe that gave all back begins anew.
func TestFewChunksTakeLittle(t *testing.T) {
	u := fineUniverse(t)
	for range 2 {
		used := 0
		for _, n := range []int{1, 8, 64, 128} {
			for ; used < n; used++ {
				c, err := u.AllocExact(1)
				require.NoError(t, err)
				use(u, c, 1)
			}
			g, kept := u.Fine()
			require.Zero(t, g)
			require.Equal(t, n <= alloc.FineMost, kept)
			if n <= alloc.FineMost { // above it, the system may have joined pages
				require.Equal(t, n*alloc.ChunkSize, residentOf(t, u))
			}
			require.LessOrEqual(t, residentOf(t, u), mmap.Granule)
			require.NoError(t, u.Verify())
		}
		u.Free(0, 64)
		u.Free(64, 64)
		_, err := u.Trim(0)
		require.NoError(t, err)
		require.Zero(t, residentOf(t, u))
	}
}

// TestClaimsBackWhatTheyClaim: a run in the fine granule has its memory before it is touched, and
// nothing beside it has.
func TestClaimsBackWhatTheyClaim(t *testing.T) {
	u := fineUniverse(t)
	first, err := u.AllocExact(4)
	require.NoError(t, err)
	if residentOf(t, u) == 0 {
		u.Free(first, 4)
		t.Skip("this kernel, or what stands in for it, backs nothing ahead of its use")
	}
	require.Equal(t, 4*alloc.ChunkSize, residentOf(t, u))
	require.True(t, u.Extend(first, 4, 2))
	require.Equal(t, 6*alloc.ChunkSize, residentOf(t, u))
	zeroed, _, err := u.AllocZeroed(2)
	require.NoError(t, err)
	if !debug.On {
		require.Equal(t, 6*alloc.ChunkSize, residentOf(t, u), "what reads as zero comes page by page")
		u.Bytes(zeroed, 2)[0] = 1
		require.Equal(t, 6*alloc.ChunkSize+mmap.PageSize(), residentOf(t, u))
	}
	u.Free(first, 6)
	u.Free(zeroed, 2)
	require.NoError(t, u.Verify())
}

// TestLargeRequestsHaveLargePages: a universe that begins with a large request has no small pages,
// nor has its second granule.
func TestLargeRequestsHaveLargePages(t *testing.T) {
	fineUniverse(t)
	u := newUniverse(t)
	all, err := u.AllocExact(alloc.FineMost + 1)
	require.NoError(t, err)
	g, kept := u.Fine()
	require.Equal(t, -1, g)
	require.False(t, kept)
	if !debug.On {
		require.Zero(t, residentOf(t, u), "nothing is touched ahead of its use")
		u.Bytes(all, 1)[0] = 1
		if got := residentOf(t, u); got != mmap.Granule {
			t.Logf("%d bytes by one touch: the system gives no huge page", got)
		}
	}
	u.Free(all, alloc.FineMost+1)

	u = newUniverse(t)
	few, err := u.AllocExact(2)
	require.NoError(t, err)
	for _, n := range []int{alloc.FineMost - 1, 20, 64} {
		c, err := u.AllocExact(n)
		require.NoError(t, err)
		require.GreaterOrEqual(t, c, alloc.ChunkIndex(128), "%d chunks come from the next granule", n)
		u.Free(c, n)
	}
	g, kept = u.Fine()
	require.Zero(t, g)
	require.True(t, kept)
	require.Equal(t, 2*mmap.Granule, u.Stats().Committed)
	u.Free(few, 2)
	require.NoError(t, u.Verify())
}

// TestFineGranulesFill: what is kept for small requests serves any, where nothing else is left or a
// budget counts it.
func TestFineGranulesFill(t *testing.T) {
	for _, budget := range []bool{false, true} {
		u := fineUniverse(t, alloc.Size(2<<20))
		want := alloc.ChunkIndex(64)
		if budget {
			u = fineUniverse(t)
			before, err := alloc.SetBudget(alloc.Budget{OffHeap: 1 << 40})
			require.NoError(t, err)
			defer func() { _, _ = alloc.SetBudget(before) }()
		}
		few, err := u.AllocExact(2)
		require.NoError(t, err)
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		require.Equal(t, want, c)
		use(u, c, 64)
		g, kept := u.Fine()
		require.Zero(t, g)
		require.False(t, kept, "64 chunks are more than a few")
		require.NoError(t, u.Verify())
		u.Free(c, 64)
		u.Free(few, 2)
	}
}

// TestFineIsNotAskedForInVain: with small pages everywhere none is fine.
func TestFineIsNotAskedForInVain(t *testing.T) {
	u := newUniverse(t, alloc.SmallPages())
	c, err := u.AllocExact(1)
	require.NoError(t, err)
	g, kept := u.Fine()
	require.Equal(t, -1, g)
	require.False(t, kept)
	u.Free(c, 1)
}

// TestFineMovesWithTheUniverse: the granule that is fine comes back as one of many, and another one
// becomes fine where that is the first.
func TestFineMovesWithTheUniverse(t *testing.T) {
	u := fineUniverse(t)
	var runs []alloc.ChunkIndex
	for range 4 {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		runs = append(runs, c)
	}
	trim := func() {
		t.Helper()
		_, err := u.Trim(0)
		require.NoError(t, err)
		require.NoError(t, u.Verify())
	}
	u.Free(runs[0], 64)
	u.Free(runs[1], 64)
	trim()
	c, err := u.AllocExact(1) // in granule 0, or in what is left of the home
	require.NoError(t, err)
	_, kept := u.Fine()
	require.False(t, kept, "granule 1 is ready")
	u.Free(c, 1)
	u.Free(runs[2], 64)
	u.Free(runs[3], 64)
	trim()
	first, err := u.AllocExact(1)
	require.NoError(t, err)
	g, kept := u.Fine()
	require.Equal(t, int(first)/128, g)
	require.True(t, kept)
	require.NoError(t, u.Verify())
	u.Free(first, 1)
	trim()
}

// stubborn refuses the hints of a region, or every n-th.
type stubborn struct {
	*mmap.Region
	calls, every int
	err          error
}

func (s *stubborn) fails() bool {
	s.calls++
	return s.calls%s.every == 0
}

func (s *stubborn) Fine(offset int, on bool) error {
	if s.fails() {
		return s.err
	}
	return s.Region.Fine(offset, on)
}

func (s *stubborn) Prefault(offset, n int) error {
	if s.fails() {
		return s.err
	}
	return s.Region.Prefault(offset, n)
}

// TestRefusedHintsHurtNobody: whichever hints the system refuses, requests succeed, memory reads
// zero and the metadata is right.
func TestRefusedHintsHurtNobody(t *testing.T) {
	for every := 1; every <= 5; every++ {
		region, err := mmap.Reserve(8 << 20)
		require.NoError(t, err)
		u := newUniverse(t, alloc.WithPages(&stubborn{Region: region, every: every, err: mmap.ErrMemory}),
			alloc.PurgeAfter(0), alloc.Retain(0))
		rng := rand.New(rand.NewPCG(uint64(every), 3))
		type run struct {
			first alloc.ChunkIndex
			n     int
		}
		var live []run
		for step := range 2000 {
			if grow := step%400 < 200; rng.IntN(4) > 0 == grow {
				first, n, err := u.AllocZeroed(1 + rng.IntN(1+rng.IntN(40)))
				if err == nil {
					for _, b := range u.Bytes(first, n)[:64] {
						require.Zero(t, b)
					}
					use(u, first, n)
					live = append(live, run{first, n})
				}
			} else if len(live) > 0 {
				i := rng.IntN(len(live))
				u.Free(live[i].first, live[i].n)
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			}
			require.NoError(t, u.Verify())
		}
		for _, r := range live {
			u.Free(r.first, r.n)
		}
	}
}

// TestFineUnderConcurrency: goroutines claim and free while another trims, so that the first
// granule comes, fills and goes; each finds its own bytes, and the metadata is right in the end.
func TestFineUnderConcurrency(t *testing.T) {
	before := alloc.FineFrom(0)
	defer alloc.FineFrom(before)
	u := newUniverse(t, alloc.Size(16<<20), alloc.Retain(0), alloc.PurgeAfter(0))
	var workers, trimmer sync.WaitGroup
	done := make(chan struct{})
	trimmer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_, _ = u.Trim(0)
				runtime.Gosched() // where one thread runs all, nobody else would
			}
		}
	})
	for id := range 4 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(id), 11))
			for range 2000 {
				first, n, err := u.AllocZeroed(1 + rng.IntN(1+rng.IntN(20)))
				if err != nil {
					t.Error(err)
					return
				}
				b := u.Bytes(first, n)
				if b[0] != 0 || b[len(b)-1] != 0 {
					t.Error("memory does not read zero")
				}
				b[0], b[len(b)-1] = byte(id), byte(id)
				if b[0] != byte(id) || b[len(b)-1] != byte(id) {
					t.Error("memory has another owner")
				}
				u.Free(first, n)
			}
		})
	}
	workers.Wait()
	close(done)
	trimmer.Wait()
	require.NoError(t, u.Verify())
}
