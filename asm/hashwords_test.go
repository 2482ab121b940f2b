package asm_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quarry/asm"
	"quarry/internal/guard"
)

func forEachHashWords(t *testing.T, body func(*testing.T, asm.HashFunc)) {
	for _, impl := range asm.HashWordsImpls() {
		t.Run("impl="+impl.Name, func(t *testing.T) { body(t, impl.Func) })
	}
}

// TestHashWordsLengths: every length at every offset of a byte in a word and against pages without
// access, with all bits and with some.
func TestHashWordsLengths(t *testing.T) {
	const longest = 40 // words
	rnd := rand.New(rand.NewPCG(1, 2))
	room := make([]byte, longest*8+8)
	tail, head := guard.Tail(t, longest*8), guard.Head(t, longest*8)
	for _, b := range [][]byte{room, tail, head} {
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
	}
	type want struct{ room, tail, head uint64 }
	masks := [...]uint64{^uint64(0), 0, 0xffffffff00ffffff, rnd.Uint64()}
	for n := range longest + 1 {
		mask, place := masks[n%len(masks)], rnd.IntN(1<<40)
		off := n % 9
		all := want{asm.HashWordsRef(room[off:off+n*8], place, mask),
			asm.HashWordsRef(tail[(longest-n)*8:], place, mask), asm.HashWordsRef(head[:n*8], place, mask)}
		forEachHashWords(t, func(t *testing.T, impl asm.HashFunc) {
			require.Equal(t, all, want{impl(room[off:off+n*8], place, mask), impl(tail[(longest-n)*8:], place, mask),
				impl(head[:n*8], place, mask)}, "%d words", n)
		})
	}
}

// TestHashWordsParts: the hash of a whole, longer than one assembly call may read, is the sum of
// the hashes of its parts.
func TestHashWordsParts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	all := make([]byte, 2*asm.CallBytes+8*13)
	for i := range all {
		all[i] = byte(rnd.Uint32())
	}
	whole := asm.HashWordsImpls()[1].Func(all, 7, ^uint64(0)) // the Go twin
	forEachHashWords(t, func(t *testing.T, impl asm.HashFunc) {
		require.Equal(t, whole, impl(all, 7, ^uint64(0)))
		sum := uint64(0)
		for at := 0; at < len(all); {
			n := min(8*rnd.IntN(9000), len(all)-at)
			sum += impl(all[at:at+n], 7+at/8, ^uint64(0))
			at += n
		}
		require.Equal(t, whole, sum)
	})
}

// TestHashWordsPatterns: columns of few different small values, in each order, have different
// hashes, and so have the halves of the hashes about as many as chance leaves.
func TestHashWordsPatterns(t *testing.T) {
	seen, low, high := map[uint64]bool{}, map[uint32]bool{}, map[uint32]bool{}
	const bits = 16
	var b [8 * bits]byte
	for pattern := range 1 << bits {
		for i := range bits {
			b[8*i] = byte(pattern >> i & 1)
		}
		h := asm.HashWords(b[:], 0, ^uint64(0))
		seen[h], low[uint32(h)], high[uint32(h>>32)] = true, true, true
	}
	assert.Len(t, seen, 1<<bits)
	assert.GreaterOrEqual(t, len(low), 1<<bits-8) // .5 are expected to be equal by chance
	assert.GreaterOrEqual(t, len(high), 1<<bits-8)
}

func TestHashWordsContract(t *testing.T) {
	assert.PanicsWithValue(t, "asm: HashWords: len(b)=12 is not a multiple of 8",
		func() { asm.HashWords(make([]byte, 12), 0, 0) })
	assert.Zero(t, asm.HashWords(nil, 3, 5))
}

func FuzzHashWords(f *testing.F) {
	f.Add(0, uint64(1), []byte("some words of text, here and there"))
	f.Add(-1, ^uint64(0), make([]byte, 8*70))
	f.Fuzz(func(t *testing.T, place int, mask uint64, data []byte) {
		data = data[:len(data)&^7]
		want := asm.HashWordsRef(data, place, mask)
		for _, impl := range asm.HashWordsImpls() {
			if got := impl.Func(data, place, mask); got != want {
				t.Fatalf("%s: %d words: got %d want %d", impl.Name, len(data)/8, got, want)
			}
		}
	})
}

// BenchmarkHashWords: a small buffer, a unit's quarter, and a column.
func BenchmarkHashWords(b *testing.B) {
	for _, n := range []int{64, 4096, 16 << 20} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i * 7)
		}
		for _, impl := range asm.HashWordsImpls()[1:] {
			b.Run(fmt.Sprintf("%s/%d", impl.Name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					impl.Func(data, 0, ^uint64(0))
				}
			})
		}
	}
}
