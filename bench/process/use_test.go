package process

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSinceCountsWhatWasUsed(t *testing.T) {
	before := Read()
	for range 3 {
		runtime.GC()
	}
	got := Read().Since(before)
	require.GreaterOrEqual(t, got.Cycles, uint64(3))
	require.Positive(t, got.GC)
	require.Positive(t, got.Pause())
	require.Less(t, got.Pause(), time.Minute)
	if runtime.GOOS == "linux" {
		require.GreaterOrEqual(t, got.CPU, time.Duration(0))
		require.Positive(t, Read().CPU)
	}
}

func TestPauseIsTheLongest(t *testing.T) {
	classes := []float64{0, 1e-6, 1e-3, 1}
	before := Use{pauses: &metrics.Float64Histogram{Counts: []uint64{0, 5, 1}, Buckets: classes}}
	after := func(counts ...uint64) Use {
		return Use{pauses: &metrics.Float64Histogram{Counts: counts, Buckets: classes}}
	}
	require.Zero(t, after(0, 5, 1).Since(before).Pause())
	require.Equal(t, time.Microsecond, after(0, 6, 1).Since(before).Pause())
	require.Equal(t, time.Millisecond, after(0, 6, 2).Since(before).Pause())
}

func TestMemory(t *testing.T) {
	require.Zero(t, Field("there is no such file", "VmHWM:"))
	if runtime.GOOS != "linux" {
		require.Zero(t, Peak())
		return
	}
	require.Zero(t, Field("/proc/self/status", "Name:"), "not a size")
	require.Positive(t, Free())
	require.GreaterOrEqual(t, Field("/proc/meminfo", "MemTotal:"), Free())
	before := Resident()
	b := make([]byte, 64<<20)
	for i := 0; i < len(b); i += 4 << 10 {
		b[i] = 1
	}
	require.Greater(t, Resident(), before+32<<20)
	require.GreaterOrEqual(t, Peak(), before+32<<20)
	runtime.KeepAlive(b)
}
