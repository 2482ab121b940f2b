package ecs_test

import (
	"math"
	"testing"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

func TestReinterpretSeesTheSameBits(t *testing.T) {
	for _, inline := range []int{0, 2, 16} {
		w, b, e := solo[float32](t, inline)
		floats := mut(t, b, e)
		floats.Append(1, 2, 3, 4)
		bits := ecs.Reinterpret[uint32](floats)
		require.Equal(t, floats.Cap(), bits.Cap())
		for i, f := range floats.Slice() {
			require.Equal(t, math.Float32bits(f), bits.Slice()[i])
		}
		for i := range 100 { // either view grows it
			bits.Append(math.Float32bits(float32(i)))
			floats.Insert(2, -1)
			require.Equal(t, floats.Len(), bits.Len())
			require.Equal(t, float32(i), floats.Slice()[floats.Len()-1])
		}
		back := ecs.Reinterpret[float32](bits)
		require.Equal(t, floats, back)
		back.RemoveRange(2, 102)
		back.Resize(4)
		bits.Trim()
		require.Equal(t, []float32{1, 2, 3, 4}, floats.Slice())
		require.NoError(t, w.Verify())
	}
}

// TestReinterpretIsAligned views bytes as the types of the strictest alignment.
func TestReinterpretIsAligned(t *testing.T) {
	for inline := range 6 {
		w := ecstest.NewWorld(t)
		eight := ecs.RegisterBuffer[[8]byte](w, ecs.Inline(inline))
		sixteen := ecs.RegisterBuffer[[16]byte](w, ecs.Inline(inline))
		two := ecs.RegisterBuffer[[2]byte](w, ecs.Inline(inline))
		a := ecs.NewArchetype(w, two, eight, sixteen)
		for i := range 50 {
			e := a.Create()
			for k := range 10 {
				mut(t, eight, e).Append([8]byte{byte(i), byte(k)})
				mut(t, sixteen, e).Append([16]byte{byte(i), byte(k)})
				mut(t, two, e).Append([2]byte{byte(i), byte(k)})
				x := ecs.Reinterpret[uint64](mut(t, eight, e)).Slice()
				y := ecs.Reinterpret[complex128](mut(t, sixteen, e)).Slice()
				z := ecs.Reinterpret[uint16](mut(t, two, e)).Slice()
				require.Zero(t, uintptr(unsafe.Pointer(&x[0]))%unsafe.Alignof(x[0]))
				require.Zero(t, uintptr(unsafe.Pointer(&y[0]))%unsafe.Alignof(y[0]))
				require.Zero(t, uintptr(unsafe.Pointer(&z[0]))%unsafe.Alignof(z[0]))
			}
		}
	}
}

func TestReinterpretRefuses(t *testing.T) {
	_, b, e := solo[uint64](t, 2)
	d := mut(t, b, e)
	require.PanicsWithValue(t,
		"ecs: Reinterpret: an element of []uint64 has 8 bytes, uint32 has 4: sizes must be equal",
		func() { ecs.Reinterpret[uint32](d) })
	require.PanicsWithValue(t, "ecs: Reinterpret: an element of []uint64 has 8 bytes, Tag has 0: sizes must be equal",
		func() { ecs.Reinterpret[ecstest.Tag](d) })
	type link struct{ Next *int }
	require.PanicsWithValue(t,
		"ecs: Reinterpret: link.Next is a *int; elements must hold no Go pointers, for they lie outside the garbage collector's heap",
		func() { ecs.Reinterpret[link](d) })
}
