package asm_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/guard"
)

// TestFindRunAlone: a single run of every length up to 64 at every offset, in
// words that are full otherwise, for every n; the words end at a page without
// access.
func TestFindRunAlone(t *testing.T) {
	room := words(guard.Tail(t, 64))
	w := (*[8]uint64)(room)
	for _, impl := range asm.FindRunImpls() {
		t.Run("impl="+impl.Name, func(t *testing.T) {
			for length := 1; length <= 64; length++ {
				for offset := 0; offset+length <= 512; offset++ {
					for i := range w {
						w[i] = ^uint64(0)
					}
					for bit := offset; bit < offset+length; bit++ {
						w[bit/64] &^= 1 << (bit % 64)
					}
					for n := max(1, length-2); n <= min(64, length+2); n++ {
						want := -1
						if n <= length {
							want = offset
						}
						if got := impl.Func(w, n); got != want {
							t.Fatalf("%d zeros at %d, n=%d: got %d want %d", length, offset, n, got, want)
						}
					}
				}
			}
		})
	}
}

// runsOf fills w with runs of ones and zeros of random lengths.
func runsOf(rnd *rand.Rand, w *[8]uint64) {
	*w = [8]uint64{}
	ones, mean := rnd.IntN(2) == 0, 1+rnd.IntN(90)
	for bit := 0; bit < 512; {
		length := 1 + rnd.IntN(mean)
		for ; length > 0 && bit < 512; length-- {
			if ones {
				w[bit/64] |= 1 << (bit % 64)
			}
			bit++
		}
		ones = !ones
	}
}

func TestFindRunRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	list := asm.FindRunImpls()
	for range 2000 {
		var w [8]uint64
		runsOf(rnd, &w)
		for n := 1; n <= 64; n++ {
			want := asm.FindRun512Ref(&w, n)
			for _, impl := range list {
				if got := impl.Func(&w, n); got != want {
					t.Fatalf("%s: %#x n=%d: got %d want %d", impl.Name, w, n, got, want)
				}
			}
		}
	}
}

func TestFindRunContract(t *testing.T) {
	var w [8]uint64
	assert.Equal(t, 0, asm.FindRun512(&w, 64))
	assert.PanicsWithValue(t, "asm: FindRun512: n=0 is not in [1, 64]", func() { asm.FindRun512(&w, 0) })
	assert.PanicsWithValue(t, "asm: FindRun512: n=65 is not in [1, 64]", func() { asm.FindRun512(&w, 65) })
	assert.PanicsWithValue(t, "asm: FindRun512: n=-1 is not in [1, 64]", func() { asm.FindRun512(&w, -1) })
}

// FuzzFindRun: data is the words.
func FuzzFindRun(f *testing.F) {
	f.Add(byte(15), make([]byte, 64))
	f.Fuzz(func(t *testing.T, n byte, data []byte) {
		var w [8]uint64
		copy(rawBytes(w[:]), data)
		k := int(n%64) + 1
		want := asm.FindRun512Ref(&w, k)
		for _, impl := range asm.FindRunImpls() {
			if got := impl.Func(&w, k); got != want {
				t.Fatalf("%s: %#x n=%d: got %d want %d", impl.Name, w, k, got, want)
			}
		}
	})
}
