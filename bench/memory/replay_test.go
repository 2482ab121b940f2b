package main

import (
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/trace"
)

// someCalls has every call: 100 and 16 x 4 bytes, an aligned block, size 0,
// four reallocs (one of them a free), and a free of NULL.
const someCalls = `1: malloc 0x10 100
1: calloc 0x20 16 4
1: memalign 0x30 4096 1
1: malloc 0x40 0
2: realloc 0x50 0x10 3000
2: realloc 0x20 0x20 8
1: realloc 0x60 0x30 70000
1: free 0x0
1: malloc 0x70 0
2: thread_done 0x0
1: free 0x50
1: realloc 0x0 0x20 0
1: free 0x40
1: malloc 0x80 1
`

func readCalls(t *testing.T) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(writeFile(t, filepath.Join(t.TempDir(), "calls.txt"), someCalls))
	require.NoError(t, err)
	return tr
}

// TestReplayCounts: only calls that do something count as operations, and the peak is after the
// realloc to 70,000 bytes.
func TestReplayCounts(t *testing.T) {
	r := newReplay(readCalls(t), makeMemory{})
	require.Equal(t, int64(3000+8+70000), r.peak)
	require.Len(t, r.calls, 12)
	require.Equal(t, 6, r.peakAt)
	demo := trace.Demo()
	require.Equal(t, demo.Stats().PeakLiveBytes, newReplay(demo, makeMemory{}).peak)
}

// TestReplays replays on every allocator, twice, for both methods.
func TestReplays(t *testing.T) {
	tr := readCalls(t)
	for i := range allocators {
		a := &allocators[i]
		if a.blocks == nil {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			e, err := newEnv(a.blocks, tiny)
			require.NoError(t, err)
			s, err := e.finish(replayTimed(e, newReplay(tr, e.m), tiny.trace))
			require.NoError(t, err)
			checkSample(t, s)
			require.Zero(t, s.Ops%12)
			e, err = newEnv(a.blocks, tiny)
			require.NoError(t, err)
			s, err = e.finish(footprint(e, newReplay(tr, e.m), utilisation))
			require.NoError(t, err)
			require.Empty(t, s.Wrong)
			require.Equal(t, 73008.0, s.More["peak_live_bytes"])
		})
	}
}

func TestReplayBooks(t *testing.T) {
	tr := readCalls(t)
	e, err := newEnv(func() (memory, error) { return newSpy(makeMemory{}, ""), nil }, tiny)
	require.NoError(t, err)
	s, err := e.finish(replayTimed(e, newReplay(tr, e.m), tiny.trace))
	require.NoError(t, err)
	checkSample(t, s)
	spy := e.m.(*spy)
	require.Empty(t, spy.bad)
	require.Empty(t, spy.live)
	require.Zero(t, spy.count%9) // malloc, calloc and memalign six times, realloc three
}

func TestReplayFindsDefects(t *testing.T) {
	tr := readCalls(t)
	for _, defect := range []string{"flip", "forgets"} {
		t.Run(defect, func(t *testing.T) {
			e, err := newEnv(func() (memory, error) { return newSpy(makeMemory{}, defect), nil }, tiny)
			require.NoError(t, err)
			s, err := e.finish(replayTimed(e, newReplay(tr, e.m), tiny.trace))
			require.NoError(t, err)
			require.Contains(t, s.Wrong, "wrong answer: ")
		})
	}
}

// TestMarks: a mark is found in blocks of any size, and a changed byte at either end is noticed.
func TestMarks(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 4096, 5000} {
		p := made(size, 0)
		mark(p, size, 7)
		require.True(t, marked(p, size, 7), size)
		if size == 0 {
			continue
		}
		require.False(t, marked(p, size, 8), size)
		*at(p, size-1) ^= 1
		require.False(t, marked(p, size, 7), size)
		touch(p, size, 9)
		require.True(t, touched(p, size, 9), size)
		*at(p, (size-1)/pageSize*pageSize) = 8
		require.False(t, touched(p, size, 9), size)
	}
}

// TestMadeIsAligned covers the alignments that traces request.
func TestMadeIsAligned(t *testing.T) {
	for align := 1; align <= 1<<20; align *= 2 {
		for _, size := range []int{0, 1, 100, 5000} {
			p := made(size, align)
			require.Zero(t, uintptr(p)&uintptr(align-1), "size=%d align=%d", size, align)
			mark(p, size, 1)
		}
	}
}

func TestUsage(t *testing.T) {
	if residentBytes() < 0 {
		t.Skip("skipped: resident memory is read on Linux only")
	}
	const size = 48 << 20
	// The block must not lie on pages of garbage, and no garbage may be freed meanwhile.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	debug.FreeOSMemory()
	before := residentBytes()
	minor, _ := faults()
	p := made(size, 0)
	touch(p, size, 1)
	after, _ := faults()
	require.Greater(t, residentBytes()-before, int64(size/2))
	require.GreaterOrEqual(t, peakRSS(), residentBytes()-size/4)
	require.Greater(t, after, minor)
	require.True(t, touched(p, size, 1))
}
