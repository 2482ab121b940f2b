package ecs_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// Behaviours of dynamic buffers: 57, elements from inside the chunk to the heap and
// back, edges, moves and the end; 58, what is used after its time is caught.

// eachStart runs a test on buffers of every length around the room inside the
// chunk, which is 4, and with a block that is kept while the buffer is short.
func eachStart(t *testing.T, test func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32)) {
	for n := range 10 {
		for _, reserve := range []int{0, 4, 5, 100} {
			t.Run(fmt.Sprintf("length=%d/reserve=%d", n, reserve), func(t *testing.T) {
				w, b, e := solo[uint32](t, 4)
				d := mut(t, b, e)
				start := values[uint32](1, n)
				d.Append(start...)
				d.Reserve(reserve)
				test(t, d, start)
				require.NoError(t, w.Verify())
				require.GreaterOrEqual(t, d.Cap(), max(4, d.Len()))
				w.Destroy(e)
				require.Zero(t, w.Stats().Buffers)
			})
		}
	}
}

func TestBehaviour57_InsertAtEveryPlace(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		for i := range len(start) + 1 {
			for k := range 6 {
				d.CopyFrom(start)
				d.Insert(i, values[uint32](90, k)...)
				require.Equal(t, slices.Insert(slices.Clone(start), i, values[uint32](90, k)...), d.Slice())
			}
		}
		require.Panics(t, func() { d.Insert(d.Len()+1, 1) }, "one past the end's place")
	})
}

func TestBehaviour57_AppendOneManyAndNone(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		room := d.Cap()
		d.Append()
		require.Equal(t, room, d.Cap(), "nothing needs no room")
		require.Equal(t, start, d.Slice())
		for i := range 300 {
			d.Append(uint32(i))
		}
		d.Append(values[uint32](7, 1000)...)
		require.Equal(t, start, d.Slice()[:len(start)])
		require.Equal(t, uint32(299), d.Slice()[len(start)+299])
		require.Equal(t, values[uint32](7, 1000), d.Slice()[len(start)+300:])
	})
}

func TestBehaviour57_RemoveAtEveryPlace(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		room := d.Cap()
		for i := range start {
			d.CopyFrom(start)
			d.RemoveAt(i)
			require.Equal(t, slices.Delete(slices.Clone(start), i, i+1), d.Slice())
			d.CopyFrom(start)
			d.SwapRemove(i)
			want := slices.Clone(start)
			want[i] = want[len(want)-1]
			require.Equal(t, want[:len(want)-1], d.Slice())
		}
		require.Panics(t, func() { d.RemoveAt(d.Len()) })
		require.Panics(t, func() { d.SwapRemove(d.Len()) })
		for d.Len() > 0 {
			d.RemoveAt(0)
		}
		require.Panics(t, func() { d.RemoveAt(0) }, "empty")
		require.Equal(t, room, d.Cap(), "removing keeps the room")
	})
}

func TestBehaviour57_RemoveEveryRange(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		room := d.Cap()
		for lo := range len(start) + 1 {
			for hi := lo; hi <= len(start); hi++ { // empty, at the edges, all
				d.CopyFrom(start)
				d.RemoveRange(lo, hi)
				require.Equal(t, slices.Delete(slices.Clone(start), lo, hi), d.Slice())
				d.CopyFrom(start)
				d.SwapRemoveRange(lo, hi)
				want, last := slices.Clone(start), start[max(hi, len(start)-(hi-lo)):]
				copy(want[lo:], last)
				require.Equal(t, want[:len(start)-(hi-lo)], d.Slice(), "[%d, %d) of %v", lo, hi, start)
			}
		}
		require.Equal(t, room, d.Cap())
	})
}

func TestBehaviour57_ResizeToEveryLength(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		for n := range 20 {
			d.CopyFrom(values[uint32](50, 20)) // what must not be seen again
			d.CopyFrom(start)
			d.Resize(n)
			want := append(slices.Clone(start[:min(n, len(start))]), make([]uint32, max(0, n-len(start)))...)
			require.Equal(t, want, d.Slice())
			d.CopyFrom(start)
			d.ResizeUninitialized(n)
			require.Equal(t, n, d.Len())
			require.Equal(t, start[:min(n, len(start))], d.Slice()[:min(n, len(start))])
			if debug.On && n > len(start) {
				require.Equal(t, uint32(debug.Fresh)*0x01010101, d.Slice()[n-1],
					"debug builds show what was not written")
			}
		}
	})
}

func TestBehaviour57_Reserve(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		for _, n := range []int{0, 1, 3, 4, 5, 6, 100, 50} {
			had := d.Cap()
			d.Reserve(n)
			require.GreaterOrEqual(t, d.Cap(), max(n, had), "room is never taken away")
			require.Equal(t, start, d.Slice())
		}
		require.Less(t, d.Cap(), 130, "100 elements and what the heap's size class gives")
		room := d.Cap()
		for d.Len() < room {
			d.Append(1)
			require.Equal(t, room, d.Cap())
		}
	})
}

func TestBehaviour57_TrimGoesBackInside(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		for range 2 { // the second has nothing to do
			d.Trim()
			require.Equal(t, start, d.Slice())
			if len(start) <= 4 {
				require.Equal(t, 4, d.Cap(), "never less than the room inside the chunk")
				continue
			}
			require.Equal(t, (len(start)+3)/4*4, d.Cap(), "the heap's blocks are of 16 bytes' steps")
		}
		d.Append(77)
		require.Equal(t, append(start, 77), d.Slice())
	})
}

func TestBehaviour57_ClearAndCopyFrom(t *testing.T) {
	eachStart(t, func(t *testing.T, d ecs.DynamicBuffer[uint32], start []uint32) {
		room := d.Cap()
		d.Clear()
		require.Empty(t, d.Slice())
		require.Equal(t, room, d.Cap(), "Clear keeps the room")
		for k := range 12 {
			d.CopyFrom(values[uint32](k, k))
			require.Equal(t, values[uint32](k, k), d.Slice())
		}
		d.CopyFrom(d.Slice())
		require.Equal(t, values[uint32](11, 11), d.Slice())
		d.CopyFrom(nil)
		require.Zero(t, d.Len())
	})
}

// TestBehaviour57_LengthsAroundBlockSizes takes lengths around those that fill the
// heap's blocks: slots, wide slots and runs of chunks.
func TestBehaviour57_LengthsAroundBlockSizes(t *testing.T) {
	w, b, e := solo[[5]byte](t, 3)
	for _, size := range []int{16, 32, 112, 128, 160, 512, 1024, 1152, 2048, 3264, 4096, 5440, 8192, 9344, 10880, 16384,
		18688, 24576, 32768, 40960, 49152, 65536, 1<<20 - 16384, 1 << 20} {
		for n := size/5 - 1; n <= min(size/5+1, 1<<20/5); n++ {
			d := mut(t, b, e)
			want := values[[5]byte](size, n)
			d.CopyFrom(want)
			require.True(t, slices.Equal(want, d.Slice()))
			d.Trim()
			require.True(t, slices.Equal(want, d.Slice()))
			if n > 3 {
				require.GreaterOrEqual(t, b.SpilledSize(e), n*5)
			}
			if n < 1<<20/5 {
				d.Insert(n/2, value[[5]byte](3))
				want = slices.Insert(want, n/2, value[[5]byte](3))
				require.True(t, slices.Equal(want, d.Slice()))
				d.RemoveAt(n / 2)
			}
			d.RemoveRange(n/3, n-1)
			d.Trim()
			require.Equal(t, want[:n/3], d.Slice()[:n/3])
			require.Equal(t, n/3+1, d.Len())
			require.NoError(t, w.Verify())
		}
	}
}

// TestBehaviour57_SurvivesMoves adds and removes other types, and ends neighbours.
func TestBehaviour57_SurvivesMoves(t *testing.T) {
	w := ecstest.NewWorld(t)
	b, other := ecs.RegisterBuffer[uint32](w, ecs.Inline(4)), ecs.RegisterBuffer[[7]byte](w, ecs.Inline(1))
	position, stun := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Stun](w, ecs.Enableable)
	a := ecs.NewArchetype(w, b)
	var ids []ecs.Entity
	for n := range 500 {
		ids = append(ids, a.Create())
		b.Append(ids[n], values[uint32](n, n%12)...)
	}
	check := func(step string) {
		for n, e := range ids {
			if w.Alive(e) {
				require.Equal(t, n%12, len(b.Slice(e)), step)
				require.True(t, slices.Equal(values[uint32](n, n%12), b.Slice(e)), step)
			}
		}
		require.NoError(t, w.Verify(), step)
	}
	spilled := w.Stats().Buffers
	for n, e := range ids {
		if n%2 == 0 {
			position.Add(e, ecstest.Position{X: 1, Y: 2})
		}
		if n%3 == 0 {
			stun.Add(e, ecstest.Stun{})
			stun.Disable(e)
		}
		other.Add(e)
		other.Append(e, values[[7]byte](n, n%4)...)
	}
	check("added")
	for _, e := range ids {
		position.Remove(e)
		other.Remove(e)
		stun.Remove(e)
	}
	check("removed")
	require.Equal(t, spilled, w.Stats().Buffers, "moving takes no blocks, removing gives them back")
	for n, e := range ids {
		if n%5 == 0 {
			w.Destroy(e)
		}
	}
	check("neighbours destroyed")
}

// TestBehaviour57_FreedWithTheEntity ends buffers in each way there is.
func TestBehaviour57_FreedWithTheEntity(t *testing.T) {
	for name, end := range map[string]func(*ecs.World, ecs.Buffer[uint32], ecs.Entity){
		"Destroy": func(w *ecs.World, _ ecs.Buffer[uint32], e ecs.Entity) { w.Destroy(e) },
		"Remove":  func(_ *ecs.World, b ecs.Buffer[uint32], e ecs.Entity) { b.Remove(e) },
		"Trim": func(_ *ecs.World, b ecs.Buffer[uint32], e ecs.Entity) {
			d, _ := b.Mut(e)
			d.Clear()
			d.Trim()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := ecstest.NewWorld(t)
			b := ecs.RegisterBuffer[uint32](w, ecs.Inline(2))
			a := ecs.NewArchetype(w, b)
			for range 3 {
				var ids []ecs.Entity
				for n := range 1500 {
					e := a.Create()
					require.Empty(t, b.Slice(e), "a new buffer is empty whatever the row held before")
					b.Append(e, values[uint32](n, 3)...)
					ids = append(ids, e)
				}
				require.Equal(t, len(ids), w.Stats().Buffers)
				for n, e := range ids {
					end(w, b, e)
					require.Equal(t, len(ids)-n-1, w.Stats().Buffers)
				}
				for _, e := range ids {
					w.Destroy(e)
				}
			}
		})
	}
	u := ecstest.NewUniverse(t, 16<<20) // at Close: nothing is left of those alive
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	b := ecs.RegisterBuffer[uint32](w, ecs.Inline(2))
	for range 1500 {
		b.Append(ecs.NewArchetype(w, b).Create(), 1, 2, 3)
	}
	require.NoError(t, w.Close(), "blocks that belong to nobody are an error")
	require.Zero(t, u.Stats().LiveChunks)
}

// TestBehaviour57_AddAgain removes a buffer that has spilled and gives a new one.
func TestBehaviour57_AddAgain(t *testing.T) {
	w, b, e := solo[uint32](t, 2)
	b.Append(e, 1, 2, 3)
	require.False(t, b.Add(e), "it keeps the one that it has")
	require.Equal(t, []uint32{1, 2, 3}, b.Slice(e))
	require.True(t, b.Remove(e))
	require.False(t, b.Append(e, 1))
	require.True(t, b.Add(e))
	require.Empty(t, b.Slice(e))
	require.Equal(t, 2, mut(t, b, e).Cap())
	require.NoError(t, w.Verify())
}

// TestBehaviour58_ViewsAreCaught takes a view over every structural change, to the
// entity itself or to another.
func TestBehaviour58_ViewsAreCaught(t *testing.T) {
	for name, change := range map[string]func(*ecs.World, *ecs.Archetype, ecs.Entity){
		"Create":  func(_ *ecs.World, a *ecs.Archetype, _ ecs.Entity) { a.Create() },
		"CreateN": func(_ *ecs.World, a *ecs.Archetype, _ ecs.Entity) { _, _ = a.CreateN(3) },
		"Destroy": func(w *ecs.World, _ *ecs.Archetype, e ecs.Entity) { w.Destroy(e) },
		"Add": func(w *ecs.World, _ *ecs.Archetype, e ecs.Entity) {
			ecs.Register[ecstest.Position](w).Add(e, ecstest.Position{})
		},
		"Remove": func(w *ecs.World, _ *ecs.Archetype, e ecs.Entity) { ecs.Register[ecstest.Health](w).Remove(e) },
	} {
		for who := range 2 {
			t.Run(fmt.Sprintf("%s of %d", name, who), func(t *testing.T) {
				w := ecstest.NewWorld(t)
				b := ecs.RegisterBuffer[uint32](w, ecs.Inline(2))
				a := ecs.NewArchetype(w, b, ecs.Register[ecstest.Health](w))
				ids := []ecs.Entity{a.Create(), a.Create()}
				for _, more := range []int{1, 5} { // inline, spilled
					b.Append(ids[0], make([]uint32, more)...)
					d := mut(t, b, ids[0])
					ecs.Register[ecstest.Health](w).Set(ids[who], ecstest.Health{HP: 1, Max: 2})
					b.Append(ids[1], 1)
					w.Advance()
					require.NotPanics(t, func() { d.Slice() }, "no row has moved")
					if more == 5 {
						change(w, a, ids[who])
						text := "ecs: DynamicBuffer.Append: the view of a []uint32 is no longer current: the world has changed since it was taken"
						require.PanicsWithValue(t, text, func() { d.Append(1) })
					}
				}
				require.NoError(t, w.Verify())
			})
		}
	}
}

// TestBehaviour58_ViewsFollowEachOther changes a buffer through one view and uses
// another, which must see the new place, length and room.
func TestBehaviour58_ViewsFollowEachOther(t *testing.T) {
	w, b, e := solo[uint32](t, 2)
	one, two := mut(t, b, e), mut(t, b, e)
	reader, _ := b.Get(e)
	signed := ecs.Reinterpret[int32](one)
	var want []uint32
	same := func() {
		require.True(t, slices.Equal(want, two.Slice()))
		require.True(t, slices.Equal(want, reader.Slice()))
		require.Equal(t, len(want), signed.Len())
		require.Equal(t, one.Cap(), signed.Cap())
		require.NoError(t, w.Verify())
	}
	for i := range uint32(200) {
		one.Append(i)
		two.Insert(0, i)
		want = slices.Insert(append(want, i), 0, i)
		same()
	}
	one.RemoveRange(1, len(want))
	two.Trim()
	want = want[:1]
	same()
	signed.Append(1, 2, 3)
	want = append(want, 1, 2, 3)
	same()
	one.Clear()
	require.PanicsWithValue(t, "ecs: DynamicBuffer.RemoveAt: index 3 is not in [0, 0)", func() { two.RemoveAt(3) })
	two.Trim()
	want = nil
	same()
}

// TestBehaviour58_KeptSlicesShowIt keeps Go slices over what ends them. There is no
// hook for those; debug builds fill what they stand on with a pattern.
func TestBehaviour58_KeptSlicesShowIt(t *testing.T) {
	if !debug.On {
		t.Skip("only debug builds poison")
	}
	poisoned := func(s []uint64, what string) {
		t.Helper()
		b := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*8)
		require.True(t, bytes.Equal(bytes.Repeat([]byte{debug.Freed}, len(b)), b), what)
	}
	for _, n := range []int{5, 100, 1500, 3000, 30_000} { // slots, wide slots, runs
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Growth{}))
		b := ecs.RegisterBuffer[uint64](w, ecs.Inline(4))
		a := ecs.NewArchetype(w, b, ecs.Register[ecstest.Health](w))
		first, e := a.Create(), a.Create()
		b.Append(first, 1, 2, 3, 4)
		keep := func() []uint64 {
			d := mut(t, b, e)
			d.CopyFrom(make([]uint64, n))
			return d.Slice()
		}
		d := mut(t, b, e)
		d.Append(1, 2, 3, 4)
		s := d.Slice()
		d.Append(5)
		poisoned(s, "inside the chunk, after spilling")
		s = keep()
		mut(t, b, e).Reserve(2*n + 100)
		poisoned(s, "after growing")
		s = keep()
		mut(t, b, e).Resize(2)
		mut(t, b, e).Trim()
		poisoned(s, "after Trim")
		s = mut(t, b, e).Slice()
		ecs.Register[ecstest.Health](w).Remove(e)
		poisoned(s, "inside the chunk, after a move")
		s = keep()
		w.Destroy(e)
		poisoned(s, "after Destroy")
		require.Equal(t, []uint64{1, 2, 3, 4}, b.Slice(first), "the others are as they were")
	}
}
