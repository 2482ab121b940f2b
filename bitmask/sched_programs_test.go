//go:build bitmask_sched

package bitmask

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// wordWith starts with a Word whose units in use are those of the mask.
func wordWith(used uint64) func() system {
	return func() system {
		s := new(oneWord)
		s.w.v.Or(used)
		return s
	}
}

// towerWith starts with a Hierarchy of the given number of words, a topmost
// summary of one word, and all units in use but those listed. The summaries of
// runs of 8 and more have no bit set, for no program frees that many units; they
// are declared still, which takes their loads out of the orders to explore.
func towerWith(words int, free ...int) func() system {
	return func() system {
		h := NewHierarchy(words * WordBits)
		for i := range words {
			h.TryAllocAt(i*WordBits, WordBits)
		}
		for _, at := range free {
			h.TryFree(at, 1)
		}
		for i := range h.words { // clear what the classes passed through left
			for class := range h.summaries {
				if s := &h.summaries[class]; !s.open(0, i) {
					s.settle(0, i)
				}
			}
		}
		for class := range notFull {
			for k := range h.summaries[class].levels {
				for i := range h.summaries[class].levels[k] {
					h.summaries[class].levels[k][i].v.still = class >= 3
				}
			}
		}
		return tower{h}
	}
}

var (
	single    = call{kind: alloc, n: 1}
	two       = call{kind: alloc, n: 2}
	back      = call{kind: freeMine}
	lastOf65  = 64 * WordBits // the first unit of word 64, alone under its own summary word
	wordTests = []program{
		{"two goroutines, two units", wordWith(^uint64(3)), [][]call{{single, back, single}, {single, back, single}}},
		{"three goroutines, two units", wordWith(^uint64(3)), [][]call{{single, back}, {single, back}, {single, back}}},
		{"runs and singles", wordWith(^uint64(0b0110_0111)), [][]call{{two, back}, {single, back}, {{allocAt, 1, 2}}}},
		{"double free", wordWith(0b11), [][]call{{{free, 0, 2}}, {{free, 0, 2}}, {single}}},
		{"free in part", wordWith(0b111), [][]call{{{free, 0, 2}, single}, {{free, 1, 2}, two}}},
		{"the whole word", wordWith(0), [][]call{{{alloc, 0, 64}, back}, {single, back}, {{look, 0, 0}, {look, 0, 0}}}},
		{"long histories", wordWith(^uint64(1)), [][]call{{single, back, single, back}, {single, back, single, back}}},
	}
	towerTests = []program{
		{"the last unit", towerWith(2, 70), [][]call{{single, back, single}, {single, back}}},
		{"free and alloc", towerWith(2), [][]call{{{free, 70, 1}, {free, 3, 1}}, {single, single}}},
		{"two free, one takes", towerWith(2), [][]call{{{free, 70, 1}}, {{free, 71, 1}}, {single, single}}},
		{"a refusal while another settles", towerWith(2, 70), [][]call{{single}, {{free, 80, 1}, single}, {{free, 81, 1}}}},
		{"double free", towerWith(2), [][]call{{{free, 70, 1}, single}, {{free, 70, 1}}, {single}}},
		{"runs", towerWith(2, 4, 5, 70), [][]call{{two, back}, {{alloc, 0, 1}, back}, {{allocAt, 4, 1}}}},
		{"runs opened and closed", towerWith(2, 70, 72), [][]call{{{free, 71, 1}}, {two, back}, {single}}},
		{"four units, all classes of them", towerWith(2, 68, 69, 70, 71), [][]call{{{alloc, 0, 4}, back}, {{alloc, 0, 3}, back}}},
		{"a run that is left shorter", towerWith(2, 68, 69, 70, 71), [][]call{{two}, {single}}},
		{"a run from two frees", towerWith(2), [][]call{{{free, 70, 1}}, {{free, 71, 1}}, {two, back}}},
		{"two levels, the last unit", towerWith(65, lastOf65), [][]call{{single, back}, {single, back}}},
		{"two levels, free and alloc", towerWith(65, lastOf65), [][]call{{single}, {{free, lastOf65 + 1, 1}}, {{free, 9, 1}}}},
		{"two levels, take and give", towerWith(65, lastOf65), [][]call{{{allocAt, lastOf65, 1}}, {{free, lastOf65 + 1, 1}}, {{allocAt, lastOf65 + 1, 1}}}},
		{"three on one unit", towerWith(2, 70), [][]call{{single, back}, {single, back}, {single, back}}},
	}
)

// TestSchedExploresEveryOrder counts: k goroutines of 2 accesses each have
// (2k)!/2^k orders.
func TestSchedExploresEveryOrder(t *testing.T) {
	looks := []call{{kind: look}, {kind: look}}
	for k, want := range map[int]int{1: 1, 2: 6, 3: 90} {
		p := program{"looks", wordWith(0), nil}
		for range k {
			p.threads = append(p.threads, looks)
		}
		got := explore(p, false)
		require.Empty(t, got.failure)
		require.Equal(t, want, got.runs)
	}
}

// TestSchedMergesNothingThatDiffers runs programs with and without the merging
// of states: the verdict is the same for sound code and for a defect.
func TestSchedMergesNothingThatDiffers(t *testing.T) {
	p := program{"two allocs", wordWith(^uint64(3)), [][]call{{single, back}, {single, back}}}
	merged, apart := explore(p, true), explore(p, false)
	require.Empty(t, merged.failure)
	require.Empty(t, apart.failure)
	require.Less(t, merged.states, apart.states)
	plant(t, storeForSwap)
	require.NotEmpty(t, explore(p, true).failure)
	require.NotEmpty(t, explore(p, false).failure)
}

// TestSchedModelRefuses shows histories to the model that no order explains, and
// one that an order does.
func TestSchedModelRefuses(t *testing.T) {
	s := new(oneWord)
	history := func(o ...outcome) (list []*outcome) {
		for i := range o {
			o[i].id = i
			list = append(list, &o[i])
		}
		return list
	}
	got0 := outcome{call: single, got: 0, saw: 0, ok: true}
	require.True(t, linearizable(history(got0), []uint64{0}, []uint64{1}, s))
	require.False(t, linearizable(history(got0), []uint64{0}, []uint64{3}, s), "other words than memory has")
	require.False(t, linearizable(history(got0, got0), []uint64{0}, []uint64{1}, s), "one unit for two")
	next := outcome{call: single, got: 1, saw: 1, ok: true}
	require.True(t, linearizable(history(next, got0), []uint64{0}, []uint64{3}, s))
	late := got0
	late.over = 1
	require.False(t, linearizable(history(next, late), []uint64{0}, []uint64{3}, s), "against the order in time")
}

func TestSchedWord(t *testing.T) {
	for _, p := range wordTests {
		t.Run(p.name, func(t *testing.T) { sound(t, p) })
	}
}

func TestSchedHierarchy(t *testing.T) {
	for _, p := range towerTests {
		t.Run(p.name, func(t *testing.T) { sound(t, p) })
	}
}

func sound(t *testing.T, p program) {
	got := explore(p, true)
	require.Empty(t, got.failure)
	require.Positive(t, got.runs)
	t.Logf("%d states, %d runs to the end", got.states, got.runs)
}

// plant puts one defect into the protocols until the test ends.
func plant(t *testing.T, m mutation) {
	mutant = m
	t.Cleanup(func() { mutant = healthy })
}

// caught plants a defect and requires that an order of one of the programs shows
// it, for the reason given.
func caught(t *testing.T, m mutation, programs []program, why string) {
	t.Helper()
	plant(t, m)
	for _, p := range programs {
		if got := explore(p, true); got.failure != "" {
			require.Contains(t, got.failure, why)
			t.Log(got.failure)
			return
		}
	}
	t.Fatalf("no program shows the defect")
}

const (
	unexplained = "no order of the calls explains the results"
	staleBit    = "I6: word"
)

func TestSchedCatchesStoreForSwap(t *testing.T) { caught(t, storeForSwap, wordTests, unexplained) }

func TestSchedCatchesStaleSearch(t *testing.T) { caught(t, staleSearch, wordTests, unexplained) }

func TestSchedCatchesUncheckedFree(t *testing.T) { caught(t, uncheckedFree, wordTests, unexplained) }

func TestSchedCatchesDroppedRecheck(t *testing.T) { caught(t, dropRecheck, towerTests, staleBit) }

func TestSchedCatchesDroppedUpperRecheck(t *testing.T) {
	caught(t, dropUpperRecheck, towerTests, "below level 1 of class")
}

func TestSchedCatchesRecheckBeforeClear(t *testing.T) { caught(t, recheckFirst, towerTests, staleBit) }

func TestSchedCatchesRaiseBeforeFree(t *testing.T) { caught(t, raiseBeforeFree, towerTests, staleBit) }

func TestSchedCatchesForgottenClass(t *testing.T) { caught(t, forgetClass, towerTests, staleBit) }

func TestSchedCatchesTrustInSummaries(t *testing.T) { caught(t, trustSummary, towerTests, unexplained) }

// TestSchedConstantSteps counts accesses to atomic words: with one place left
// among 2^20 units, and every other word broken up so far that the run does not
// fit, finding it takes the same few wherever it is.
func TestSchedConstantSteps(t *testing.T) {
	const units = 1 << 20
	accesses := 0
	count := func(f func()) int {
		accesses = 0
		turn = func() func(uint64) { accesses++; return func(uint64) {} }
		f()
		turn = nil
		return accesses
	}
	for n := 1; n <= WordBits; n *= 2 {
		h := NewHierarchy(units)
		for i := 0; i < units; i += WordBits {
			if n == 1 {
				h.TryAllocAt(i, WordBits)
				continue
			}
			for at := i + n - 1; at < i+WordBits; at += n {
				h.TryAllocAt(at, 1) // leaves runs of n-1
			}
		}
		for _, far := range []int{0, units / 3 / WordBits * WordBits, units - WordBits} {
			require.True(t, h.TryFree(far+n-1, 1))
			// What ceased to count is looked at once, here.
			h.First()
			_, ok := h.TryAlloc(n)
			require.True(t, ok)
			require.True(t, h.TryFree(far, n))
			// 4 words of the upper level, 1 of the lower, 1 at the bottom.
			if n == 1 {
				require.LessOrEqual(t, count(func() {
					at, ok := h.First()
					require.True(t, ok)
					require.Equal(t, far, at)
				}), 6)
			}
			// The same, a look for a tighter word, the swap, and two tests for the class
			// that is left.
			require.LessOrEqual(t, count(func() {
				at, ok := h.TryAlloc(n)
				require.True(t, ok)
				require.Equal(t, far, at)
			}), 16, "n=%d at %d", n, far)
			require.True(t, h.TryFree(far, n))
			require.True(t, h.TryAllocAt(far+n-1, 1))
		}
	}
}
