package alloc_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

func goLimit() int64 {
	s := []metrics.Sample{{Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// offGo is how much of n bytes off the Go heap is not Go's.
func offGo(n int64) int64 {
	if mmap.Real {
		return n
	}
	return 0
}

// TestBudgetGoLimit watches GOMEMLIMIT while universes and mappings grow and shrink.
func TestBudgetGoLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 40))
	const total = 1 << 40
	u := newUniverse(t, alloc.Size(16<<20), alloc.Retain(0), alloc.PurgeAfter(0))
	pages := newPages(t)
	base := alloc.PurgeAll()
	before, err := alloc.SetBudget(alloc.Budget{Total: total})
	require.NoError(t, err)
	follows := func(more int64) {
		t.Helper()
		require.Equal(t, total-offGo(base+more), goLimit())
		require.Equal(t, goLimit(), alloc.ReadBudget().GoLimit)
	}
	follows(0)
	var all []alloc.ChunkIndex
	for i := range int64(8) {
		c, err := u.AllocExact(64)
		require.NoError(t, err)
		all = append(all, c)
		follows((i/2*2 + 2) << 20)
	}
	at := must(pages.Alloc(5<<20, 0))
	follows(14 << 20)
	require.True(t, pages.ResizeSized(at, 5<<20, 0, 1<<20))
	follows(10 << 20)
	pages.FreeSized(at, 1<<20, 0)
	follows(8 << 20)
	free(u, all)
	_, err = u.Trim(0)
	require.NoError(t, err)
	follows(0)

	_, err = alloc.SetBudget(alloc.Budget{Total: total / 2, OffHeap: total})
	require.NoError(t, err)
	require.Equal(t, total/2-offGo(base), goLimit())
	_, err = alloc.SetBudget(alloc.Budget{OffHeap: total})
	require.NoError(t, err)
	require.Equal(t, int64(3<<40), goLimit())
	_, err = alloc.SetBudget(before)
	require.NoError(t, err)
	require.Equal(t, int64(3<<40), goLimit())
}

// TestBudgetGoLimitHasAFloor: Go gets what it needs, however much is off the heap.
func TestBudgetGoLimitHasAFloor(t *testing.T) {
	if !mmap.Real {
		t.Skip("nothing is off the heap here")
	}
	live := hold(16)
	pages := newPages(t)
	setBudget(t, alloc.Budget{Total: alloc.Needs() + alloc.PurgeAll() + 32<<20})
	at := must(pages.Alloc(1<<30, 0))
	require.Greater(t, goLimit(), int64(32<<20), "twice what is live")
	require.InEpsilon(t, alloc.Needs(), goLimit(), 0.5)
	pages.FreeSized(at, 1<<30, 0)
	runtime.KeepAlive(live)
}

// TestBudgetMakesGoCollect: garbage that fits beside little off-heap memory is
// collected beside much of it, and Go holds less.
func TestBudgetMakesGoCollect(t *testing.T) {
	if !mmap.Real {
		t.Skip("what is off the heap elsewhere is on it here")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	pages := newPages(t)
	runtime.GC()
	debug.FreeOSMemory()
	setBudget(t, alloc.Budget{Total: alloc.PurgeAll() + alloc.Needs() + 512<<20})
	litter := func() (collections uint32, held int64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var kept [16][]byte
		for i := range 128 << 8 { // 128 MiB
			kept[i%16] = make([]byte, 4<<10)
		}
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(&kept)
		return after.NumGC - before.NumGC, int64(after.Sys - after.HeapReleased)
	}
	seldom, much := litter()
	require.Zero(t, seldom)
	debug.FreeOSMemory()
	at := must(pages.Alloc(480<<20, 0))
	often, less := litter()
	require.Positive(t, often)
	require.Less(t, less, much)
	pages.FreeSized(at, 480<<20, 0)
}
