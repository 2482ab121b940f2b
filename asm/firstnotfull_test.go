package asm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/guard"
)

// forEachFirstNotFull runs body once per implementation that this machine has.
func forEachFirstNotFull(t *testing.T, body func(*testing.T, func([]uint64) int)) {
	for _, impl := range asm.FirstNotFullImpls() {
		t.Run("impl="+impl.Name, func(t *testing.T) { body(t, impl.Func) })
	}
}

// words returns the bytes of b as words.
func words(b []byte) []uint64 {
	// Safe because the callers pass memory that starts at a multiple of 8 and
	// holds no Go pointers.
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
}

// testPositions puts one free bit into each word of w in turn and restores it.
func testPositions(t *testing.T, impl func([]uint64) int, w []uint64, what string) {
	t.Helper()
	if got := impl(w); got != -1 {
		t.Fatalf("%s: %d full words: got %d want -1", what, len(w), got)
	}
	for i := range w {
		w[i] ^= 1 << (uint(i*7) % 64)
		if got := impl(w); got != i {
			t.Fatalf("%s: %d words, the free bit in word %d: got %d", what, len(w), i, got)
		}
		w[i] = math.MaxUint64
	}
}

// TestFirstNotFullPositions: every length at every offset of a word in a
// vector, the only free bit in every place, free words on both sides.
func TestFirstNotFullPositions(t *testing.T) {
	forEachFirstNotFull(t, func(t *testing.T, impl func([]uint64) int) {
		const vector = 8 // words of the widest vector
		step := 1
		if testing.Short() {
			step = 3
		}
		for n := 0; n <= longest; n += step {
			room := make([]uint64, vector+longest+vector)
			for off := range vector {
				w := room[off : off+n]
				for i := range w {
					w[i] = math.MaxUint64
				}
				testPositions(t, impl, w, fmt.Sprintf("offset %d", off))
				clear(room)
			}
		}
	})
}

// TestFirstNotFullGuarded: every length flush against a page without access.
func TestFirstNotFullGuarded(t *testing.T) {
	forEachFirstNotFull(t, func(t *testing.T, impl func([]uint64) int) {
		tail, head := words(guard.Tail(t, longest*8)), words(guard.Head(t, longest*8))
		for i := range tail {
			tail[i], head[i] = math.MaxUint64, math.MaxUint64
		}
		for n := 0; n <= longest; n += columnStep(n) {
			testPositions(t, impl, tail[longest-n:], "tail")
			testPositions(t, impl, head[:n], "head")
		}
	})
}

// TestFirstNotFullBits: every single free bit, and every pair of words.
func TestFirstNotFullBits(t *testing.T) {
	forEachFirstNotFull(t, func(t *testing.T, impl func([]uint64) int) {
		w := make([]uint64, 77)
		for i := range w {
			w[i] = math.MaxUint64
		}
		for i := range w {
			for bit := range 64 {
				w[i] = ^(uint64(1) << bit)
				if got := impl(w); got != i {
					t.Fatalf("bit %d of word %d: got %d", bit, i, got)
				}
			}
			for j := range i {
				w[j] = 0
				if got := impl(w); got != j {
					t.Fatalf("words %d and %d: got %d", j, i, got)
				}
				w[j] = math.MaxUint64
			}
			w[i] = math.MaxUint64
		}
	})
}

func TestFirstNotFullRandom(t *testing.T) {
	forEachFirstNotFull(t, func(t *testing.T, impl func([]uint64) int) {
		rnd := rand.New(rand.NewPCG(7, 8))
		for range 5000 {
			w := make([]uint64, rnd.IntN(200))
			for i := range w {
				w[i] = math.MaxUint64
				if rnd.IntN(100) == 0 {
					w[i] = rnd.Uint64()
				}
			}
			if got, want := impl(w), asm.FirstNotFullRef(w); got != want {
				t.Fatalf("%d words: got %d want %d: %#x", len(w), got, want, w)
			}
		}
	})
}

// TestFirstNotFullLong covers several assembly calls.
func TestFirstNotFullLong(t *testing.T) {
	const call = asm.CallBytes / 8
	w := make([]uint64, 2*call+5)
	for i := range w {
		w[i] = math.MaxUint64
	}
	assert.Equal(t, -1, asm.FirstNotFull(w))
	for _, i := range []int{2*call + 4, 2 * call, 2*call - 1, call + 1, call, call - 1, 0} {
		w[i] = 0
		assert.Equal(t, i, asm.FirstNotFull(w))
		assert.Equal(t, -1, asm.FirstNotFull(w[:i]))
	}
}

func TestFirstNotFullDoesNotAllocate(t *testing.T) {
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var w [100]uint64 // on the stack, unless FirstNotFull lets it escape
		asm.FirstNotFull(w[:4])
		asm.FirstNotFull(w[:])
	}))
}
