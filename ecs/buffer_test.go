package ecs_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

func TestBufferGrowsFromInlineToTheHeap(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(8))
	a := ecs.NewArchetype(w, hits)
	e := a.Create()
	d, ok := hits.Mut(e)
	require.True(t, ok)
	require.Equal(t, 8, d.Cap())
	require.Empty(t, d.Slice())
	for i := range 1000 {
		require.Equal(t, i > 8, w.Stats().Buffers == 1, "spilled at element %d", i)
		require.True(t, i <= 8 && w.Stats().Spilled == 0 || i > 8 && w.Stats().Spilled >= 12*i,
			"%d bytes at element %d", w.Stats().Spilled, i)
		d.Append(ecstest.Hit{By: e, Damage: int32(i)})
		require.Equal(t, i+1, d.Len())
	}
	for i, h := range d.Slice() {
		require.Equal(t, ecstest.Hit{By: e, Damage: int32(i)}, h)
	}
	d.SwapRemove(0)
	require.Equal(t, int32(999), d.Slice()[0].Damage)
	d.SwapRemove(d.Len() - 1)
	require.Equal(t, 998, d.Len())
	d.Clear()
	require.Zero(t, d.Len())
	require.GreaterOrEqual(t, d.Cap(), 1000)
	require.NoError(t, w.Verify())
	require.True(t, w.Destroy(e))
	require.Zero(t, w.Stats().Buffers, "a buffer's block goes with its entity")
}

// TestBuffersSurviveMoves destroys, adds and removes around inline and spilled
// buffers of every length.
func TestBuffersSurviveMoves(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(3))
	odd := ecs.RegisterBuffer[[5]byte](w)
	position := ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, hits, odd)
	var ids []ecs.Entity
	for i := range 400 {
		e := a.Create()
		ids = append(ids, e)
		for k := range i % 40 {
			hits.Append(e, ecstest.Hit{By: e, Damage: int32(k)})
			odd.Append(e, [5]byte{byte(k), byte(i)})
		}
	}
	for i, e := range ids {
		switch i % 4 {
		case 0:
			w.Destroy(e)
		case 1:
			require.True(t, position.Add(e, ecstest.Position{X: 1, Y: 1}))
		case 2:
			require.True(t, odd.Remove(e))
		}
		if i%50 == 0 {
			require.NoError(t, w.Verify())
		}
	}
	require.NoError(t, w.Verify())
	for i, e := range ids {
		d, ok := hits.Get(e)
		require.Equal(t, i%4 != 0, ok)
		if !ok {
			continue
		}
		require.Equal(t, i%40, d.Len())
		for k, h := range d.Slice() {
			require.Equal(t, ecstest.Hit{By: e, Damage: int32(k)}, h)
		}
		o, ok := odd.Get(e)
		require.Equal(t, i%4 != 2, ok)
		if ok {
			require.Equal(t, i%40, o.Len())
			for k, v := range o.Slice() {
				require.Equal(t, [5]byte{byte(k), byte(i)}, v)
			}
		}
	}
	for _, e := range ids {
		w.Destroy(e)
	}
	require.Zero(t, w.Stats().Buffers)
}

func TestBufferByRow(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(0))
	batch, err := ecs.NewArchetype(w, hits).CreateN(3000)
	require.NoError(t, err)
	for rows := range batch.Rows() {
		for i, e := range rows.Entities() {
			hits.At(rows, i).Append(ecstest.Hit{By: e, Damage: 1}, ecstest.Hit{By: e, Damage: 2})
		}
	}
	sum := 0
	for rows := range ecs.NewQuery(w, ecs.Read(hits)).Rows() {
		for i, e := range rows.Entities() {
			for _, h := range hits.At(rows, i).Slice() {
				require.Equal(t, e, h.By)
				sum += int(h.Damage)
			}
		}
	}
	require.Equal(t, 9000, sum)
	require.Equal(t, 3000, w.Stats().Buffers)
}

func TestBufferLimits(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u))
	hits := ecs.RegisterBuffer[[1024]byte](w, ecs.Inline(0))
	e := ecs.NewArchetype(w, hits).Create()
	d, _ := hits.Mut(e)
	require.NoError(t, ecs.Try(func() { d.Append(make([][1024]byte, 1024)...) }))
	err := ecs.Try(func() { d.Append(make([][1024]byte, 3<<10+1)...) })
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.EqualError(t, err, "ecs: DynamicBuffer.Append: the limit is 4194304 bytes of a buffer")
	err = ecs.Try(func() { d.Append(make([][1024]byte, 2<<10)...) })
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.EqualError(t, err, "ecs: DynamicBuffer.Append: alloc: Local.Alloc: block of 3145728 bytes: "+
		"no free chunks in a row for it in the universe: full")
	require.Equal(t, 1024, d.Len())
	for range 2 { // with the first, three of the universe's four megachunks
		d, _ = hits.Mut(ecs.NewArchetype(w, hits).Create())
		require.NoError(t, ecs.Try(func() { d.Append(make([][1024]byte, 1024)...) }))
	}
	g := ecs.NewArchetype(w, hits).Create()
	d, _ = hits.Mut(g)
	require.NoError(t, ecs.Try(func() { d.Append(make([][1024]byte, 100)...) }))
	before := w.Hash()
	err = ecs.Try(func() { d.Append(make([][1024]byte, 900)...) })
	require.ErrorIs(t, err, alloc.ErrFull)
	require.Equal(t, before, w.Hash(), "the buffer is as it was")
	require.NoError(t, w.Verify())
}

// TestAppendOfItself grows a buffer by its own elements: the old block must live
// until they are copied.
func TestAppendOfItself(t *testing.T) {
	u := ecstest.NewUniverse(t, 8<<20)
	w := ecstest.NewWorld(t, ecs.WithUniverse(u))
	b := ecs.RegisterBuffer[uint64](w, ecs.Inline(0))
	d, _ := b.Mut(ecs.NewArchetype(w, b).Create())
	d.Append(1, 2)
	for d.Len() < 100_000 {
		d.Append(d.Slice()...)
		require.NoError(t, w.Verify())
	}
	for i, v := range d.Slice() {
		require.Equal(t, uint64(1+i%2), v)
	}
}

func TestEnableableBuffer(t *testing.T) {
	w := ecstest.NewWorld(t)
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Enableable)
	a := ecs.NewArchetype(w, hits)
	e, f := a.Create(), a.Create()
	require.True(t, hits.Disable(e))
	require.False(t, hits.Enabled(e))
	require.True(t, hits.Enabled(f))
	require.Equal(t, 1, ecs.NewQuery(w, ecs.Read(hits)).Count())
	require.True(t, hits.Enable(e))
	require.Equal(t, 2, ecs.NewQuery(w, ecs.Read(hits)).Count())
}
