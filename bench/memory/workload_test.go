package main

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/debug"
)

// tiny is a scale at which a workload takes a few milliseconds.
var tiny = scale{time.Millisecond, time.Millisecond, 64, 50, 60, 40, 4, 50, 1, 20, 3, 32,
	heldScale{2 << 20, 15 * time.Millisecond, 3 << 20, 300, 64 << 20, 1 << 20}}

// TestWorkloads runs every workload on every allocator that takes it.
func TestWorkloads(t *testing.T) {
	for i := range workloads {
		w := &workloads[i]
		for k := range allocators {
			a := &allocators[k]
			if !w.takes(a) {
				continue
			}
			t.Run(w.name+"/"+a.name, func(t *testing.T) {
				if testing.Short() && w.long {
					t.Skip("skipped: blocks of another size, without -short")
				}
				s, err := spec{Workload: w.name, Allocator: a.name}.run(tiny)
				require.NoError(t, err)
				w.check(t, s)
				if a.ours {
					require.Positive(t, s.CommittedPeak)
					require.GreaterOrEqual(t, s.CommittedEnd, int64(0))
				} else {
					require.Equal(t, int64(-1), s.CommittedPeak)
				}
			})
		}
	}
}

// check checks a sample of the workload.
func (w *workload) check(t *testing.T, s sample) {
	t.Helper()
	if w.kind == held {
		checkHeld(t, s)
	} else {
		checkSample(t, s)
	}
}

func checkSample(t *testing.T, s sample) {
	t.Helper()
	require.Empty(t, s.Wrong)
	require.Positive(t, s.Ops)
	require.Positive(t, s.NsPerOp)
	require.Positive(t, s.P50)
	require.LessOrEqual(t, s.P50, s.P99)
	require.LessOrEqual(t, s.P99, s.P999)
	require.Positive(t, s.SampledBy)
}

// TestBooksOfWorkloads counts every block: none is lost, freed twice or freed with another size,
// and every handle is retired.
func TestBooksOfWorkloads(t *testing.T) {
	for i := range workloads {
		w := &workloads[i]
		if w.only != "" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			var spies []*spy
			e, err := newEnv(func() (memory, error) {
				spies = append(spies, newSpy(makeMemory{}, ""))
				return spies[len(spies)-1], nil
			}, tiny)
			require.NoError(t, err)
			if testing.Short() && w.long {
				t.Skip("skipped: blocks of another size, without -short")
			}
			s, err := e.finish(w.run(e))
			require.NoError(t, err)
			w.check(t, s)
			got := 0
			for _, spy := range spies {
				require.Empty(t, spy.bad)
				require.Empty(t, spy.live)
				require.Zero(t, spy.open.Load())
				got += spy.count
			}
			require.GreaterOrEqual(t, got, s.Ops)
		})
	}
}

// TestDefectsAreFound gives each workload a memory with a defect that the workload's checks must
// notice. A workload of one goroutine and one block can notice only where the block lies.
func TestDefectsAreFound(t *testing.T) {
	for workload, defect := range map[string]string{
		"chunk-pair": "crooked", "chunk-two": "crooked", "heap-pair": "crooked",
		"chunk-batch": "flip", "chunk-first": "twice", "chunk-churn": "twice",
		"heap-batch": "flip", "larson": "flip", "xmalloc": "flip", "rptest": "flip",
		"fragment/small": "flip", "huge/16KiB": "flip", "huge/count": "flip", "growth": "forgets",
	} {
		t.Run(workload, func(t *testing.T) {
			if w := workloadNamed(workload); w.kind == blocks && debug.On && !strings.HasPrefix(workload, "heap") {
				t.Skip("skipped: the defect writes to blocks of other goroutines, which the race detector stops")
			}
			e, err := newEnv(func() (memory, error) {
				if defect == "twice" {
					return &twice{}, nil
				}
				return newSpy(makeMemory{}, defect), nil
			}, tiny)
			require.NoError(t, err)
			s, err := e.finish(workloadNamed(workload).run(e))
			require.NoError(t, err)
			require.Contains(t, s.Wrong, "wrong answer: ")
		})
	}
}

// TestSearchLeavesOneChunk looks at the universe that chunk-search searches.
func TestSearchLeavesOneChunk(t *testing.T) {
	u, err := newUniverse(alloc.Size(6 << 20))
	require.NoError(t, err)
	e, err := newEnv(func() (memory, error) { return u, nil }, tiny)
	require.NoError(t, err)
	e.scale.full = 6
	require.NoError(t, chunkSearch(e))
	require.Equal(t, 6.0, e.out.More["megachunks"])
	require.Zero(t, u.u.Stats().LiveChunks)
	require.Equal(t, int64(6<<20), e.out.CommittedPeak)
	require.NoError(t, u.close())
}

// TestFullScaleIsAsDescribed pins the sizes that the targets assume.
func TestFullScaleIsAsDescribed(t *testing.T) {
	require.Equal(t, 10_000, whole.batch)
	require.Equal(t, 100_000, whole.first)
	require.Equal(t, 1000, whole.small)
	require.Equal(t, alloc.MaxSize/alloc.MegachunkSize, whole.full)
	require.Equal(t, 5000, whole.slots)
	require.Equal(t, 4096, whole.load)
	require.Equal(t, time.Second, whole.trace)
	require.Equal(t, heldScale{500e6, 2 * time.Second, 256 << 20, 100_000, 4 << 30, 64 << 20}, whole.held)
}

func TestTallyNotices(t *testing.T) {
	require.NoError(t, checkTally([]tally{{2, 0 + 3}, {2, 1 + 2}}, 4))
	require.ErrorIs(t, checkTally([]tally{{3, 6}}, 4), errWrong)
	require.ErrorIs(t, checkTally([]tally{{4, 5}}, 4), errWrong)
}

// TestFalloff: sizes stay in range, and three quarters of them are in the lower half.
func TestFalloff(t *testing.T) {
	low := 0
	list := falloff(10_000, rand.New(rand.NewPCG(7, 7)))
	for _, n := range list {
		require.GreaterOrEqual(t, n, rptestLeast)
		require.LessOrEqual(t, n, rptestMost)
		if n < (rptestLeast+rptestMost)/2 {
			low++
		}
	}
	require.InDelta(t, 0.75, float64(low)/float64(len(list)), 0.02)
}
