package layout_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/layout"
)

type vec2 struct{ X, Y float32 }
type box struct{ Low, High vec2 }
type mixed struct {
	At vec2
	N  int32
}
type gap struct {
	A uint8
	B uint16
}

func TestFlatSharesMemory(t *testing.T) {
	boxes := []box{{vec2{1, 2}, vec2{3, 4}}, {vec2{5, 6}, vec2{7, 8}}}
	flat := layout.Flat[float32](boxes)
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6, 7, 8}, flat)
	flat[7] = 80
	require.Equal(t, float32(80), boxes[1].High.Y)
	require.Len(t, layout.Flat[float64]([][3]float64{{1, 2, 3}}), 3)
	require.Equal(t, []uint16{7}, layout.Flat[uint16]([]uint16{7}))
	require.Equal(t, []float32{1, 2, 3, 4}, layout.Flat[float32]([][2]vec2{{{1, 2}, {3, 4}}}))
	require.Empty(t, layout.Flat[float32]([][1 << 22]float32(nil)))
	require.Empty(t, layout.Flat[float32]([]vec2(nil)))
	require.Empty(t, layout.Flat[float32](boxes[:0]))
}

func TestFlatRefuses(t *testing.T) {
	for text, f := range map[string]func(){
		"layout: Flat: mixed.N is a int32, not a float32":                   func() { layout.Flat[float32]([]mixed{{}}) },
		"layout: Flat: vec2.X is a float32, not a float64":                  func() { layout.Flat[float64]([]vec2{{}}) },
		"layout: Flat: gap.A is a uint8, not a uint16":                      func() { layout.Flat[uint16]([]gap{{}}) },
		"layout: Flat: struct {} has 0 bytes, 0 of them float32s":           func() { layout.Flat[float32]([]struct{}{{}}) },
		"layout: Flat: [16777216]struct {} has 0 bytes, 0 of them float32s": func() { layout.Flat[float32]([][1 << 24]struct{}{{}}) },
		"layout: Flat: string is a string, not a float32":                   func() { layout.Flat[float32]([]string{""}) },
		"layout: Flat: [0]float32 has 0 bytes, 0 of them float32s":          func() { layout.Flat[float32]([][0]float32{{}}) },
	} {
		require.PanicsWithValue(t, text, f)
		require.PanicsWithValue(t, text, f, "asked again")
	}
}

func TestFlatAllocatesNothing(t *testing.T) {
	if testing.AllocsPerRun(100, func() {
		var v vec2
		// Safe because the type stays the same.
		(*vec2)(unsafe.Pointer(&v)).X++
	}) > 0 {
		t.Skip("this build allocates for every unsafe.Pointer (checkptr=2)")
	}
	column := make([]vec2, 100)
	sum := float32(0)
	require.Zero(t, testing.AllocsPerRun(100, func() { sum += layout.Flat[float32](column)[3] }))
}
