package asm_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"quarry/asm"
	"quarry/internal/debug"
)

// Elements of every size that has a kernel of its own.
type (
	four    = uint32
	eight   = [2]uint32
	sixteen = [4]uint32
)

// randomRows fills rows of any type without pointers with random bytes.
func randomRows[T any](rnd *rand.Rand) func([]T) {
	return func(s []T) {
		b := rawBytes(s)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
	}
}

func testFill[T comparable](t *testing.T, list []asm.Impl[asm.FillFunc[T]]) {
	for _, impl := range list {
		t.Run(fmt.Sprintf("size=%d/impl=%s", unsafe.Sizeof(*new(T)), impl.Name), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			one, want := make([]T, 1), make([]T, longest)
			eachColumn(t, randomRows[T](rnd), false, func(c columnCase[T]) {
				randomRows[T](rnd)(one)
				asm.FillRef(want[:len(c.dst)], one[0])
				impl.Func(c.dst, one[0])
				if !slices.Equal(c.dst, want[:len(c.dst)]) {
					t.Fatalf("%s: n=%d: got %v want %v", c.what, len(c.dst), c.dst, one[0])
				}
			})
		})
	}
}

func TestFillColumns(t *testing.T) {
	testFill(t, asm.FillImpls[four]())
	testFill(t, asm.FillImpls[eight]())
	testFill(t, asm.FillImpls[sixteen]())
	testFill(t, publicFill[byte]())
	testFill(t, publicFill[[3]byte]())
	testFill(t, publicFill[[3]uint32]())
	testFill(t, publicFill[[2]byte]())
	testFill(t, publicFill[[5]uint64]())
}

// publicFill is what a size without a kernel has.
func publicFill[T any]() []asm.Impl[asm.FillFunc[T]] {
	return []asm.Impl[asm.FillFunc[T]]{{Name: "public", Func: asm.Fill[T]}}
}

func TestFillLong(t *testing.T) {
	type position struct{ X, Y float64 }
	for _, n := range []int{asm.CallBytes/16 - 1, asm.CallBytes/16 + 1, asm.CallBytes/8 + 3} {
		got, want := make([]position, n), make([]position, n)
		asm.Fill(got, position{1, 2})
		asm.FillRef(want, position{1, 2})
		assert.True(t, slices.Equal(want, got), "n=%d", n)
		asm.Fill(got[1:], position{3, 4}) // begins at another place in its vectors
		asm.FillRef(want[1:], position{3, 4})
		assert.True(t, slices.Equal(want, got), "n=%d", n)
	}
	huge, wantHuge := make([][5000]byte, 3), make([][5000]byte, 3)
	asm.Fill(huge, [5000]byte{1, 4999: 2})
	asm.FillRef(wantHuge, [5000]byte{1, 4999: 2})
	assert.True(t, slices.Equal(huge, wantHuge))
	assert.NotPanics(t, func() { asm.Fill(make([]struct{}, 1000), struct{}{}) })
}

func TestFillRefusesPointers(t *testing.T) {
	type named struct {
		ID   uint32
		Name []string
	}
	if !debug.On {
		t.Skip("only debug builds look")
	}
	assert.PanicsWithValue(t, "asm: Fill: elements of type asm_test.named hold Go pointers", func() {
		asm.Fill(make([]named, 3), named{})
	})
	assert.PanicsWithValue(t, "asm: Compact: elements of type *int hold Go pointers", func() {
		asm.Compact(make([]*int, 3), make([]*int, 3), []uint64{1})
	})
	assert.PanicsWithValue(t, "asm: Fill: elements of type [2]string hold Go pointers", func() {
		asm.Fill([][2]string{}, [2]string{})
	})
	assert.NotPanics(t, func() { asm.Fill([][0]string{{}}, [0]string{}) })
}

func TestConsecutive(t *testing.T) {
	for _, impl := range asm.ConsecutiveImpls() {
		t.Run("impl="+impl.Name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			want := make([]eight, longest)
			eachColumn(t, randomRows[eight](rnd), false, func(c columnCase[eight]) {
				// Half of the time the index passes 2^32 somewhere in the column.
				first, version := rnd.Uint32(), rnd.Uint32()
				if version%2 == 0 {
					first = -uint32(rnd.IntN(longest))
				}
				asm.ConsecutiveRef(want[:len(c.dst)], first, version)
				impl.Func(c.dst, first, version)
				if !slices.Equal(c.dst, want[:len(c.dst)]) {
					t.Fatalf("%s: n=%d first=%#x version=%#x: got %v want %v",
						c.what, len(c.dst), first, version, c.dst, want[:len(c.dst)])
				}
			})
		})
	}
	n := 2*asm.CallBytes/8 + 5
	got, want := make([]eight, n), make([]eight, n)
	asm.Consecutive(got, 1<<31, 7)
	asm.ConsecutiveRef(want, 1<<31, 7)
	assert.True(t, slices.Equal(want, got), "several assembly calls")
}

// FuzzFill: data is the value; n elements, moved by off.
func FuzzFill(f *testing.F) {
	f.Add(uint16(100), byte(3), []byte("sixteen bytes of value"))
	f.Fuzz(func(t *testing.T, n uint16, off byte, data []byte) {
		value := make([]sixteen, 1)
		copy(rawBytes(value), data)
		v := value[0]
		fuzzFill(t, int(n%2048), int(off%16), v[0], asm.FillImpls[four]())
		fuzzFill(t, int(n%2048), int(off%16), eight{v[1], v[2]}, asm.FillImpls[eight]())
		fuzzFill(t, int(n%2048), int(off%16), v, asm.FillImpls[sixteen]())
	})
}

func fuzzFill[T comparable](t *testing.T, n, lo int, v T, list []asm.Impl[asm.FillFunc[T]]) {
	for _, impl := range list {
		room := make([]T, lo+n+1)
		want := slices.Clone(room)
		asm.FillRef(want[lo:lo+n], v)
		impl.Func(room[lo:lo+n], v)
		if !slices.Equal(room, want) {
			t.Fatalf("%s: n=%d off=%d %v: got %v want %v", impl.Name, n, lo, v, room, want)
		}
	}
}
