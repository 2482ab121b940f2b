package alloc_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// hold keeps megabytes of the Go heap live while it is used.
func hold(megabytes int) []byte {
	b := make([]byte, megabytes<<20)
	runtime.GC()
	return b
}

func TestGCFor(t *testing.T) {
	if !mmap.Real {
		t.Skip("universes of other tests are on the Go heap here, where they count as live")
	}
	live := hold(64)
	gc, err := alloc.GCFor(1<<30, 300<<20)
	require.NoError(t, err)
	require.Equal(t, alloc.GC{Percent: -1, Limit: 724 << 20}, gc)

	// 64 MiB are live: less than 128 MiB would be collected without end.
	for name, c := range map[string]struct{ total, offHeap int64 }{
		"nothing":            {0, 0},
		"all off the heap":   {1 << 30, 1 << 30},
		"more than there is": {1 << 30, math.MaxInt64},
		"live and no more":   {70 << 20, 0},
		"less than twice":    {1 << 30, (1024 - 127) << 20},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := alloc.GCFor(c.total, c.offHeap)
			require.ErrorIs(t, err, alloc.ErrTooBig)
			require.ErrorContains(t, err, fmt.Sprintf("alloc: GCFor: %d bytes, %d off the heap, leave ",
				c.total, c.offHeap))
			require.Zero(t, got)
		})
	}
	_, err = alloc.GCFor(1<<30, (1024-192)<<20)
	require.NoError(t, err)
	_, err = alloc.GCFor(100<<20, 0)
	require.Error(t, err)
	runtime.KeepAlive(live)
	_, err = alloc.GCFor(100<<20, 0) // live when last collected, and garbage now
	require.NoError(t, err)

	require.PanicsWithValue(t, "alloc: GCFor: total=-1 and offHeap=0: want none below 0",
		func() { _, _ = alloc.GCFor(-1, 0) })
	require.PanicsWithValue(t, "alloc: GCFor: total=1 and offHeap=-2: want none below 0",
		func() { _, _ = alloc.GCFor(1, -2) })
}

// TestGCApply: fewer collections for the same garbage, and the setting before is
// put back.
func TestGCApply(t *testing.T) {
	if !mmap.Real {
		t.Skip("universes of other tests are on the Go heap here, where they count as live")
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 40))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	collections := func() uint32 {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var kept [16][]byte
		for i := range 256 << 8 { // 256 MiB
			kept[i%16] = make([]byte, 4<<10)
		}
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(&kept)
		return after.NumGC - before.NumGC
	}
	often := collections()
	gc, err := alloc.GCFor(1<<30, 0)
	require.NoError(t, err)
	before := gc.Apply()
	require.Equal(t, alloc.GC{Percent: 100, Limit: 3 << 40}, before)
	require.Zero(t, collections(), "beside %d", often)
	require.Equal(t, gc, before.Apply())
	require.Equal(t, before, before.Apply())
	// How many there are depends on what earlier tests left alive, and on how long each takes
	// beside the loop.
	require.Positive(t, often)
}
