package bitmask_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bitmask"
)

// interesting yields words whose runs meet every edge: all 2^16 masks placed at
// the bottom, the middle and the top of a word, each with zeros and with ones
// around them.
func interesting(yield func(uint64)) {
	for m := range uint64(1 << 16) {
		for _, shift := range []uint{0, 24, 48} {
			yield(m << shift)
			yield(^(m << shift))
		}
	}
}

func TestFindRunAgreesWithTwin(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	i := 0
	interesting(func(w uint64) {
		if i++; i%step != 0 {
			return
		}
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64} {
			got, ok := bitmask.FindRun(w, n)
			want, wantOK := bitmask.FindRunRef(w, n)
			if ok != wantOK || got != want {
				t.Fatalf("I1: FindRun(%#x, %d): got %d %v want %d %v", w, n, got, ok, want, wantOK)
			}
		}
	})
}

func TestFindRunEveryCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		w := rng.Uint64() & rng.Uint64() & rng.Uint64()
		for n := 1; n <= 64; n++ {
			got, ok := bitmask.FindRun(w, n)
			want, wantOK := bitmask.FindRunRef(w, n)
			if ok != wantOK || got != want {
				t.Fatalf("I1: FindRun(%#x, %d): got %d %v want %d %v", w, n, got, ok, want, wantOK)
			}
		}
	}
}

func TestFindAlignedAgreesWithTwin(t *testing.T) {
	check := func(w uint64) {
		for n := 1; n <= 64; n *= 2 {
			got, ok := bitmask.FindAligned(w, n)
			want, wantOK := bitmask.FindAlignedRef(w, n)
			if ok != wantOK || got != want {
				t.Fatalf("FindAligned(%#x, %d): got %d %v want %d %v", w, n, got, ok, want, wantOK)
			}
		}
	}
	interesting(check)
	for n := 1; n <= 64; n *= 2 { // one free run of n at every offset
		for at := range 65 - n {
			check(^bitmask.Mask(at, n))
		}
	}
	for _, n := range []int{-1, 0, 3, 63, 65, 128} {
		require.Panics(t, func() { bitmask.FindAligned(0, n) })
	}
}

func TestLongestRunAgreesWithTwin(t *testing.T) {
	check := func(w uint64) {
		at, n := bitmask.LongestRun(w)
		wantAt, wantN := bitmask.LongestRunRef(w)
		if at != wantAt || n != wantN {
			t.Fatalf("I2: LongestRun(%#x): got %d,%d want %d,%d", w, at, n, wantAt, wantN)
		}
	}
	interesting(check)
	for at := range 64 {
		for n := 1; at+n <= 64; n++ {
			check(bitmask.MaskRef(at, n))
			check(^bitmask.MaskRef(at, n))
		}
	}
}

func TestMaskEveryRun(t *testing.T) {
	for at := range 64 {
		for n := 1; at+n <= 64; n++ {
			require.Equal(t, bitmask.MaskRef(at, n), bitmask.Mask(at, n), "offset=%d n=%d", at, n)
		}
	}
}

func TestBadRunsPanic(t *testing.T) {
	for _, n := range []int{-1, 0, 65, math.MaxInt} {
		require.PanicsWithValue(t, badCount("FindRun", n), func() { bitmask.FindRun(0, n) })
	}
	for _, c := range []struct{ at, n int }{{0, 0}, {0, 65}, {1, 64}, {63, 2}, {64, 1}, {-1, 1}, {0, -1}} {
		require.PanicsWithValue(t, badRun("Mask", c.at, c.n), func() { bitmask.Mask(c.at, c.n) })
	}
}

func FuzzFindRun(f *testing.F) {
	f.Add(uint64(0xF0FF), uint8(4))
	f.Add(^uint64(0), uint8(1))
	f.Add(uint64(0), uint8(64))
	f.Fuzz(func(t *testing.T, w uint64, n uint8) {
		count := int(n)%64 + 1
		got, ok := bitmask.FindRun(w, count)
		want, wantOK := bitmask.FindRunRef(w, count)
		if ok != wantOK || got != want {
			t.Fatalf("I1: FindRun(%#x, %d): got %d %v want %d %v", w, count, got, ok, want, wantOK)
		}
		at, longest := bitmask.LongestRun(w)
		wantAt, wantLongest := bitmask.LongestRunRef(w)
		if at != wantAt || longest != wantLongest {
			t.Fatalf("I2: LongestRun(%#x): got %d,%d want %d,%d", w, at, longest, wantAt, wantLongest)
		}
	})
}
