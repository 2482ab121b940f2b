package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// checkHeld checks a sample of a workload that measures memory, with or without percentiles.
func checkHeld(t *testing.T, s sample) {
	t.Helper()
	require.Empty(t, s.Wrong)
	require.Positive(t, s.Ops)
	require.Positive(t, s.NsPerOp)
	require.NotEmpty(t, s.More)
}

// TestFragmentFrees: nine tenths of the blocks are freed, in an order that is not theirs, and
// sizes spread over the range.
func TestFragmentFrees(t *testing.T) {
	f := newFragments(makeMemory{}, 100, 199, 150_000)
	n := len(f.sizes)
	require.InDelta(t, 1000, n, 20)
	require.Equal(t, n/10, len(f.staying()))
	seen := make([]bool, n)
	moved := 0
	for i, k := range append(append([]int32{}, f.doomed()...), f.staying()...) {
		require.False(t, seen[k])
		seen[k] = true
		if int(k) != i {
			moved++
		}
	}
	require.Greater(t, moved, n/2)
	sum, low := 0, 0
	for _, size := range f.sizes {
		require.True(t, size >= 100 && size <= 199)
		sum += int(size)
		if size < 150 {
			low++
		}
	}
	require.True(t, sum >= 150_000 && sum < 150_200)
	require.InDelta(t, 0.5, float64(low)/float64(n), 0.05)
}

// TestFragmentFigures: each method has its figures, and blocks that stay are compared as a whole.
func TestFragmentFigures(t *testing.T) {
	if residentBytes() < 0 {
		t.Skip("skipped: resident memory is read on Linux only")
	}
	for _, c := range []struct {
		second   bool
		has, not []string
	}{
		{false, []string{"live_mb", "at_once_mb", "trimmed_mb", "trim_ms", "left_mb"}, []string{"itself_mb"}},
		{true, []string{"live_mb", "itself_mb", "left_itself_mb"}, []string{"at_once_mb", "trimmed_mb"}},
	} {
		s, err := spec{Workload: "fragment", Allocator: "heap", Second: c.second}.run(tiny)
		require.NoError(t, err)
		checkHeld(t, s)
		for _, name := range c.has {
			require.Contains(t, s.More, name)
		}
		for _, name := range c.not {
			require.NotContains(t, s.More, name)
		}
		require.Positive(t, s.CommittedPeak)
	}
	f := newFragments(makeMemory{}, 16, 64, 10_000)
	require.NoError(t, f.get())
	require.NoError(t, f.check())
	i := f.staying()[0]
	*at(f.blocks[i], int(f.sizes[i])/2) ^= 1
	require.ErrorIs(t, f.check(), errWrong)
}

// counted counts calls and refuses from a number of live blocks on.
type counted struct {
	makeMemory
	allocs, live, most int
}

func (m *counted) alloc(size, align int) (unsafe.Pointer, error) {
	if m.allocs++; m.most > 0 && m.live == m.most {
		return nil, errors.New("refused")
	}
	m.live++
	return m.makeMemory.alloc(size, align)
}

func (m *counted) free(p unsafe.Pointer, size, align int) { m.live-- }

func TestRestCallsNowAndThen(t *testing.T) {
	m := &counted{}
	require.NoError(t, rest(m, 4*tick))
	require.Positive(t, m.allocs)
	require.LessOrEqual(t, m.allocs, 5)
	require.Zero(t, m.live)
	require.Error(t, rest(&counted{most: 1, live: 1}, tick))
}

// TestCountEndsAtARefusal: a refusal is a figure, not an error; so is a bound on memory.
func TestCountEndsAtARefusal(t *testing.T) {
	m := &counted{most: 7}
	e, err := newEnv(func() (memory, error) { return m, nil }, tiny)
	require.NoError(t, err)
	require.NoError(t, hugeCount(e))
	require.Equal(t, 7.0, e.out.More["live_blocks"])
	require.Equal(t, 1.0, e.out.More["refused"])
	require.Zero(t, m.live)

	m.most = 0
	e.scale.held.resident = -1 << 40
	e.out.More = map[string]float64{}
	require.NoError(t, hugeCount(e))
	require.Equal(t, map[string]float64{"live_blocks": 0, "stopped": 1}, e.out.More)
	require.Equal(t, 1, e.out.Ops)
}

// inPlace is a memory whose reallocs move nothing but every third time.
type inPlace struct {
	makeMemory
	calls, most int
}

func (m *inPlace) alloc(size, align int) (unsafe.Pointer, error) { return made(m.most, align), nil }

func (m *inPlace) realloc(p unsafe.Pointer, old, size int) (unsafe.Pointer, error) {
	if m.calls++; m.calls%3 != 0 {
		return p, nil
	}
	q := made(m.most, 0)
	move(q, p, old)
	return q, nil
}

func TestGrowthCountsMoves(t *testing.T) {
	m := &inPlace{most: 1 << 20}
	p, moves, err := grow(m, 1<<20)
	require.NoError(t, err)
	require.Equal(t, m.calls/3, moves)
	steps := 0
	for room := growthFirst; room < 1<<20; room = grownFrom(room, 1<<20) {
		steps++
	}
	require.Equal(t, steps, m.calls)
	require.NoError(t, checkGrown(p, 1<<20))
	for _, at := range []int{0, growthFirst, 1<<20 - 1} {
		b := (*byte)(unsafe.Add(p, at))
		*b ^= 1
		require.ErrorIs(t, checkGrown(p, 1<<20), errWrong)
		*b ^= 1
	}
	p, moves, err = grow(m, 100) // less than the first room
	require.NoError(t, err)
	require.Zero(t, moves)
	require.NoError(t, checkGrown(p, 100))
}

func TestPairsOf(t *testing.T) {
	require.Equal(t, 4, pairsOf(64<<20, 4096))
	require.Equal(t, 16, pairsOf(16<<20, 4096))
	require.Equal(t, 4096, pairsOf(16<<10, 4096))
	require.Equal(t, 1, blocksOf(64<<20, 16<<20))
	require.Equal(t, 16, blocksOf(16<<20, 256<<20))
}

// TestModernc: alignments of its own are kept, and its blocks are counted.
func TestModernc(t *testing.T) {
	m, err := newModernc()
	require.NoError(t, err)
	for align := 0; align <= 1<<20; align = max(1, 2*align) {
		for _, size := range []int{0, 1, 100, 70_000} {
			p, err := m.alloc(size, align)
			require.NoError(t, err)
			require.NotNil(t, p)
			require.Zero(t, uintptr(p)&uintptr(max(align, 16)-1), "size=%d align=%d", size, align)
			fill(p, size, 7)
			require.Equal(t, -1, firstOther(p, size, 7))
			m.free(p, size, align)
		}
	}
	p, err := m.alloc(10, 0)
	require.NoError(t, err)
	fill(p, 10, 3)
	p, err = m.realloc(p, 10, 100_000)
	require.NoError(t, err)
	require.Equal(t, -1, firstOther(p, 10, 3))
	_, err = m.fork()
	require.Error(t, err)
	require.Nil(t, allocatorNamed("modernc").opener(blocks))
	require.NotNil(t, allocatorNamed("modernc").opener(held))
	require.ErrorIs(t, m.close(), errWrong)
}

// TestHeldTables prints a row of each table.
func TestHeldTables(t *testing.T) {
	var rows []*row
	for workload, figures := range map[string]map[string]float64{
		"fragment":   {"live_mb": 49, "trimmed_mb": 77, "itself_mb": 558},
		"huge/count": {"live_blocks": 16382, "refused": 1},
		"growth":     {"ms": 7.6, "moves": 33, "peak_per_byte": 1.8},
	} {
		r := newRow(workload, allocatorNamed("heap"))
		r.samples = []sample{{NsPerOp: 12, Ops: 1, More: figures}}
		r.settle()
		r.judge(false)
		rows = append(rows, r)
	}
	var out bytes.Buffer
	printRows(&out, rows)
	require.Empty(t, out.String())
	printHeld(&out, rows)
	text := out.String()
	require.Regexp(t,
		`fragment +heap +49 +- +77 +558 +- +12 +- +- +`+
			`trimmed_mb 77: floor 80 holds; itself_mb 558: floor 100 MISSED`, text)
	require.Regexp(t, `huge/count +heap +- +12 +1.638e\+04 +live_blocks 1.64e\+04: floor 100000 MISSED; refused`, text)
	require.Regexp(t, `growth +heap +7.6 +33 +1.8 +peak_per_byte 1.8: floor 1.1 MISSED`, text)
}

// TestQuickJudgesNoAmounts: a bound in MB is for the whole amount of work.
func TestQuickJudgesNoAmounts(t *testing.T) {
	for isQuick, want := range map[bool]int{false: 1, true: 0} {
		r := newRow("fragment/small", allocatorNamed("heap"))
		r.mid.More = map[string]float64{"trimmed_mb": 5}
		r.judge(isQuick)
		require.Len(t, r.verdicts, want)
	}
}

// TestGrowthEndToEnd: every allocator of Go has a row, and the table is printed with its targets.
func TestGrowthEndToEnd(t *testing.T) {
	out, errs, code := in("-quick", "-json", "-only", "growth")
	require.Equal(t, exitOK, code, errs)
	var got []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.GreaterOrEqual(t, len(got), 4)
	for i, allocator := range []string{"heap", "local", "go", "modernc"} {
		require.Equal(t, allocator, got[i]["allocator"])
	}
	for _, o := range got {
		require.Equal(t, "growth", o["workload"])
		require.Equal(t, true, o["right"])
		require.Positive(t, o["ms"])
		require.Contains(t, o, "moves")
		_, sampled := o["p50_ns"]
		require.Equal(t, sampled, o["sampled_by"] != nil)
		require.Equal(t, sampled, o["go_allocs"] != nil)
	}
	require.Equal(t, 1.1, got[0]["floor"])
}

// TestQuickLeavesLongRowsOut: their workload is still a word for -only.
func TestQuickLeavesLongRowsOut(t *testing.T) {
	count := func(isQuick bool) int {
		o := &options{only: []string{"huge"}, quick: isQuick}
		return len(o.plan(&reference{}, nil, pointers(allocators)).rows)
	}
	require.Equal(t, 12*4, count(false)) // heap, local, go, modernc
	require.Equal(t, 4*4, count(true))
	for i := range workloads {
		require.Equal(t, workloads[i].long, workloads[i].long && family(workloads[i].name) == "huge")
	}
	p := (&options{only: []string{"fragment"}}).plan(&reference{}, nil, pointers(allocators))
	require.Len(t, p.once, len(p.round))
	require.True(t, p.once[0].spec.Second)
}

// TestCompare: times less their harness, ours by theirs.
func TestCompare(t *testing.T) {
	ref := &reference{traces: []string{"a"}}
	var rows []*row
	for _, c := range []struct {
		a  *allocator
		ns float64
	}{
		{allocatorNamed("heap"), 14}, {allocatorNamed("null"), 4},
		{&allocator{name: "glibc", peer: &peer{}}, 11}, {&allocator{name: "mimalloc", peer: &peer{}}, 6},
		{&allocator{name: peerNull, peer: &peer{}, reuses: true}, 1},
	} {
		r := newRow(tracesName+"/a", c.a)
		r.samples = []sample{{NsPerOp: c.ns, Ops: 1}}
		rows = append(rows, r)
	}
	rows = (&plan{rows: rows}).figures(ref, false)
	require.Len(t, rows, 10)
	ours := rows[5]
	require.Equal(t, tracesName, ours.workload)
	require.Equal(t, "heap", ours.allocator)
	require.InDelta(t, 10, ours.mid.NsPerOp-ours.harness, 1e-9)
	require.InDelta(t, 1, ours.mid.More["to_glibc"], 1e-9)
	require.InDelta(t, 2, ours.mid.More["to_mimalloc"], 1e-9)
	require.NotContains(t, rows[7].mid.More, "to_mimalloc")
	require.Equal(t, 1.0, rows[2].harness)
}

// TestSecondMethods: what they found is added to the row, and a wrong answer of one is not lost.
func TestSecondMethods(t *testing.T) {
	r := newRow("fragment", allocatorNamed("heap"))
	r.add(spec{}, sample{NsPerOp: 1})
	r.add(spec{Second: true}, sample{More: map[string]float64{"itself_mb": 5}, Wrong: "no"})
	r.add(spec{Second: true}, sample{More: map[string]float64{"other": 6}})
	r.settle()
	require.Len(t, r.samples, 1)
	require.Equal(t, "no", r.wrong)
	require.Equal(t, map[string]float64{"itself_mb": 5, "other": 6}, r.mid.More)
}
