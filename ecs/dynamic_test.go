package ecs_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// value makes the n'th value of a type without padding: neighbours differ in their
// first bytes, and whole values too.
func value[T any](n int) (v T) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	for i := range b {
		b[i] = byte(uint32(n+i*57) * 2654435761 >> 13)
	}
	b[0] = byte(n)
	return v
}

func values[T any](from, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = value[T](from + i)
	}
	return v
}

// solo is one entity with a buffer of T.
func solo[T any](t testing.TB, inline int) (*ecs.World, ecs.Buffer[T], ecs.Entity) {
	t.Helper()
	w := ecstest.NewWorld(t)
	b := ecs.RegisterBuffer[T](w, ecs.Inline(inline))
	return w, b, ecs.NewArchetype(w, b).Create()
}

func mut[T any](t testing.TB, b ecs.Buffer[T], e ecs.Entity) ecs.DynamicBuffer[T] {
	t.Helper()
	d, ok := b.Mut(e)
	require.True(t, ok)
	return d
}

// TestArgumentsMayBeOfTheBuffer gives each method that takes elements every span of
// the buffer's own elements, with and without room.
func TestArgumentsMayBeOfTheBuffer(t *testing.T) {
	for _, room := range []int{7, 40} { // 7: it must grow, unless nothing is added
		_, b, e := solo[[3]byte](t, 0)
		for n := range 8 {
			for lo := range n + 1 {
				for hi := lo; hi <= n; hi++ {
					start := values[[3]byte](1, n)
					reset := func() ecs.DynamicBuffer[[3]byte] {
						d := mut(t, b, e)
						d.Clear()
						d.Trim()
						d.Reserve(room)
						d.CopyFrom(start)
						return d
					}
					for i := range n + 1 {
						d := reset()
						d.Insert(i, d.Slice()[lo:hi]...)
						require.Equal(t, slices.Insert(slices.Clone(start), i, start[lo:hi]...), d.Slice(),
							"%d %d %d %d", n, i, lo, hi)
					}
					d := reset()
					d.Append(d.Slice()[lo:hi]...)
					require.Equal(t, append(slices.Clone(start), start[lo:hi]...), d.Slice())
					d = reset()
					d.CopyFrom(d.Slice()[lo:hi])
					require.Equal(t, append([][3]byte{}, start[lo:hi]...), append([][3]byte{}, d.Slice()...))
				}
			}
		}
	}
}

// TestArgumentsMayBeRemovedElements uses a slice from before the buffer became
// shorter: its elements lie where the new ones go.
func TestArgumentsMayBeRemovedElements(t *testing.T) {
	for i := range 4 {
		_, b, e := solo[uint32](t, 10)
		d := mut(t, b, e)
		d.Append(0, 1, 2, 3, 4, 5, 6)
		old := d.Slice()
		d.RemoveRange(3, 7)
		d.Insert(i, old[2:6]...)
		require.Equal(t, slices.Insert([]uint32{0, 1, 2}, i, 2, 3, 4, 5), d.Slice())
	}
	_, b, e := solo[uint32](t, 10)
	d := mut(t, b, e)
	d.Append(0, 1, 2, 3, 4, 5, 6)
	old := d.Slice()
	d.Clear()
	for _, v := range old { // a filter in place
		if v%2 == 0 {
			d.Append(v)
		}
	}
	require.Equal(t, []uint32{0, 2, 4, 6}, d.Slice())
}

func TestCopyFromAnotherBuffer(t *testing.T) {
	w := ecstest.NewWorld(t)
	b := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(2))
	a := ecs.NewArchetype(w, b)
	e, f := a.Create(), a.Create()
	for n := range 100 {
		d := mut(t, b, e)
		d.Append(ecstest.Hit{By: e, Damage: int32(n)})
		g := mut(t, b, f)
		g.CopyFrom(d.Slice())
		require.Equal(t, d.Slice(), g.Slice())
		g.Slice()[n].Damage = -1
		require.Equal(t, int32(n), d.Slice()[n].Damage, "a copy")
	}
	g := mut(t, b, f)
	room := g.Cap()
	g.CopyFrom(nil)
	require.Zero(t, g.Len())
	require.Equal(t, room, g.Cap())
	require.NoError(t, w.Verify())
}

// TestSliceHasNoSpareCapacity appends to a slice in Go's way.
func TestSliceHasNoSpareCapacity(t *testing.T) {
	_, b, e := solo[uint32](t, 8)
	d := mut(t, b, e)
	d.Append(1, 2, 3)
	s := append(d.Slice(), 4)
	s[0] = 99
	d.ResizeUninitialized(4)
	require.Equal(t, uint32(1), d.Slice()[0])
	require.NotEqual(t, uint32(4), d.Slice()[3], "nothing was written behind the elements")
}

func TestBufferSlice(t *testing.T) {
	w, b, e := solo[uint32](t, 2)
	require.Empty(t, b.Slice(e))
	b.Append(e, 1, 2, 3)
	require.Equal(t, []uint32{1, 2, 3}, b.Slice(e))
	require.True(t, b.Remove(e))
	require.Nil(t, b.Slice(e))
	w.Destroy(e)
	require.Nil(t, b.Slice(e))
}

// TestWrongIndexChangesNothing makes every call with an index or a number out of
// range.
func TestWrongIndexChangesNothing(t *testing.T) {
	for _, n := range []int{0, 3, 5} { // empty, inline, spilled
		w, b, e := solo[uint16](t, 4)
		d := mut(t, b, e)
		d.Append(values[uint16](1, n)...)
		hash, room := w.Hash(), d.Cap()
		wrong := map[string]func(){}
		for _, i := range []int{-1, n + 1, math.MaxInt, math.MinInt} {
			wrong[fmt.Sprintf("Insert: index %d is not in [0, %d]", i, n)] = func() {
				d.Insert(i, make([]uint16, 100)...)
			}
		}
		for _, i := range []int{-1, n, n + 1, math.MaxInt, math.MinInt} {
			wrong[fmt.Sprintf("RemoveAt: index %d is not in [0, %d)", i, n)] = func() { d.RemoveAt(i) }
			wrong[fmt.Sprintf("SwapRemove: index %d is not in [0, %d)", i, n)] = func() { d.SwapRemove(i) }
		}
		for _, r := range [][2]int{{-1, 0}, {0, n + 1}, {n + 1, n + 1}, {1, 0}, {-1, -1}, {math.MinInt, math.MaxInt},
			{math.MaxInt, math.MinInt}} {
			wrong[fmt.Sprintf("RemoveRange: [%d, %d) is not a range within [0, %d)", r[0], r[1], n)] = func() {
				d.RemoveRange(r[0], r[1])
			}
			wrong[fmt.Sprintf("SwapRemoveRange: [%d, %d) is not a range within [0, %d)", r[0], r[1], n)] = func() {
				d.SwapRemoveRange(r[0], r[1])
			}
		}
		for _, k := range []int{-1, math.MinInt} {
			wrong[fmt.Sprintf("Resize: n=%d is negative", k)] = func() { d.Resize(k) }
			wrong[fmt.Sprintf("ResizeUninitialized: n=%d is negative", k)] = func() { d.ResizeUninitialized(k) }
			wrong[fmt.Sprintf("Reserve: n=%d is negative", k)] = func() { d.Reserve(k) }
		}
		for text, f := range wrong {
			require.PanicsWithValue(t, "ecs: DynamicBuffer."+text, f)
			require.Equal(t, hash, w.Hash(), text)
			require.Equal(t, n, d.Len(), text)
			require.Equal(t, room, d.Cap(), text)
		}
		require.NoError(t, w.Verify())
	}
}

// TestReadersAndStaleViewsAreRefused calls every method on a view that is to read
// only, one that is stale, one of a closed world and the zero value.
func TestReadersAndStaleViewsAreRefused(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	b := ecs.RegisterBuffer[uint16](w)
	e := ecs.NewArchetype(w, b).Create()
	old, _ := b.Mut(e)
	ecs.NewArchetype(w).Create()
	reader, _ := b.Get(e)
	type view = ecs.DynamicBuffer[uint16]
	writes := map[string]func(view){
		"DynamicBuffer.Append":              func(d view) { d.Append(1) },
		"DynamicBuffer.Insert":              func(d view) { d.Insert(0, 1) },
		"DynamicBuffer.RemoveAt":            func(d view) { d.RemoveAt(0) },
		"DynamicBuffer.RemoveRange":         func(d view) { d.RemoveRange(0, 0) },
		"DynamicBuffer.SwapRemove":          func(d view) { d.SwapRemove(0) },
		"DynamicBuffer.SwapRemoveRange":     func(d view) { d.SwapRemoveRange(0, 0) },
		"DynamicBuffer.Resize":              func(d view) { d.Resize(1) },
		"DynamicBuffer.ResizeUninitialized": func(d view) { d.ResizeUninitialized(1) },
		"DynamicBuffer.Reserve":             func(d view) { d.Reserve(100) },
		"DynamicBuffer.Trim":                func(d view) { d.Trim() },
		"DynamicBuffer.Clear":               func(d view) { d.Clear() },
		"DynamicBuffer.CopyFrom":            func(d view) { d.CopyFrom([]uint16{1}) },
	}
	reads := map[string]func(view){
		"DynamicBuffer.Len":   func(d view) { d.Len() },
		"DynamicBuffer.Cap":   func(d view) { d.Cap() },
		"DynamicBuffer.Slice": func(d view) { d.Slice() },
		"Reinterpret":         func(d view) { ecs.Reinterpret[int16](d) },
	}
	for op, f := range writes {
		require.PanicsWithValue(t, "ecs: "+op+": the []uint16 was opened to read: use Buffer.Mut or ecs.Write",
			func() { f(reader) })
		reads[op] = f
	}
	require.PanicsWithValue(t,
		"ecs: DynamicBuffer.Append: the []uint16 was opened to read: use Buffer.Mut or ecs.Write",
		func() { ecs.Reinterpret[int16](reader).Append(1) })
	last, _ := b.Mut(e)
	for _, d := range []view{old, last} {
		if d == last {
			require.NoError(t, w.Verify())
			require.NoError(t, w.Close())
		}
		for op, f := range reads {
			require.PanicsWithValue(t,
				"ecs: "+op+": the view of a []uint16 is no longer current: the world has changed since it was taken",
				func() { f(d) })
			require.PanicsWithValue(t,
				"ecs: "+op+": the buffer is the zero value; buffers come from Buffer.Get, Mut and At",
				func() { f(view{}) })
		}
	}
}

// TestBuffersAllocateNothing counts allocations on Go's heap, growth included.
func TestBuffersAllocateNothing(t *testing.T) {
	var at uintptr
	if testing.AllocsPerRun(1, func() { var x [4]int; at ^= uintptr(unsafe.Pointer(&x[0])) }) > 0 {
		t.Skipf("this build moves what is converted to unsafe.Pointer to Go's heap (%#x)", at)
	}
	w, b, e := solo[ecstest.Hit](t, 2)
	d := mut(t, b, e)
	more := make([]ecstest.Hit, 5)
	for name, f := range map[string]func(){
		"Append": func() { d.Append(ecstest.Hit{By: e, Damage: 1}) },
		"Append many": func() {
			d.Append(ecstest.Hit{By: e, Damage: 1}, ecstest.Hit{By: e, Damage: 2}, ecstest.Hit{By: e, Damage: 3})
		},
		"TryAppend":           func() { _ = ecs.Try(func() { d.Append(more...) }) },
		"by entity":           func() { b.Append(e, ecstest.Hit{By: e, Damage: 1}, ecstest.Hit{By: e, Damage: 2}) },
		"read":                func() { _ = b.Slice(e) },
		"Insert":              func() { d.Insert(0, ecstest.Hit{By: e, Damage: 1}, ecstest.Hit{By: e, Damage: 2}) },
		"Insert itself":       func() { d.Insert(0, d.Slice()...) },
		"Resize":              func() { d.Resize(50) },
		"ResizeUninitialized": func() { d.ResizeUninitialized(100) },
		"Reserve":             func() { d.Reserve(200) },
		"CopyFrom":            func() { d.CopyFrom(more) },
		"removals":            func() { d.Resize(9); d.RemoveAt(3); d.SwapRemove(0); d.RemoveRange(1, 4) },
		"Reinterpret":         func() { ecs.Reinterpret[[3]int32](d).Append([3]int32{1, 2, 3}) },
	} {
		step := func() { // inline, then spilled, then trimmed
			d.Clear()
			d.Trim()
			f()
			f()
			d.Resize(6)
			d.Trim()
			f()
		}
		step()
		require.Zero(t, testing.AllocsPerRun(20, step), name)
	}
	require.NoError(t, w.Verify())
}
