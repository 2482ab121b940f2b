package ecs_test

import (
	"errors"
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestCloseFindsLeaks closes worlds whose alive entities have spilled buffers, with
// blocks beside them that belong to nobody.
func TestCloseFindsLeaks(t *testing.T) {
	for leaks := range 3 {
		u := ecstest.NewUniverse(t, 8<<20)
		w, err := ecs.NewWorld(ecs.WithUniverse(u))
		require.NoError(t, err)
		b, c := ecs.RegisterBuffer[uint64](w, ecs.Inline(1)), ecs.RegisterBuffer[[3]byte](w, ecs.Inline(1))
		one, both := ecs.NewArchetype(w, b), ecs.NewArchetype(w, b, c, ecs.Register[ecstest.Position](w))
		for i := range 3000 {
			b.Append(one.Create(), make([]uint64, i%4)...)
			e := both.Create()
			b.Append(e, make([]uint64, i%3)...)
			c.Append(e, make([][3]byte, i%7)...)
		}
		for range leaks {
			require.NoError(t, w.PlantLeak(100))
		}
		err = w.Close()
		if leaks == 0 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, alloc.ErrLeak)
			require.EqualError(t, err,
				fmt.Sprintf("ecs: World.Close: alloc: Heap.Close: %d blocks of %d bytes: blocks were never freed",
					leaks, leaks*112))
		}
		require.Zero(t, u.Stats().LiveChunks, "closed all the same")
		require.NoError(t, w.Close(), "told once")
	}
}

// TestVerifyReadsBufferHeaders breaks headers in each way that W7 forbids.
func TestVerifyReadsBufferHeaders(t *testing.T) {
	w, b, e := solo[uint64](t, 4)
	b.Append(e, make([]uint64, 6)...)
	require.NoError(t, w.Verify())
	for _, what := range []string{"length", "capacity below the inline room", "capacity above the block",
		"no block there", "outside the universe", "forgotten block"} {
		restore := b.CorruptHeader(e, what)
		require.ErrorContains(t, w.Verify(), "ecs: W7: ", what)
		restore()
		require.NoError(t, w.Verify())
	}
}

// odd fills rows of a buffer of T, all of their room inside the chunk, and then
// looks at each of them.
func odd[T comparable](t *testing.T, w *ecs.World, inline int) {
	b := ecs.RegisterBuffer[T](w, ecs.Inline(inline))
	a := ecs.NewArchetype(w, b)
	n, spilled := a.Plan().Rows+3, w.Stats().Buffers
	var ids []ecs.Entity
	for i := range n {
		e := a.Create()
		ids = append(ids, e)
		d := mut(t, b, e)
		require.Equal(t, inline, d.Cap())
		d.ResizeUninitialized(inline)
		for k := range d.Slice() {
			d.Slice()[k] = value[T](i + 31*k)
		}
	}
	for i, e := range ids {
		header, stride := b.Place(e)
		if header%4 != 0 || stride%4 != 0 || stride < 16 {
			t.Fatalf("header at %d, rows of %d bytes", header, stride)
		}
		s := b.Slice(e)
		if len(s) != inline {
			t.Fatalf("row %d has %d elements, want %d", i, len(s), inline)
		}
		for k, v := range s {
			if v != value[T](i+31*k) {
				t.Fatalf("row %d, element %d: got %v want %v", i, k, v, value[T](i+31*k))
			}
		}
	}
	require.Equal(t, spilled, w.Stats().Buffers)
	for _, e := range ids[:3] { // and in a block
		want := append(b.Slice(e)[:inline:inline], values[T](7, 9)...)
		b.Append(e, values[T](7, 9)...)
		require.Equal(t, want, b.Slice(e))
	}
}

// TestOddElements takes elements of 1 to 65 bytes, around powers of two, some larger and
// some of wider alignment, with 0 to 5 of them inside the chunk.
func TestOddElements(t *testing.T) {
	all := []func(*testing.T, *ecs.World, int){
		odd[[1]byte], odd[[2]byte], odd[[3]byte], odd[[4]byte], odd[[5]byte], odd[[7]byte], odd[[8]byte], odd[[9]byte],
		odd[[12]byte], odd[[15]byte], odd[[16]byte], odd[[17]byte], odd[[31]byte], odd[[32]byte], odd[[33]byte],
		odd[[63]byte], odd[[64]byte], odd[[65]byte], odd[[42 * 3]byte], odd[[1021]byte],
		odd[uint16], odd[[3]uint16], odd[uint32], odd[[5]uint32], odd[uint64], odd[[7]uint64], odd[complex128],
	}
	for inline := range 6 {
		w := ecstest.NewWorld(t)
		for _, f := range all {
			f(t, w, inline)
		}
		require.NoError(t, w.Verify())
	}
}

// TestGrowthIsRefused fills a universe: each call that needs memory returns an error and leaves the
// buffer as it was; the others work.
func TestGrowthIsRefused(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Growth{}))
	small, large := ecs.RegisterBuffer[[3]byte](w, ecs.Inline(2)), ecs.RegisterBuffer[[1024]byte](w, ecs.Inline(1))
	a := ecs.NewArchetype(w, small, large)
	e := a.Create()
	s, l := mut(t, small, e), mut(t, large, e)
	s.Append(values[[3]byte](1, 2)...)
	l.Append(values[[1024]byte](1, 8)...)
	l.Reserve(100) // 7 chunks
	w.Trim()
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	refuse := func(op string, f func() error) {
		t.Helper()
		hash, rooms := w.Hash(), [2]int{s.Cap(), l.Cap()}
		err := f()
		var limit *ecs.LimitError
		require.True(t, errors.As(err, &limit), "%s: %v", op, err)
		require.Equal(t, "DynamicBuffer."+op, limit.Op)
		require.ErrorIs(t, err, ecs.ErrLimit)
		require.ErrorIs(t, err, alloc.ErrFull)
		require.Equal(t, hash, w.Hash(), op)
		require.Equal(t, rooms, [2]int{s.Cap(), l.Cap()}, op)
		require.NoError(t, w.Verify())
	}
	for _, more := range []int{1, 1000} {
		refuse("Append", func() error { return ecs.Try(func() { s.Append(values[[3]byte](1, more)...) }) })
		refuse("Insert", func() error { return ecs.Try(func() { s.Insert(1, values[[3]byte](1, more)...) }) })
		refuse("Resize", func() error { return ecs.Try(func() { s.Resize(2 + more) }) })
		refuse("ResizeUninitialized", func() error { return ecs.Try(func() { s.ResizeUninitialized(2 + more) }) })
		refuse("Reserve", func() error { return ecs.Try(func() { s.Reserve(2 + more) }) })
		refuse("CopyFrom", func() error { return ecs.Try(func() { s.CopyFrom(values[[3]byte](1, 2+more)) }) })
	}
	refuse("Reserve", func() error { return ecs.Try(func() { l.Reserve(l.Cap() + 1) }) })
	refuse("Insert", func() error { return ecs.Try(func() { l.Insert(0, make([][1024]byte, l.Cap())...) }) })
	refuse("Append", func() error { return ecs.Try(func() { l.Append(make([][1024]byte, l.Cap())...) }) })
	// Whole chunks go back where the block is: that needs no memory.
	before := l.Cap()
	l.Resize(40)
	l.Trim()
	require.Less(t, l.Cap(), before)
	require.GreaterOrEqual(t, l.Cap(), 40)
	l.Resize(8)
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	want := append([][1024]byte{}, l.Slice()...)
	require.Equal(t, values[[1024]byte](1, 8), want)
	hash := w.Hash()
	l.Trim()
	require.Equal(t, hash, w.Hash())
	l.RemoveRange(1, 8)
	l.Trim()
	require.Equal(t, 1, l.Cap(), "inside the chunk there is room always")
	require.Equal(t, want[:1], l.Slice())
	for _, c := range hog {
		u.Free(c, 1)
	}
	s.Append(value[[3]byte](3))
	require.Equal(t, values[[3]byte](1, 3), s.Slice())
}

// TestTrimIsRefused has a buffer whose smaller block would need a chunk.
func TestTrimIsRefused(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Growth{}))
	b := ecs.RegisterBuffer[[64]byte](w, ecs.Inline(1))
	e := ecs.NewArchetype(w, b).Create()
	d := mut(t, b, e)
	d.Reserve(20) // a slot
	d.Append(values[[64]byte](1, 3)...)
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	room := b.SpilledSize(e)
	d.Trim()
	require.Equal(t, room, b.SpilledSize(e))
	require.Equal(t, values[[64]byte](1, 3), d.Slice())
	require.NoError(t, w.Verify())
	for _, c := range hog {
		u.Free(c, 1)
	}
	d.Trim()
	require.Equal(t, 192, b.SpilledSize(e))
	require.Equal(t, values[[64]byte](1, 3), d.Slice())
}

// TestTrimMovesOnlyToSave trims blocks that are 16 bytes too large, and those that
// cannot be smaller.
func TestTrimMovesOnlyToSave(t *testing.T) {
	_, b, e := solo[uint32](t, 1)
	d := mut(t, b, e)
	d.Reserve(16) // 64 bytes
	d.Append(values[uint32](1, 12)...)
	require.Equal(t, 64, b.SpilledSize(e))
	d.Trim()
	require.Equal(t, 48, b.SpilledSize(e))
	d.CopyFrom(values[uint32](1, 33)) // 132 bytes in a slot of 160
	d.Trim()
	require.Equal(t, 160, b.SpilledSize(e))
	require.Equal(t, 40, d.Cap())
	first := &d.Slice()[0]
	d.Trim()
	require.Same(t, first, &d.Slice()[0], "no smaller block, no move")
	require.Equal(t, values[uint32](1, 33), d.Slice())
}

// TestGrowthTakesWhatThereIs doubles a buffer where there is no memory for that but
// for what is needed.
func TestGrowthTakesWhatThereIs(t *testing.T) {
	u := ecstest.NewUniverse(t, 2<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Growth{}))
	b := ecs.RegisterBuffer[[1024]byte](w, ecs.Inline(0))
	e := ecs.NewArchetype(w, b).Create()
	d := mut(t, b, e)
	d.Reserve(600)
	d.Resize(d.Cap())
	var hog []alloc.ChunkIndex
	for u.Stats().LongestRun == alloc.ChunksPerMegachunk {
		c, err := u.AllocExact(1)
		require.NoError(t, err)
		hog = append(hog, c)
	}
	had := d.Cap()
	d.Append([1024]byte{1})
	require.Greater(t, d.Cap(), had)
	require.Less(t, d.Cap(), had+17, "a chunk more")
	require.NoError(t, w.Verify())
	for _, c := range hog {
		u.Free(c, 1)
	}
}
