package bitmask_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bitmask"
)

var sink int

func itoa(n int) string { return strconv.Itoa(n) }

func badCount(name string, n int) string {
	return fmt.Sprintf("bitmask: %s: n=%d is not in 1..64", name, n)
}

func badRun(name string, at, n int) string {
	return fmt.Sprintf("bitmask: %s: offset=%d n=%d is not a run of 1..64 bits inside one word", name, at, n)
}

func badBit(name string, i, n int) string {
	return fmt.Sprintf("bitmask: %s: i=%d is not in %d bits", name, i, n)
}

// full returns a Word with exactly the bits of m set.
func full(t *testing.T, m uint64) *bitmask.Word {
	t.Helper()
	var w bitmask.Word
	for i := range 64 {
		if m>>uint(i)&1 != 0 {
			_, _, ok := w.TryAllocAt(i, 1)
			require.True(t, ok)
		}
	}
	require.Equal(t, m, w.Load())
	return &w
}

func TestWordTryAlloc(t *testing.T) {
	for name, c := range map[string]struct {
		before uint64
		n      int
		after  uint64
		at     int
		ok     bool
	}{
		"first bit":          {0, 1, 1, 0, true},
		"second bit":         {1, 1, 3, 1, true},
		"last bit":           {1<<63 - 1, 1, ^uint64(0), 63, true},
		"all":                {0, 64, ^uint64(0), 0, true},
		"first fit, not fit": {0xFF0FF, 8, 0xFFF_F0FF | 0xFF<<20, 20, true},
		"tight hole":         {0xFF0FF, 4, 0xFFFFF, 8, true},
		"no single":          {^uint64(0), 1, ^uint64(0), 64, false},
		"no 64":              {1, 64, 1, 64, false},
		"no 49":              {0xFF000000000000FF, 49, 0xFF000000000000FF, 64, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := full(t, c.before)
			at, before, now, ok := w.TryAlloc(c.n)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.at, at)
			require.Equal(t, c.before, before)
			require.Equal(t, c.after, now)
			require.Equal(t, c.after, w.Load())
		})
	}
}

func TestWordTryAllocAligned(t *testing.T) {
	w := full(t, 0b0110) // units 0 and 3 are free, no aligned pair before unit 4
	at, before, now, ok := w.TryAllocAligned(2)
	require.True(t, ok)
	require.Equal(t, 4, at)
	require.Equal(t, uint64(0b0110), before)
	require.Equal(t, uint64(0b11_0110), now)
	require.Equal(t, now, w.Load())
	at, _, _, ok = w.TryAllocAligned(64)
	require.False(t, ok)
	require.Equal(t, 64, at)
	for _, c := range []struct{ n, at int }{{32, 32}, {16, 16}, {8, 8}, {4, 64}, {2, 6}, {1, 0}} {
		at, _, _, ok = w.TryAllocAligned(c.n)
		require.Equal(t, c.at, at, "n=%d", c.n)
		require.Equal(t, c.at < 64, ok, "n=%d", c.n)
	}
}

func TestWordTryFree(t *testing.T) {
	w := full(t, 0xFF00)
	before, now, ok := w.TryFree(8, 4)
	require.True(t, ok)
	require.Equal(t, uint64(0xFF00), before)
	require.Equal(t, uint64(0xF000), now)
	before, now, ok = w.TryFree(8, 4)
	require.False(t, ok, "a double free changes nothing")
	require.Equal(t, uint64(0xF000), before)
	require.Equal(t, before, now)
	_, _, ok = w.TryFree(11, 2)
	require.False(t, ok, "a run that is in use only in part is not freed")
	require.Equal(t, uint64(0xF000), w.Load())
	before, now, ok = w.TryFree(12, 4)
	require.True(t, ok)
	require.Equal(t, bitmask.Mask(12, 4), before)
	require.Zero(t, now)
	require.Zero(t, w.Load())
	require.PanicsWithValue(t, badRun("Mask", 60, 5), func() { w.TryFree(60, 5) })
	require.PanicsWithValue(t, badRun("Mask", 0, 0), func() { w.TryFree(0, 0) })
}

func TestWordTryAllocAt(t *testing.T) {
	var w bitmask.Word
	before, now, ok := w.TryAllocAt(62, 2)
	require.True(t, ok)
	require.Zero(t, before)
	require.Equal(t, uint64(3)<<62, now)
	before, now, ok = w.TryAllocAt(61, 2)
	require.False(t, ok)
	require.Equal(t, before, now)
	before, now, ok = w.TryAllocAt(0, 62)
	require.True(t, ok)
	require.Equal(t, uint64(3)<<62, before)
	require.Equal(t, ^uint64(0), now)
	require.Equal(t, now, w.Load())
}

// TestWordParallel has goroutines claim and free runs on one word. Each run
// that a goroutine holds is marked in an ordinary array, so the race detector
// and the marks both catch a unit that was handed out twice.
func TestWordParallel(t *testing.T) {
	var w bitmask.Word
	var owner [64]int
	var wg sync.WaitGroup
	for g := 1; g <= 4; g++ {
		wg.Go(func() {
			for i := range 5000 {
				n := (i+g)%7 + 1
				at, _, _, ok := w.TryAlloc(n)
				if !ok {
					continue
				}
				for u := at; u < at+n; u++ {
					if owner[u] != 0 {
						t.Errorf("unit %d: got owner %d want none", u, owner[u])
					}
					owner[u] = g
				}
				for u := at; u < at+n; u++ {
					owner[u] = 0
				}
				if _, _, ok := w.TryFree(at, n); !ok {
					t.Errorf("free of [%d, %d) refused", at, at+n)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, w.Load())
}

func TestWordBits(t *testing.T) {
	var w bitmask.Word
	require.False(t, w.SetBit(63))
	require.True(t, w.SetBit(63))
	require.Equal(t, uint64(1)<<63, w.Load())
	require.True(t, w.ClearBit(63))
	require.False(t, w.ClearBit(63))
	require.Zero(t, w.Load())
	for _, i := range []int{-1, 64, 65} {
		require.PanicsWithValue(t, badBit("Word.SetBit", i, 64), func() { w.SetBit(i) })
		require.PanicsWithValue(t, badBit("Word.ClearBit", i, 64), func() { w.ClearBit(i) })
	}
	for _, n := range []int{-1, 0, 65} {
		require.PanicsWithValue(t, badCount("FindRun", n), func() { w.TryAlloc(n) })
	}
	for _, c := range []struct{ at, n int }{{0, 0}, {0, 65}, {1, 64}, {63, 2}, {64, 1}, {-1, 1}} {
		require.PanicsWithValue(t, badRun("Mask", c.at, c.n), func() { w.TryAllocAt(c.at, c.n) })
		require.PanicsWithValue(t, badRun("Mask", c.at, c.n), func() { w.TryFree(c.at, c.n) })
	}
	require.Zero(t, w.Load(), "no refused call changed a bit")
}
