package bitmask_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bitmask"
)

// shelf is the slow twin of Hierarchy: a row of bools, searched word by word
// from the start.
type shelf struct {
	used  row
	units int
}

func newShelf(units int) *shelf {
	s := &shelf{used: make(row, (units+63)/64*64), units: units}
	s.used.SetRange(units, len(s.used)-units)
	return s
}

// TryAlloc takes the first run of n in the word that Fit describes.
func (s *shelf) TryAlloc(n int) (int, bool) {
	measure := func(word int) (longest, first int) {
		first = -1
		for at := word * 64; at < word*64+64; at++ {
			free := s.used.freeFrom(at, word*64+64)
			longest = max(longest, free)
			if free >= n && first < 0 {
				first = at
			}
		}
		return longest, first
	}
	own := 1
	for 2*own <= n {
		own *= 2
	}
	choose := func(class, from int, last bool) (at, next int) {
		at, next = -1, len(s.used)/64
		tightest, choices, short := 65, 0, 0
		for word := from; word < len(s.used)/64; word++ {
			longest, first := measure(word)
			if longest < class || longest >= 2*class {
				continue
			}
			if longest < n {
				if short++; short == 32 && !last {
					return at, word + 1
				}
				continue
			}
			if choices++; longest < tightest {
				at, tightest = first, longest
			}
			if choices == 4 || n == 1 || longest == max(n, class) {
				break
			}
		}
		return at, next
	}
	at, later := choose(own, 0, false)
	for class := 2 * own; at < 0 && class <= 64; class *= 2 {
		at, _ = choose(class, 0, true)
	}
	if at < 0 {
		at, _ = choose(own, later, true)
	}
	if at < 0 {
		return s.units, false
	}
	s.used.SetRange(at, n)
	return at, true
}

func (s *shelf) TryAllocAt(at, n int) bool {
	if s.used.CountRange(at, n) != 0 {
		return false
	}
	s.used.SetRange(at, n)
	return true
}

func (s *shelf) TryFree(at, n int) bool {
	if s.used.CountRange(at, n) != n {
		return false
	}
	s.used.ClearRange(at, n)
	return true
}

func (s *shelf) First() (int, bool) {
	if at, ok := s.used.FindRun(1); ok {
		return at, true
	}
	return s.units, false
}

func (s *shelf) Count() int { return s.used.CountRange(0, s.units) }

// churn makes the same calls on a hierarchy and on its twin, drawn from next,
// and compares every answer and, after each call, the invariants.
func churn(t *testing.T, units, calls int, next func(n int) int) {
	t.Helper()
	h, twin := bitmask.NewHierarchy(units), newShelf(units)
	most := 1 << next(7) // small runs fill words, large ones break them up
	for range calls {
		n := next(most) + 1
		at := next(max(units, 1))
		fits := at%64+n <= 64 && at+n <= units
		what := ""
		var got, want [2]any
		switch op := next(8); {
		case op < 4:
			what = fmt.Sprintf("TryAlloc(%d)", n)
			got[0], got[1] = h.TryAlloc(n)
			want[0], want[1] = twin.TryAlloc(n)
		case op < 5 && fits:
			what = fmt.Sprintf("TryAllocAt(%d, %d)", at, n)
			got[0], want[0] = h.TryAllocAt(at, n), twin.TryAllocAt(at, n)
		case op < 7 && fits:
			what = fmt.Sprintf("TryFree(%d, %d)", at, n)
			got[0], want[0] = h.TryFree(at, n), twin.TryFree(at, n)
		default:
			what = "First"
			got[0], got[1] = h.First()
			want[0], want[1] = twin.First()
		}
		if got != want {
			t.Fatalf("%s of %d units: got %v want %v", what, units, got, want)
		}
		if got, want := h.Count(), twin.Count(); got != want {
			t.Fatalf("Count after %s: got %d want %d", what, got, want)
		}
		if err := h.Verify(); err != nil {
			t.Fatalf("after %s of %d units: %v", what, units, err)
		}
	}
	for i := range units {
		require.Equal(t, twin.used[i], h.InUse(i))
	}
}

func TestHierarchyAgreesWithTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, units := range []int{0, 1, 63, 64, 65, 128, 300, 1000, 64 * 64, 64*64 + 1} {
		for range 16 {
			churn(t, units, 250, rng.IntN)
		}
	}
}

func FuzzHierarchy(f *testing.F) {
	f.Add(uint16(65), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint16(0), []byte{7})
	f.Add(uint16(4097), []byte("a run of calls that a reader may change"))
	f.Fuzz(func(t *testing.T, units uint16, data []byte) {
		if len(data) == 0 {
			return
		}
		i := 0
		churn(t, int(units)%5000, len(data)/3, func(n int) int {
			v := int(data[i%len(data)])<<8 | int(data[(i+1)%len(data)])
			i++
			return v % n
		})
	})
}

// TestHierarchyFillsAndEmpties takes every unit in order, is refused, frees one
// far away and gets that one: with 2^20 units the summaries have three levels.
func TestHierarchyFillsAndEmpties(t *testing.T) {
	units := 1 << 20
	if testing.Short() {
		units = 1 << 15
	}
	h := bitmask.NewHierarchy(units)
	for want := range units {
		at, ok := h.TryAlloc(1)
		if !ok || at != want {
			t.Fatalf("unit %d: got %d %v", want, at, ok)
		}
	}
	require.Equal(t, units, h.Count())
	at, ok := h.TryAlloc(1)
	require.Equal(t, []any{units, false}, []any{at, ok})
	at, ok = h.First()
	require.Equal(t, []any{units, false}, []any{at, ok})
	for k := range h.Levels() {
		for class := range 8 {
			for i := range h.Level(class, k) {
				require.Zero(t, h.Level(class, k)[i].Load(), "summary %d level %d word %d, all full", class, k, i)
			}
		}
	}
	for _, far := range []int{units - 1, units / 2, 64, 0} {
		require.True(t, h.TryFree(far, 1))
		require.False(t, h.TryFree(far, 1), "a double free")
		require.NoError(t, h.Verify())
		at, ok = h.First()
		require.Equal(t, []any{far, true}, []any{at, ok})
		at, ok = h.TryAlloc(1)
		require.Equal(t, []any{far, true}, []any{at, ok})
	}
}

func TestHierarchyLevels(t *testing.T) {
	for units, want := range map[int]int{
		0: 1, 1: 1, 64 * 64: 1, 64*64 + 1: 2, 64 * 64 * 64: 2, 64*64*64 + 1: 3, 1 << 20: 3,
	} {
		h := bitmask.NewHierarchy(units)
		require.Equal(t, want, h.Levels(), "%d units", units)
		require.Len(t, h.Level(0, want-1), 1, "the topmost level is one word")
	}
}

// TestHierarchyVerifyNamesI6 corrupts each level and checks the error of Verify.
func TestHierarchyVerifyNamesI6(t *testing.T) {
	h := bitmask.NewHierarchy(3*64*64 + 5)
	require.Equal(t, 2, h.Levels())
	require.NoError(t, h.Verify())
	h.Level(6, 0)[2].ClearBit(7)
	require.EqualError(t, h.Verify(),
		"bitmask: Hierarchy: I6: word 135 below level 0 of class 6 counts and its bit is clear")
	h.Level(6, 0)[2].SetBit(7)
	h.Level(2, 1)[0].ClearBit(3)
	require.EqualError(t, h.Verify(),
		"bitmask: Hierarchy: I6: word 3 below level 1 of class 2 counts and its bit is clear")
	h.Level(2, 1)[0].SetBit(3)
	for class := range 7 {
		h.TryAllocAt(11*64, 64)
		h.TryFree(11*64, 1<<class)
		h.Level(class, 0)[0].ClearBit(11)
		require.ErrorContains(t, h.Verify(), fmt.Sprintf("I6: word 11 below level 0 of class %d counts", class))
		h.Level(class, 0)[0].SetBit(11)
		require.NoError(t, h.Verify())
		h.Level(7, 0)[0].ClearBit(11)
		require.ErrorContains(t, h.Verify(), `I6: word 11 below level 0 of "not full" counts`)
		h.Level(7, 0)[0].SetBit(11)
		h.TryAllocAt(11*64, 1<<class)
		h.TryFree(11*64, 64) // as before
	}
	h.Word(192).ClearBit(5)
	require.ErrorContains(t, h.Verify(), "a bit past 12293 units is clear")
	h.Word(192).SetBit(5)
	require.NoError(t, h.Verify())
}

// TestHierarchyStaleBits sets summary bits above full words by hand, as a race
// between a free and an alloc may leave them: searches pass over them and clear
// them.
func TestHierarchyStaleBits(t *testing.T) {
	h := bitmask.NewHierarchy(3 * 64 * 64)
	for i := range 3 * 64 {
		require.True(t, h.TryAllocAt(i*64, 64))
	}
	_, ok := h.TryAlloc(1)
	require.False(t, ok)
	h.Level(0, 0)[0].SetBit(9)
	h.Level(0, 1)[0].SetBit(0)
	h.Level(0, 1)[0].SetBit(1)
	at, ok := h.TryAlloc(1)
	require.Equal(t, []any{h.Len(), false}, []any{at, ok})
	require.Zero(t, h.Level(0, 0)[0].Load())
	require.Zero(t, h.Level(0, 1)[0].Load())

	h.Level(0, 1)[0].SetBit(1)
	require.True(t, h.TryFree(130*64+3, 2))
	at, ok = h.First()
	require.Equal(t, []any{130*64 + 3, true}, []any{at, ok}, "past a bit that leads to a clear word")
	require.NoError(t, h.Verify())
}

func TestHierarchyBadArgumentsPanic(t *testing.T) {
	h := bitmask.NewHierarchy(100)
	for _, n := range []int{-1, 0, 65} {
		require.PanicsWithValue(t, badCount("Hierarchy.TryAlloc", n), func() { h.TryAlloc(n) })
	}
	for _, c := range [][2]int{{0, 0}, {0, 65}, {0, -1}, {-1, 1}, {60, 5}, {99, 2}, {100, 1}, {math.MaxInt, 1}} {
		want := func(name string) string {
			return fmt.Sprintf("bitmask: Hierarchy.%s: offset=%d n=%d is not a run inside one word of 100 units",
				name, c[0], c[1])
		}
		require.PanicsWithValue(t, want("TryAllocAt"), func() { h.TryAllocAt(c[0], c[1]) })
		require.PanicsWithValue(t, want("TryFree"), func() { h.TryFree(c[0], c[1]) })
	}
	for _, i := range []int{-1, 100} {
		require.PanicsWithValue(t, badBit("Hierarchy.InUse", i, 100), func() { h.InUse(i) })
	}
	require.PanicsWithValue(t, "bitmask: NewHierarchy: units=-1 is negative", func() { bitmask.NewHierarchy(-1) })
	require.Zero(t, h.Count(), "no refused call changed a unit")
}

// TestFitAligned: a search gives words with a run at a multiple of its length and no
// others, one at least when there are some, and looks at few that have none.
func TestFitAligned(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		h := bitmask.NewHierarchy(200 * 64)
		for i := range h.Words() {
			w := rng.Uint64() | rng.Uint64() | rng.Uint64()<<rng.IntN(64)
			for w := w; w != 0; w &= w - 1 {
				h.TryAllocAt(i*64+bits.TrailingZeros64(w), 1)
			}
		}
		for n := 1; n <= 64; n *= 2 {
			some, given := false, false
			for i := range h.Words() {
				_, ok := bitmask.FindAlignedRef(h.Word(i).Load(), n)
				some = some || ok
			}
			f := h.FitAligned(n)
			for i, ok := f.Next(); ok; i, ok = f.Next() {
				given = true
				_, ok := bitmask.FindAlignedRef(h.Word(i).Load(), n)
				require.True(t, ok, "n=%d word %d %#x", n, i, h.Word(i).Load())
			}
			require.Equal(t, some, given, "n=%d", n)
		}
	}
	h := bitmask.NewHierarchy(64)
	for _, n := range []int{-1, 0, 3, 65, 128} {
		require.Panics(t, func() { h.FitAligned(n) }, "n=%d", n)
	}
}

// TestHierarchyParallel has goroutines claim and free runs. Each marks the units
// it holds in an ordinary array, so the race detector and the marks both catch a
// unit that was handed out twice.
func TestHierarchyParallel(t *testing.T) {
	const units = 70 * 64
	h := bitmask.NewHierarchy(units)
	for i := range 66 * 64 {
		require.True(t, h.TryAllocAt(i, 1)) // what is left is tight and spans two summary words
	}
	var owner [units]int
	var wg sync.WaitGroup
	for g := 1; g <= 4; g++ {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(11, uint64(g)))
			var held [][2]int
			drop := func() {
				k := rng.IntN(len(held))
				at, n := held[k][0], held[k][1]
				held[k] = held[len(held)-1]
				held = held[:len(held)-1]
				for u := at; u < at+n; u++ {
					owner[u] = 0
				}
				if !h.TryFree(at, n) {
					t.Errorf("free of [%d, %d) refused", at, at+n)
				}
			}
			for range 20_000 {
				if len(held) > 0 && rng.IntN(2) == 0 {
					drop()
					continue
				}
				n := rng.IntN(24) + 1
				at, ok := h.TryAlloc(n)
				if !ok {
					continue
				}
				held = append(held, [2]int{at, n})
				for u := at; u < at+n; u++ {
					if owner[u] != 0 {
						t.Errorf("unit %d: got owner %d want none", u, owner[u])
					}
					owner[u] = g
				}
			}
			for len(held) > 0 {
				drop()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 66*64, h.Count())
	require.NoError(t, h.Verify())
}

// TestHierarchyInMemoryOfTheCaller: a hierarchy in memory of the caller is the same as one of its
// own, for every number of words around those where a level begins.
func TestHierarchyInMemoryOfTheCaller(t *testing.T) {
	for _, words := range []int{0, 1, 2, 63, 64, 65, 127, 128, 129, 64*64 - 1, 64 * 64, 64*64 + 1, 64*65 + 3} {
		for _, short := range []int{0, 1, 63} {
			units := max(0, words*64-short)
			memory := make([]bitmask.Word, bitmask.HierarchyWords(units)+1)
			h, own := bitmask.NewHierarchyIn(units, memory[:len(memory)-1]), bitmask.NewHierarchy(units)
			require.NoError(t, h.Verify())
			require.Equal(t, own.Levels(), h.Levels())
			require.Zero(t, h.Count())
			for class := range 8 {
				for k := range own.Levels() {
					require.Equal(t, own.Level(class, k), h.Level(class, k), "%d units, class %d, level %d",
						units, class, k)
				}
			}
			for range min(units, 70) {
				a, ok := own.TryAlloc(1)
				b, _ := h.TryAlloc(1)
				require.True(t, ok)
				require.Equal(t, a, b)
			}
			require.NoError(t, h.Verify())
			require.Zero(t, memory[len(memory)-1].Load(), "memory that it was not given")
			h, memory = nil, make([]bitmask.Word, len(memory))
			h = bitmask.NewHierarchyIn(units, memory[:len(memory)-1])
			for i := range min(units, 70) { // which notes the words in all classes
				require.True(t, h.TryAllocAt(i, 1))
				require.True(t, i%3 > 0 || h.TryFree(i, 1))
			}
			h.Erase(min(words, 2))
			for i := range memory {
				require.Zero(t, memory[i].Load(), "word %d of %d", i, len(memory))
			}
		}
	}
	require.PanicsWithValue(t, "bitmask: NewHierarchyIn: 3 words of memory for 64 units", func() {
		bitmask.NewHierarchyIn(64, make([]bitmask.Word, 3))
	})
}
