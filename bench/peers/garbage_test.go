package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/mmap"
)

// objects runs the command with -json in this process and returns the printed objects by entrant.
func objects(t *testing.T, args ...string) map[string]map[string]any {
	out, errs, code := in(append(args, "-quick", "-json")...)
	require.Equal(t, exitOK, code, errs)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	m := map[string]map[string]any{}
	for _, o := range list {
		require.Equal(t, true, o["right"])
		m[o["entrant"].(string)] = o
	}
	return m
}

// TestGarbage: 64 MB of garbage next to a small world make the collector run, but not within a
// budget.
func TestGarbage(t *testing.T) {
	got := objects(t, "-only", "gc", "-n", "64000")
	require.Len(t, got, len(garbageWays))
	for name, o := range got {
		for _, key := range []string{"build_ms", "full_gc_ms", "full_gc_least_ms", "garbage_ms"} {
			require.Positive(t, o[key], "%s of %s", key, name)
		}
		for _, key := range []string{"gc_cycles", "gc_cpu_ms", "figure", "peak_bytes", "bytes_per_entity"} {
			require.GreaterOrEqual(t, o[key], 0.0, "%s of %s", key, name)
		}
		require.Nil(t, o["ns_per_entity"])
		require.Nil(t, o["p99_ns"])
		require.LessOrEqual(t, o["full_gc_least_ms"], o["full_gc_ms"])
		if name == quarryBudget || name == arkBudget {
			require.Zero(t, o["gc_cycles"], name)
		}
	}
	if !mmap.Real {
		return // there a universe's pages are ballast on the Go heap
	}
	for _, name := range []string{quarryBatch, goBoxes} {
		require.Positive(t, got[name]["gc_cycles"], name)
	}
}

// TestBudgetIsPutBack: a trial with a budget leaves the collector's setting as it was.
func TestBudgetIsPutBack(t *testing.T) {
	unlimited := alloc.GC{Percent: 100, Limit: 1 << 60}
	before := unlimited.Apply()
	defer before.Apply()
	s, err := withinBudget(buildQuarryMemoryN)(64)
	require.NoError(t, err)
	off := s.(offHeap).committed()
	require.Equal(t, alloc.GC{Percent: -1, Limit: budgetOf(64) - off}, unlimited.Apply())
	require.Positive(t, off)
	s.(*budgeted).before = alloc.GC{Percent: 70, Limit: 1 << 50}
	require.NoError(t, s.close())
	require.Equal(t, alloc.GC{Percent: 70, Limit: 1 << 50}, unlimited.Apply())
}

// TestScale: the curves have figures like any workload; sizes that are too large are left out, with
// a reason in words.
func TestScale(t *testing.T) {
	for _, name := range []string{"scale-create", "scale-iterate", "scale-get"} {
		got := objects(t, "-only", name, "-n", "640")
		require.Len(t, got, len(waysOf(name)))
		for entrant, o := range got {
			for _, key := range []string{"figure", "ns_per_entity", "p99_ns", "bytes_per_entity", "passes_per_sample"} {
				require.Positive(t, o[key], "%s of %s on %s", key, entrant, name)
			}
			require.Equal(t, 640.0, o["n"])
		}
		require.Positive(t, got[waysOf(name)[1].entrant]["ratio"])

		r := newResult(workloadNamed(name), 64*million, 1)
		require.NoError(t, r.leaveOut(1e6))
		for _, c := range r.list {
			require.Regexp(t, `^needs about \d+\.\d GB and 0\.0 GB are free; try -n \d+$`, c.out)
		}
		require.NoError(t, r.round(testBudget, func(int, string) {}))
		require.Nil(t, r.entry(r.list[0]).Figure)
	}
}

// TestSample: one index of each part, and all if there are as many parts.
func TestSample(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for k := 1; k <= n; k++ {
			at, found := 0, make([]int, k)
			for isIn := range sample(n, k) {
				if isIn {
					part := 0
					for (part+1)*n/k <= at {
						part++
					}
					found[part]++
				}
				at++
			}
			require.Equal(t, n, at)
			for part, count := range found {
				require.Equal(t, 1, count, "part %d of %d, n=%d", part, k, n)
			}
		}
	}
}

// TestSampleIsLookedUp: passes handle the sample, so the figure is per look-up.
func TestSampleIsLookedUp(t *testing.T) {
	s, err := newQuarrySample(1000, 10)
	require.NoError(t, err)
	for _, s := range []partial{s, newArkSample(1000, 10)} {
		require.Equal(t, 10, s.handled())
		s.(repeated).pass(3)
		require.NoError(t, s.check(3))
		require.ErrorIs(t, s.check(2), errWrong)
		require.NoError(t, s.close())
	}
}

// TestWrongInChild: a wrong result in a process of its own has no figure.
func TestWrongInChild(t *testing.T) {
	before := ways
	t.Cleanup(func() { ways = before })
	for _, name := range []string{"gc", "scale-get", "memory"} {
		ways = []way{{name, quarry, func(int) (trial, error) { return standing{wrong: true}, nil }}}
		a, err := spec{name, quarry, 64, testBudget.timed, testBudget.wall}.run()
		require.NoError(t, err)
		require.Equal(t, "wrong result: got 1, want 2", a.Wrong, name)
		require.Nil(t, a.Timing)
	}
}

// stepping is a trial of single steps that holds a block on the Go heap.
type stepping struct {
	endless
	block []byte
	given []uint32
}

func (s *stepping) steps(into []uint32) {
	s.given = into
	for i := range into {
		into[i] = uint32(i)
	}
}

func (s *stepping) check(int) error { return wantCount("bytes", len(s.block), 1<<20) }

// TestListOfSteps: the list of step times is made before the collector runs, so that the list does
// not start it, is reused, and is not part of what the trial holds.
func TestListOfSteps(t *testing.T) {
	var s *stepping
	c := &contender{n: million, way: &way{"create-worst", quarry, func(int) (trial, error) {
		s = &stepping{block: make([]byte, 1<<20)}
		return s, nil
	}}}
	require.NoError(t, c.begin())
	made := c.ns
	require.Len(t, made, million)
	for range 2 {
		require.NoError(t, c.round(testBudget))
		require.Same(t, &made[0], &s.given[0])
	}
	require.Equal(t, []float64{million - 1, million - 1}, c.rounds)
	require.InDelta(t, 1<<20, c.held, 100<<10)
}
