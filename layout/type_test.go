package layout_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/layout"
)

type weapon struct {
	Damage int32
	Name   string
}

type armed struct {
	Slots [2]struct {
		ID int32
		W  weapon
	}
}

type node struct {
	Value int
	Next  *node
}

func TestPointerFree(t *testing.T) {
	for _, c := range []struct {
		value any
		text  string // "" when the type is free of pointers
	}{
		{struct{ X, Y float64 }{}, ""},
		{[4]uint16{}, ""},
		{struct{}{}, ""},
		{uintptr(0), ""},
		{[0]*int{}, ""},
		{complex64(0), ""},
		{weapon{}, "weapon.Name is a string"},
		{armed{}, "armed.Slots[].W.Name is a string"},
		{node{}, "node.Next is a *layout_test.node"},
		{"", "string is a string"},
		{[]int{}, "[]int is a []int"},
		{struct{ M map[int]int }{}, "struct { M map[int]int }.M is a map[int]int"},
		{struct{ F func() }{}, "struct { F func() }.F is a func()"},
		{struct{ C chan int }{}, "struct { C chan int }.C is a chan int"},
		{struct{ E any }{}, "struct { E interface {} }.E is an interface"},
		{struct{ P unsafe.Pointer }{}, "struct { P unsafe.Pointer }.P is an unsafe.Pointer"},
		{[3]*int{}, "[3]*int[] is a *int"},
	} {
		err := layout.PointerFree(reflect.TypeOf(c.value))
		if c.text == "" {
			require.NoError(t, err, "%T", c.value)
			continue
		}
		require.EqualError(t, err, c.text)
		var pe *layout.PointerError
		require.ErrorAs(t, err, &pe)
		require.Equal(t, reflect.TypeOf(c.value), pe.Type)
	}
}

type link struct{ Ref, Version uint32 }

func TestFields(t *testing.T) {
	type padded struct {
		A uint8
		B uint32
		_ uint32
		C [2]struct {
			D uint16
			E uint8
		}
		L link
		F uint64
	}
	got := layout.Fields(reflect.TypeFor[padded](), reflect.TypeFor[link]())
	want := []layout.Field{{Size: 1}, {Offset: 4, Size: 4},
		{Offset: 12, Size: 4, Count: 2, Each: []layout.Field{{Size: 3}}},
		{Offset: 20, Size: 8, Marked: true}, {Offset: 32, Size: 8}}
	require.Equal(t, want, got)
	require.Equal(t, []layout.Field{{Size: 16}}, layout.Fields(reflect.TypeFor[struct{ X, Y float64 }](), nil))
	require.Empty(t, layout.Fields(reflect.TypeFor[struct{}](), nil))
	require.PanicsWithValue(t, "layout: Fields: weapon.Name is a string",
		func() { layout.Fields(reflect.TypeFor[weapon](), nil) })
}

// hollow has a great many elements without a size; a walk that looks at each does not end.
type hollow struct {
	X     float32
	Empty [1 << 40]struct{ A [0]link }
	Y     float32
}

// long has arrays in arrays, of which elements have gaps and links.
type long[N any] struct {
	ID   uint16
	Rows [3]struct {
		Kind  uint8
		To    link
		Cells [2]struct {
			Open uint8
			Next link
			N    N
		}
	}
	Flat  [5][7]uint16
	Links [4]link
	_     [9]uint32
}

// TestFieldsAgreeWithTwin compares the bytes of fields with those that a walk over each element
// finds.
func TestFieldsAgreeWithTwin(t *testing.T) {
	for _, of := range []reflect.Type{
		reflect.TypeFor[long[uint8]](), reflect.TypeFor[long[uint64]](), reflect.TypeFor[[3]long[uint16]](),
		reflect.TypeFor[hollow](),
		reflect.TypeFor[[2][3]gap](), reflect.TypeFor[[6]link](), reflect.TypeFor[box](),
		reflect.TypeFor[struct{ _ uint32 }](), reflect.TypeFor[[0]link](),
	} {
		for _, marked := range []reflect.Type{nil, reflect.TypeFor[link](), reflect.TypeFor[uint8]()} {
			want, got := make([]byte, of.Size()), make([]byte, of.Size())
			paint(want, of, marked)
			paintFields(got, layout.Fields(of, marked))
			require.Equal(t, string(want), string(got), "%v, %v", of, marked)
		}
	}
}

// paint marks the bytes of a value that hold data by d, those of a marked value by an m and ms.
func paint(bytes []byte, t, marked reflect.Type) {
	switch {
	case t.Size() == 0:
	case t == marked:
		paintFields(bytes, []layout.Field{{Size: int(t.Size()), Marked: true}})
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			paint(bytes[uintptr(i)*t.Elem().Size():], t.Elem(), marked)
		}
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" {
				paint(bytes[f.Offset:], f.Type, marked)
			}
		}
	default:
		paintFields(bytes, []layout.Field{{Size: int(t.Size())}})
	}
}

func paintFields(bytes []byte, fields []layout.Field) {
	for _, f := range fields {
		for i := range f.Count {
			paintFields(bytes[f.Offset+i*f.Size:], f.Each)
		}
		for i := range f.Size {
			switch {
			case f.Count > 0:
			case !f.Marked:
				bytes[f.Offset+i] = 'd'
			case i == 0:
				bytes[f.Offset] = 'M'
			default:
				bytes[f.Offset+i] = 'm'
			}
		}
	}
}

// entries counts the entries of a list of fields.
func entries(fields []layout.Field) (n int) {
	for _, f := range fields {
		n += 1 + entries(f.Each)
	}
	return n
}

// TestWalksOverTypesAreShort: the check of a type takes as long as the type is written, however
// long its arrays are. A walk over each element would not end.
func TestWalksOverTypesAreShort(t *testing.T) {
	of := reflect.TypeFor[hollow]()
	require.NoError(t, layout.PointerFree(of))
	require.NoError(t, layout.PointerFree(reflect.TypeFor[[1 << 40]gap]()))
	require.Equal(t, []layout.Field{{Size: 8}}, layout.Fields(of, reflect.TypeFor[link]()))
	require.Equal(t, []float32{1, 2}, layout.Flat[float32]([]hollow{{X: 1, Y: 2}}))
	for most, of := range map[int]reflect.Type{
		1:  reflect.TypeFor[[1 << 40]uint32](),
		2:  reflect.TypeFor[[1 << 40]link](),
		3:  reflect.TypeFor[[1 << 40]gap](),
		5:  reflect.TypeFor[[1 << 20][1 << 20]struct{ A, B gap }](),
		13: reflect.TypeFor[[1 << 20]long[uint64]](),
	} {
		require.LessOrEqual(t, entries(layout.Fields(of, reflect.TypeFor[link]())), most, of)
	}
}
