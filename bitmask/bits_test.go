package bitmask_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bitmask"
)

// shapes yields rows of 0 to 4 words whose runs meet every edge: empty, full,
// one run set or clear at each place around the edges of words, and random ones
// of several densities.
func shapes(yield func(bitmask.Bits) bool) {
	edges := []int{0, 1, 2, 31, 62, 63, 64, 65, 66, 126, 127, 128, 129, 190, 191, 192}
	for words := range 4 {
		empty := make(row, words*64)
		if !yield(empty.bits()) {
			return
		}
		for _, from := range edges {
			for _, to := range edges {
				if from >= to || to > len(empty) {
					continue
				}
				one := slices.Clone(empty)
				one.SetRange(from, to-from)
				b := one.bits()
				if !yield(b) {
					return
				}
				for i := range b {
					b[i] = ^b[i]
				}
				if !yield(b) {
					return
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 400 {
		if !yield(random(rng, i%5, i%40+1)) {
			return
		}
	}
}

// random returns words of runs with the given mean length.
func random(rng *rand.Rand, words, mean int) bitmask.Bits {
	r := make(row, words*64)
	bit := rng.IntN(2) == 0
	for i := range r {
		if rng.IntN(mean) == 0 {
			bit = !bit
		}
		r[i] = bit
	}
	return r.bits()
}

// searches is what Bits and its twin have in common.
type searches interface {
	FindRun(n int) (int, bool)
	FindBestRun(n int) (int, bool)
	LongestRun() (offset, n int)
}

// agree compares the searches of b with those of its twin for one n.
func agree(t *testing.T, b bitmask.Bits, n int) {
	t.Helper()
	twin := rowOf(b)
	for _, c := range []struct {
		name string
		find func(searches) (int, bool)
	}{
		{"I3: FindRun", func(s searches) (int, bool) { return s.FindRun(n) }},
		{"I5: FindBestRun", func(s searches) (int, bool) { return s.FindBestRun(n) }},
	} {
		at, ok := c.find(b)
		wantAt, wantOK := c.find(twin)
		if at != wantAt || ok != wantOK {
			t.Fatalf("%s(%d) in %#x: got %d %v want %d %v", c.name, n, []uint64(b), at, ok, wantAt, wantOK)
		}
	}
	at, run := b.LongestRun()
	wantAt, wantRun := twin.LongestRun()
	if at != wantAt || run != wantRun {
		t.Fatalf("I4: LongestRun in %#x: got %d,%d want %d,%d", []uint64(b), at, run, wantAt, wantRun)
	}
}

func TestBitsSearchesAgreeWithTwin(t *testing.T) {
	counts := []int{1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 62, 63, 64, 65, 66, 100, 127, 128, 129, 192, 193, 300}
	i := 0
	for b := range shapes {
		if i++; testing.Short() && i%7 != 0 {
			continue
		}
		for _, n := range counts {
			agree(t, b, n)
		}
	}
}

// TestEverySixteenBitMask takes all 2^16 masks with all n from 1 to 64: in one
// word, everything around them in use and everything free, and laid across the
// edge of two words.
func TestEverySixteenBitMask(t *testing.T) {
	step := uint64(1)
	if testing.Short() {
		step = 13
	}
	for m := uint64(0); m < 1<<16; m += step {
		for _, w := range []uint64{m, m | ^uint64(0xFFFF), m<<24 | 0xFFFFFF, m << 48} {
			// The twin knows the answer for every n from the runs, found one bit at a time;
			// computed again for each n it would take minutes.
			free := rowOf(bitmask.Bits{w})
			first := firstOfEach(free)
			for n := 1; n <= 64; n++ {
				if at, ok := bitmask.FindRun(w, n); at != first[n] || ok != (first[n] < 64) {
					t.Fatalf("I1: FindRun(%#x, %d): got %d %v want %d", w, n, at, ok, first[n])
				}
			}
		}
		b := bitmask.Bits{m<<56 | 1<<56 - 1, m>>8 | ^uint64(0xFF)}
		first := firstOfEach(rowOf(b))
		for n := 1; n <= 64; n++ {
			if at, ok := b.FindRun(n); at != first[n] || ok != (first[n] < 128) {
				t.Fatalf("I3: Bits.FindRun(%d) in %#x: got %d %v want %d", n, []uint64(b), at, ok, first[n])
			}
		}
	}
}

// firstOfEach returns, for each n up to 64, the lowest offset of n clear bits,
// and the length of the row if there is none.
func firstOfEach(r row) (first [65]int) {
	for n := range first {
		first[n] = len(r)
	}
	free := 0
	for i := len(r) - 1; i >= 0; i-- {
		if free++; r[i] {
			free = 0
		}
		for n := 1; n <= min(free, 64); n++ {
			first[n] = i
		}
	}
	return first
}

func TestFirstOfEachIsRight(t *testing.T) {
	for b := range shapes {
		r := rowOf(b)
		first := firstOfEach(r)
		for _, n := range []int{1, 2, 7, 64} {
			want, _ := r.FindRun(n)
			require.Equal(t, want, first[n], "n=%d in %#x", n, []uint64(b))
		}
	}
}

func TestBitsRangesAgreeWithTwin(t *testing.T) {
	edges := []int{0, 1, 31, 63, 64, 65, 100, 127, 128, 129, 191, 192}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, from := range edges {
		for _, to := range edges {
			if from > to {
				continue
			}
			for mean := 1; mean < 40; mean += 9 {
				b := random(rng, 3, mean)
				r := rowOf(b)
				n := to - from
				require.Equal(t, r.CountRange(from, n), b.CountRange(from, n))
				require.Equal(t, r.CountRange(from, n) == n, b.AllSet(from, n))
				require.Equal(t, r.CountRange(from, n) == 0, b.AllClear(from, n))
				require.Equal(t, r.CountRange(0, len(r)), b.Count())

				set, clear := slices.Clone(b), slices.Clone(b)
				set.SetRange(from, n)
				clear.ClearRange(from, n)
				require.True(t, set.AllSet(from, n))
				require.True(t, clear.AllClear(from, n))
				r.SetRange(from, n)
				require.Equal(t, r.bits(), set)
				r = rowOf(b)
				r.ClearRange(from, n)
				require.Equal(t, r.bits(), clear)
			}
		}
	}
}

func TestBitsSingles(t *testing.T) {
	b := make(bitmask.Bits, 3)
	for _, i := range []int{0, 63, 64, 127, 191} {
		require.False(t, b.Has(i))
		require.False(t, b.SetBit(i))
		require.True(t, b.SetBit(i))
		require.True(t, b.Has(i))
		require.Equal(t, 1, b.Count())
		require.True(t, b.ClearBit(i))
		require.False(t, b.ClearBit(i))
	}
	require.Zero(t, b.Count())
}

func TestBitsIterationAgreesWithTwin(t *testing.T) {
	pairs := func(runs iter.Seq2[int, int]) (found [][2]int) {
		for at, n := range runs {
			found = append(found, [2]int{at, n})
		}
		return found
	}
	for b := range shapes {
		r := rowOf(b)
		var used, free []int
		for i, is := range r {
			if is {
				used = append(used, i)
			} else {
				free = append(free, i)
			}
		}
		require.Equal(t, used, slices.Collect(b.Ones()))
		require.Equal(t, free, slices.Collect(b.Zeros()))
		require.Equal(t, r.runs(true), pairs(b.UsedRuns()))
		require.Equal(t, r.runs(false), pairs(b.FreeRuns()))
	}
}

func TestBitsIterationStops(t *testing.T) {
	b := bitmask.Bits{0b1011, 0b1}
	for name, seq := range map[string]iter.Seq[int]{
		"ones": b.Ones(), "zeros": b.Zeros(),
		"used runs": offsets(b.UsedRuns()), "free runs": offsets(b.FreeRuns()),
	} {
		seen := 0
		for range seq {
			if seen++; seen == 2 {
				break
			}
		}
		require.Equal(t, 2, seen, name)
	}
}

func offsets(runs iter.Seq2[int, int]) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := range runs {
			if !yield(at) {
				return
			}
		}
	}
}

func TestNewBitsPartialLastWord(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 130} {
		b := bitmask.NewBits(n)
		require.Len(t, b, (n+63)/64)
		require.Equal(t, len(b)*64-n, b.Count(), "the bits past %d are set", n)
		_, run := b.LongestRun()
		require.Equal(t, n, run)
		for i := range n {
			at, ok := b.TryAlloc(1)
			require.True(t, ok)
			require.Equal(t, i, at)
		}
		at, ok := b.TryAlloc(1)
		require.False(t, ok, "a search found a bit past %d", n)
		require.Equal(t, b.Len(), at)
	}
}

func TestBitsEdges(t *testing.T) {
	var none bitmask.Bits
	at, ok := none.FindRun(1)
	require.Equal(t, []any{0, false}, []any{at, ok})
	at, ok = none.FindBestRun(70)
	require.Equal(t, []any{0, false}, []any{at, ok})
	at, n := none.LongestRun()
	require.Equal(t, []int{0, 0}, []int{at, n})
	none.SetRange(0, 0)
	none.ClearRange(0, 0)
	require.True(t, none.AllSet(0, 0))
	require.True(t, none.AllClear(0, 0))
	require.Zero(t, none.CountRange(0, 0))
	require.Zero(t, none.Count())
	for range none.Ones() {
		t.Error("a bit in no words")
	}
	for range none.FreeRuns() {
		t.Error("a run in no words")
	}

	b := bitmask.Bits{0, 0}
	require.True(t, b.AllSet(128, 0), "an empty range at the very end")
	require.True(t, b.TryAllocAt(60, 8), "a run across the edge")
	require.False(t, b.TryAllocAt(67, 2))
	require.False(t, b.TryFree(60, 9), "a run in use only in part")
	require.Equal(t, bitmask.Bits{0xF << 60, 0xF}, b, "refusals change nothing")
	require.True(t, b.TryFree(60, 8))
	require.False(t, b.TryFree(60, 8), "a double free")
	require.Zero(t, b.Count())
	_, ok = b.TryAlloc(129)
	require.False(t, ok, "more than there is")
	at, ok = b.TryAlloc(128)
	require.Equal(t, []any{0, true}, []any{at, ok})
}

func TestBitsBadArgumentsPanic(t *testing.T) {
	b := bitmask.Bits{0, 0}
	for name, call := range map[string]func(int, int){
		"SetRange": b.SetRange, "ClearRange": b.ClearRange,
		"CountRange": func(at, n int) { b.CountRange(at, n) },
		"AllSet":     func(at, n int) { b.AllSet(at, n) },
		"AllClear":   func(at, n int) { b.AllClear(at, n) },
	} {
		for _, c := range [][2]int{{-1, 1}, {0, -1}, {0, 129}, {128, 1}, {129, 0}, {1, math.MaxInt}, {math.MaxInt, 1}} {
			want := fmt.Sprintf("bitmask: Bits.%s: offset=%d n=%d is not inside 128 bits", name, c[0], c[1])
			require.PanicsWithValue(t, want, func() { call(c[0], c[1]) })
		}
	}
	for name, call := range map[string]func(int){
		"FindRun":     func(n int) { b.FindRun(n) },
		"FindBestRun": func(n int) { b.FindBestRun(n) },
		"TryAlloc":    func(n int) { b.TryAlloc(n) },
		"TryAllocAt":  func(n int) { b.TryAllocAt(0, n) },
		"TryFree":     func(n int) { b.TryFree(0, n) },
	} {
		for _, n := range []int{0, -1} {
			want := fmt.Sprintf("bitmask: Bits.%s: n=%d is less than 1", name, n)
			require.PanicsWithValue(t, want, func() { call(n) })
		}
	}
	for _, i := range []int{-1, 128} {
		for name, call := range map[string]func(int) bool{"Has": b.Has, "SetBit": b.SetBit, "ClearBit": b.ClearBit} {
			require.PanicsWithValue(t, badBit("Bits."+name, i, 128), func() { call(i) })
		}
	}
	require.PanicsWithValue(t, "bitmask: NewBits: n=-1 is negative", func() { bitmask.NewBits(-1) })
	require.Zero(t, b.Count(), "no refused call changed a bit")
}

// FuzzBits reads words and a count from the input and compares every search.
func FuzzBits(f *testing.F) {
	f.Add([]byte{0xFF, 0, 0, 0, 0, 0, 0, 0x80, 1}, uint16(70))
	f.Add([]byte{}, uint16(1))
	f.Add(make([]byte, 64), uint16(512))
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		b := make(bitmask.Bits, min(len(data)+7, 512)/8)
		for i := range min(len(data), len(b)*8) {
			b[i/8] |= uint64(data[i]) << uint(i%8*8)
		}
		count := int(n)%(b.Len()+2) + 1
		agree(t, b, count)
		twin := rowOf(b)
		at := int(n>>4) % (b.Len() + 1)
		length := min(count, b.Len()-at)
		b.SetRange(at, length)
		twin.SetRange(at, length)
		require.Equal(t, twin.bits(), b)
		require.Equal(t, twin.CountRange(0, at), b.CountRange(0, at))
		b.ClearRange(at/2, length)
		twin.ClearRange(at/2, length)
		require.Equal(t, twin.bits(), b)
	})
}

// TestBitsKernelsAgreeWithTwin meets the lengths at which kernels search: 8 words
// for runs, 16 and more for a single zero.
func TestBitsKernelsAgreeWithTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, words := range []int{7, 8, 9, 15, 16, 17, 40} {
		for range 2000 {
			b := make(bitmask.Bits, words)
			for i := range b {
				if b[i] = rng.Uint64() & rng.Uint64(); rng.IntN(3) > 0 {
					b[i] = [3]uint64{0, ^uint64(0), 1 << rng.IntN(64)}[rng.IntN(3)]
				}
			}
			for _, n := range []int{1, 16, 17, 24, 32, 33, 48, 63, 64, 65} {
				want := b.Len()
				for at := 0; at+n <= b.Len(); at++ {
					if b.AllClear(at, n) {
						want = at
						break
					}
				}
				got, ok := b.FindRun(n)
				require.Equal(t, want, got, "words=%d n=%d %#x", words, n, []uint64(b))
				require.Equal(t, want < b.Len(), ok)
			}
		}
	}
	full := make(bitmask.Bits, 40)
	for i := range full {
		full[i] = ^uint64(0)
	}
	got, ok := full.FindRun(1)
	require.Equal(t, full.Len(), got)
	require.False(t, ok)
}
