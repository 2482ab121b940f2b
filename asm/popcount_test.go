package asm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/guard"
)

func forEachPopCount(t *testing.T, body func(*testing.T, func([]uint64) int)) {
	for _, impl := range asm.PopCountImpls() {
		t.Run("impl="+impl.Name, func(t *testing.T) { body(t, impl.Func) })
	}
}

// TestPopCountLengths: every length at every offset of a word in a vector and
// against pages without access, on words whose counts are known beforehand.
func TestPopCountLengths(t *testing.T) {
	forEachPopCount(t, func(t *testing.T, impl func([]uint64) int) {
		rnd := rand.New(rand.NewPCG(1, 2))
		const vector = 8
		room := make([]uint64, longest+vector)
		tail, head := words(guard.Tail(t, longest*8)), words(guard.Head(t, longest*8))
		randomWords(rnd)(room)
		randomWords(rnd)(tail)
		randomWords(rnd)(head)
		check := func(w []uint64, want int, what string) {
			if got := impl(w); got != want {
				t.Fatalf("%s: %d words: got %d want %d", what, len(w), got, want)
			}
		}
		for off := range vector {
			want := 0
			for n := range longest + 1 {
				check(room[off:off+n], want, "plain")
				want += asm.PopCountRef(room[off+n:][:min(1, len(room)-off-n)])
			}
		}
		wantTail, wantHead := 0, 0
		for n := range longest + 1 {
			check(tail[longest-n:], wantTail, "tail")
			check(head[:n], wantHead, "head")
			if n < longest {
				wantTail += asm.PopCountRef(tail[longest-n-1:][:1])
				wantHead += asm.PopCountRef(head[n:][:1])
			}
		}
	})
}

// TestPopCountValues: every byte value in every byte of a word, and full words,
// where sums of bytes are greatest.
func TestPopCountValues(t *testing.T) {
	forEachPopCount(t, func(t *testing.T, impl func([]uint64) int) {
		w := make([]uint64, 41)
		for value := range uint64(256) {
			for shift := 0; shift < 64; shift += 8 {
				for i := range w {
					w[i] = value << shift
				}
				if got, want := impl(w), asm.PopCountRef(w); got != want {
					t.Fatalf("%d words of %#x: got %d want %d", len(w), w[0], got, want)
				}
			}
		}
		for _, n := range []int{41, asm.CallBytes/8 + 5, asm.CallBytes/8*2 + 31} {
			w = make([]uint64, n)
			for i := range w {
				w[i] = math.MaxUint64
			}
			assert.Equal(t, 64*n, impl(w))
		}
	})
}

func FuzzPopCount(f *testing.F) {
	f.Add(byte(0), []byte("some words of text, here and there"))
	f.Add(byte(3), make([]byte, 8*70))
	f.Fuzz(func(t *testing.T, off byte, data []byte) {
		x, _, all := wordPairs(data)
		for _, w := range [][]uint64{x, all, all[min(int(off%8), len(all)):]} {
			want := asm.PopCountRef(w)
			for _, impl := range asm.PopCountImpls() {
				if got := impl.Func(w); got != want {
					t.Fatalf("%s: %d words: got %d want %d", impl.Name, len(w), got, want)
				}
			}
		}
	})
}
