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
	want := []layout.Field{{0, 1, false}, {4, 4, false}, {12, 3, false}, {16, 3, false}, {20, 8, true}, {32, 8, false}}
	require.Equal(t, want, got)
	require.Equal(t, []layout.Field{{0, 16, false}}, layout.Fields(reflect.TypeFor[struct{ X, Y float64 }](), nil))
	require.Empty(t, layout.Fields(reflect.TypeFor[struct{}](), nil))
	require.PanicsWithValue(t, "layout: Fields: weapon.Name is a string", func() { layout.Fields(reflect.TypeFor[weapon](), nil) })
}
