package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	require.Equal(t, 5, median([]int{5}))
	require.Equal(t, 2, median([]int{7, 2}))
	require.Equal(t, 3, median([]int{9, 1, 3}))
	require.Equal(t, 2.5, median([]float64{4, 2.5, 1, 3}))
}

func TestSettle(t *testing.T) {
	r := &row{workload: "chunk-two", allocator: "universe"}
	for _, v := range []float64{30, 10, 20} {
		r.samples = append(r.samples, sample{
			NsPerOp: v, P50: 2 * v, PeakRSS: -1, GoAllocs: int64(v), More: map[string]float64{"ratio": v / 10},
		})
	}
	r.samples[1].Wrong = "no"
	r.second.More = map[string]float64{"utilisation": 0.9}
	r.settle()
	r.judge(false)
	require.Equal(t, "no", r.wrong)
	require.Equal(t, 20.0, r.mid.NsPerOp)
	require.Equal(t, 40.0, r.mid.P50)
	require.Equal(t, int64(20), r.mid.GoAllocs)
	require.Equal(t, map[string]float64{"ratio": 2, "utilisation": 0.9}, r.mid.More)
	require.Len(t, r.verdicts, 1)
	require.Equal(t, "ratio 2: floor 1.3 MISSED, goal 1.1 MISSED", r.verdicts[0].String())
}

func TestVerdicts(t *testing.T) {
	most := target{figure: nsPerOp, floor: 12, goal: 5}
	least := target{figure: "utilisation", floor: 0.75, goal: 0.85, least: true}
	for _, c := range []struct {
		v    verdict
		says string
		json map[string]any
	}{
		{verdict{most, 5}, "floor 12 holds, goal 5 holds",
			map[string]any{"target": nsPerOp, "floor": 12.0, "holds_floor": true, "goal": 5.0, "holds_goal": true}},
		{verdict{most, 12.5}, "floor 12 MISSED, goal 5 MISSED",
			map[string]any{"target": nsPerOp, "floor": 12.0, "holds_floor": false, "goal": 5.0, "holds_goal": false}},
		{verdict{least, 0.8}, "utilisation 0.8: floor 0.75 holds, goal 0.85 MISSED",
			map[string]any{"target": "utilisation", "floor": 0.75, "holds_floor": true,
				"goal": 0.85, "holds_goal": false}},
		{verdict{target{figure: "search_ns", goal: 5}, 152}, "search 152: goal 5 MISSED",
			map[string]any{"target": "search_ns", "goal": 5.0, "holds_goal": false}},
	} {
		require.Equal(t, c.says, c.v.String())
		got := map[string]any{}
		c.v.into(got)
		require.Equal(t, c.json, got)
	}
}

// TestTargetsNameWhatThereIs: every target names a workload and allocators that exist, so that a
// typo drops none.
func TestTargetsNameWhatThereIs(t *testing.T) {
	for _, target := range targets {
		require.True(t, target.workload == tracesName || workloadNamed(target.workload) != nil, target.workload)
		require.NotEmpty(t, target.allocators)
		require.True(t, target.floor > 0 || target.goal > 0)
		for _, name := range target.allocators {
			require.Contains(t, []string{"universe", "heap", "local"}, name)
			if a := allocatorNamed(name); a != nil {
				require.True(t, a.ours, name)
			}
		}
	}
}

// traceRows are rows of two traces, as measured, with a reference for them.
func traceRows(t *testing.T) ([]*row, *reference) {
	ref, err := readReference(writeFile(t, filepath.Join(t.TempDir(), "REFERENCE.csv"), referenceHeader+
		"a,libc,100,2,500,5000000,6000000,0.8,0\nb,libc,100,32,31,400,6000,0.1,0\n"))
	require.NoError(t, err)
	var rows []*row
	for _, c := range []struct {
		trace      string
		ns         float64
		peak, used float64
	}{{"a", 4, 5e6, 0.8}, {"b", 9, 400, 0.1}, {builtIn, 50, 18e6, 0.5}} {
		r := &row{workload: tracesName + "/" + c.trace, allocator: "heap", ours: true}
		r.samples = []sample{{NsPerOp: c.ns, Ops: 10}}
		r.second.More = map[string]float64{"utilisation": c.used, "peak_live_bytes": c.peak}
		r.settle()
		rows = append(rows, r)
	}
	return rows, ref
}

func TestMeans(t *testing.T) {
	rows, ref := traceRows(t)
	got := means(rows, ref)
	require.Len(t, got, 1)
	got[0].judge(false)
	require.Equal(t, "traces", got[0].workload)
	require.InDelta(t, 6.0, got[0].mid.NsPerOp, 1e-12)
	require.InDelta(t, 0.8, got[0].mid.More["utilisation"], 1e-12)
	require.Len(t, got[0].verdicts, 3)
	require.InDelta(t, 0.8, got[0].mid.More["worst_utilisation"], 1e-12)
	got = means(rows[1:], ref) // one trace of the reference is missing: no mean of times
	require.Empty(t, got)
	require.Empty(t, means(rows, &reference{}))
}

func TestTracesTable(t *testing.T) {
	rows, ref := traceRows(t)
	rows = append(rows, means(rows, ref)...)
	for _, r := range rows {
		r.judge(false)
	}
	var out bytes.Buffer
	printTraces(&out, rows, ref)
	text := out.String()
	require.Regexp(t, `(?m)^trace +heap +.*\| +libc$`, text)
	require.Regexp(t, `(?m)^a +4 +.*\| +2$`, text)
	require.Regexp(t, `(?m)^built-in +50 +.*\| +-$`, text)
	require.Regexp(t, `(?m)^geometric mean +6 +.*\| +8$`, text)
	require.Regexp(t, `(?m)^geometric mean +0.8 +.*\| +0.8$`, text)
	require.Contains(t, text,
		"traces, heap: floor 12 holds; utilisation 0.8: floor 0.88 MISSED; worst_utilisation 0.8: floor 0.7 holds")
	out.Reset()
	require.NoError(t, printJSON(&out, rows))
	var list []map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &list))
	require.Len(t, list, 4)
	require.Equal(t, 0.8, list[3]["utilisation"])
	require.Equal(t, nsPerOp, list[3]["target"])
	require.Equal(t, true, list[3]["holds_floor"])
	require.Equal(t, false, list[3]["utilisation_holds_floor"])
	require.Equal(t, true, list[3]["worst_utilisation_holds_floor"])
	require.NotContains(t, list[3], "p50_ns")
	out.Reset()
	printTraces(&out, nil, ref)
	require.Empty(t, out.String())
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "-", 0: "0 B", 999: "999 B", 1000: "0.977 KiB", 1 << 20: "1 MiB", 16 << 30: "16 GiB",
	} {
		require.Equal(t, want, size(n))
	}
}

// TestNullBooks: the null allocator counts, and its places move between handles.
func TestNullBooks(t *testing.T) {
	m, err := newNull()
	require.NoError(t, err)
	other, err := m.fork()
	require.NoError(t, err)
	p, err := m.alloc(64, 0)
	require.NoError(t, err)
	require.ErrorIs(t, m.close(), errWrong)
	other.free(p, 64, 0)
	require.NoError(t, other.retire())
	q, err := m.alloc(40, 0) // the same power of two
	require.NoError(t, err)
	require.Equal(t, p, q)
	m.free(q, 40, 0)
	require.NoError(t, m.close())
}
