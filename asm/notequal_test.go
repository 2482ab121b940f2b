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

// TestNotEqualLengths: every length against pages without access, with no, one and many bytes that
// differ; words of dst that x does not need stay.
func TestNotEqualLengths(t *testing.T) {
	const longest = 300
	rnd := rand.New(rand.NewPCG(1, 2))
	tail, head, other := guard.Tail(t, longest), guard.Head(t, longest), guard.Tail(t, longest)
	for _, impl := range asm.NotEqualImpls() {
		t.Run("impl="+impl.Name, func(t *testing.T) {
			for n := range longest + 1 {
				for _, x := range [][]byte{tail[longest-n:], head[:n]} {
					y := other[longest-n:]
					for i := range x {
						x[i] = byte(rnd.Uint32())
					}
					copy(y, x)
					for range []int{0, 1, n / 3}[n%3] {
						y[rnd.IntN(n)] ^= byte(1 << rnd.IntN(8))
					}
					got, want := make([]uint64, 7), make([]uint64, 7)
					for i := range got {
						got[i], want[i] = 77, 77
					}
					require.Equal(t, asm.NotEqualRef(want, x, y), impl.Func(got, x, y), "%d bytes", n)
					require.Equal(t, want, got, "%d bytes", n)
				}
			}
		})
	}
}

// TestNotEqualLong: on both sides of what one assembly call may touch.
func TestNotEqualLong(t *testing.T) {
	n := asm.CallBytes + 200
	x, y := make([]byte, n), make([]byte, n)
	for _, at := range []int{0, asm.CallBytes/2 - 1, asm.CallBytes / 2, n - 1} {
		y[at] = 1
	}
	got, want := make([]uint64, n/64+1), make([]uint64, n/64+1)
	require.True(t, asm.NotEqual(got, x, y))
	require.True(t, asm.NotEqualRef(want, x, y))
	require.Equal(t, want, got)
	require.False(t, asm.NotEqual(got, x, x))
}

func TestNotEqualContract(t *testing.T) {
	assert.PanicsWithValue(t, "asm: NotEqual: len(x)=65, but len(y)=64 and len(dst)=2",
		func() { asm.NotEqual(make([]uint64, 2), make([]byte, 65), make([]byte, 64)) })
	assert.PanicsWithValue(t, "asm: NotEqual: len(x)=65, but len(y)=66 and len(dst)=1",
		func() { asm.NotEqual(make([]uint64, 1), make([]byte, 65), make([]byte, 66)) })
	assert.False(t, asm.NotEqual(nil, nil, nil))
}

func FuzzNotEqual(f *testing.F) {
	f.Add([]byte("some words of text, here and there, more than sixty-four bytes of them"), 3)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		x := data
		y := append([]byte(nil), data...)
		for i := at & 0xff; i < len(y); i += at&0xff + 1 {
			y[i]++
		}
		want := make([]uint64, (len(x)+63)/64)
		differs := asm.NotEqualRef(want, x, y)
		for _, impl := range asm.NotEqualImpls() {
			got := make([]uint64, len(want))
			if impl.Func(got, x, y) != differs || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: %d bytes: got %x want %x", impl.Name, len(x), got, want)
			}
		}
	})
}

// BenchmarkNotEqual compares equal bytes.
func BenchmarkNotEqual(b *testing.B) {
	for _, n := range []int{512, 4096} {
		x, y, dst := make([]byte, n), make([]byte, n), make([]uint64, n/64)
		for _, impl := range asm.NotEqualImpls()[1:] {
			b.Run(fmt.Sprintf("%s/%d", impl.Name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					impl.Func(dst, x, y)
				}
			})
		}
	}
}
