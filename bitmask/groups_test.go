package bitmask_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bitmask"
)

// The eleven groups of behaviour that the mask of the original is tested for, as contracts of ours.
// Where ours differs on purpose the test has a comment.

const all = ^uint64(0)

func TestGroup01OneBitGoesToTheLowestFreePlace(t *testing.T) {
	for before, after := range map[uint64]uint64{
		0: 1, 1: 3, 0xFF: 0x1FF, 0x100: 0x101, all >> 1: all, 1 << 63: 1<<63 | 1,
	} {
		w := full(t, before)
		_, was, _, ok := w.TryAlloc(1)
		require.True(t, ok)
		require.Equal(t, before, was)
		require.Equal(t, after, w.Load())
	}
}

func TestGroup02OneBitIsRefusedByAFullWord(t *testing.T) {
	w := full(t, all)
	_, was, _, ok := w.TryAlloc(1)
	require.False(t, ok)
	require.Equal(t, all, was)
	require.Equal(t, all, w.Load())
}

func TestGroup03ManyBitsPassOverHolesTooSmall(t *testing.T) {
	for _, c := range []struct {
		before uint64
		n      int
		after  uint64
	}{
		{0, 64, all}, {0, 2, 3}, {1, 63, all}, {0xFF, 8, 0xFFFF}, {0xFF0FF, 8, 0xFFFF0FF},
	} {
		w := full(t, c.before)
		_, _, _, ok := w.TryAlloc(c.n)
		require.True(t, ok)
		require.Equal(t, c.after, w.Load())
	}
}

func TestGroup04ManyBitsAreRefusedWithoutARun(t *testing.T) {
	for _, c := range []struct {
		before uint64
		n      int
	}{{1, 64}, {0xFF000000000000FF, 49}} {
		w := full(t, c.before)
		_, _, _, ok := w.TryAlloc(c.n)
		require.False(t, ok)
		require.Equal(t, c.before, w.Load())
	}
	// More than a word holds can never fit: the original refuses, ours panics.
	var w bitmask.Word
	require.PanicsWithValue(t, badCount("FindRun", 65), func() { w.TryAlloc(65) })
	require.Zero(t, w.Load())
}

func TestGroup05FreeTakesBackOneBit(t *testing.T) {
	for _, c := range []struct {
		before uint64
		at     int
		after  uint64
	}{
		{1, 0, 0}, {3, 1, 1}, {0x1FF, 8, 0xFF}, {0x101, 0, 0x100}, {all, 63, all >> 1}, {1<<63 | 1, 0, 1 << 63},
	} {
		w := full(t, c.before)
		was, _, ok := w.TryFree(c.at, 1)
		require.True(t, ok)
		require.Equal(t, c.before, was)
		require.Equal(t, c.after, w.Load())
		_, _, ok = w.TryFree(c.at, 1)
		require.False(t, ok, "a free bit is not freed")
	}
}

func TestGroup06FreeTakesBackManyBits(t *testing.T) {
	for _, c := range []struct {
		before uint64
		at, n  int
		after  uint64
	}{
		{all, 0, 64, 0}, {3, 0, 2, 0}, {all, 1, 63, 1}, {0xFFFF, 8, 8, 0xFF}, {0xFFFF0FF, 20, 8, 0xFF0FF},
	} {
		w := full(t, c.before)
		_, now, ok := w.TryFree(c.at, c.n)
		require.True(t, ok)
		require.Equal(t, c.after, now)
		require.Equal(t, c.after, w.Load())
	}
}

func TestGroup07ManyWordsGiveSingleBitsInOrder(t *testing.T) {
	b := make(bitmask.Bits, 3)
	h := bitmask.NewHierarchy(3 * 64)
	for want := range 128 {
		at, ok := b.TryAlloc(1)
		require.Equal(t, []any{want, true}, []any{at, ok})
		at, ok = h.TryAlloc(1)
		require.Equal(t, []any{want, true}, []any{at, ok})
	}
	require.Equal(t, bitmask.Bits{all, all, 0}, b)
	require.Equal(t, 128, h.Count())
}

func TestGroup08ManyWordsGiveRuns(t *testing.T) {
	// Runs of a Hierarchy stay inside a word, as in the original: three of 33
	// fill three words, and the fourth is refused.
	h := bitmask.NewHierarchy(3 * 64)
	for _, want := range []int{0, 64, 128} {
		at, ok := h.TryAlloc(33)
		require.Equal(t, []any{want, true}, []any{at, ok})
	}
	_, ok := h.TryAlloc(33)
	require.False(t, ok)
	// Runs of Bits cross: five of 33 fit in the same three words.
	b := make(bitmask.Bits, 3)
	for _, want := range []int{0, 33, 66, 99, 132} {
		at, ok := b.TryAlloc(33)
		require.Equal(t, []any{want, true}, []any{at, ok})
	}
	_, ok = b.TryAlloc(33)
	require.False(t, ok)
}

func TestGroup09ManyWordsTakeBackSingleBits(t *testing.T) {
	b := make(bitmask.Bits, 3)
	h := bitmask.NewHierarchy(3 * 64)
	for range 192 {
		b.TryAlloc(1)
		h.TryAlloc(1)
	}
	for at := range 128 {
		require.True(t, b.TryFree(at, 1))
		require.True(t, h.TryFree(at, 1))
	}
	require.Equal(t, bitmask.Bits{0, 0, all}, b)
	require.Equal(t, 64, h.Count())
	require.NoError(t, h.Verify())
}

func TestGroup10ManyWordsTakeBackRuns(t *testing.T) {
	b := bitmask.Bits{all, all, all}
	h := bitmask.NewHierarchy(3 * 64)
	for i := range 3 {
		require.True(t, h.TryAllocAt(i*64, 64))
	}
	for i := range 3 {
		require.True(t, b.TryFree(i*64+1, 63))
		require.True(t, h.TryFree(i*64+1, 63))
		require.Equal(t, uint64(1), h.Word(i).Load())
	}
	require.Equal(t, bitmask.Bits{1, 1, 1}, b)
	// A run across the edge of a word: the original drops what lies beyond, the Bits free it all,
	// the Hierarchy panics.
	require.True(t, b.TryAllocAt(60, 4))
	require.True(t, b.TryFree(60, 5))
	require.Equal(t, bitmask.Bits{1, 0, 1}, b)
	require.Panics(t, func() { h.TryFree(60, 5) })
}

func TestGroup11GoroutinesFillEveryBit(t *testing.T) {
	h := bitmask.NewHierarchy(10 * 64)
	var taken [640]bool // each element is written by the goroutine that got it
	var wg sync.WaitGroup
	for range 640 {
		wg.Go(func() {
			at, ok := h.TryAlloc(1)
			if !ok || taken[at] {
				t.Errorf("got %d %v want a unit that is nobody's", at, ok)
				return
			}
			taken[at] = true
		})
	}
	wg.Wait()
	for i := range h.Words() {
		require.Equal(t, all, h.Word(i).Load())
	}
	require.NoError(t, h.Verify())
}
