package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

// record fills a buffer with commands that make, change and end entities, and returns a
// placeholder.
func (y *yard) record(cb *Buffer, list []ecs.Entity) ecs.Entity {
	made := cb.Create(y.full)
	AddBuffer(cb, made, y.hits, hit{By: list[0], N: 1}, hit{N: 2}, hit{N: 3})
	Put(cb, made, y.ptr, pointer{To: list[3]})
	cb.Destroy(list[1])
	Put(cb, list[2], y.pos, position{9, 9})
	for range 300 {
		cb.Create(y.plain)
	}
	return made
}

// TestKeptBufferAfterARestore: a buffer that is kept makes of a restored world what it made of it
// before, with the same ids.
func TestKeptBufferAfterARestore(t *testing.T) {
	y := openYard(t)
	list := y.populate(50, true)
	cb := y.open(t, Keep)
	made := y.record(cb, list)
	s := y.w.Snapshot()
	before := y.w.Hash()
	require.NoError(t, cb.Play())
	first, after := cb.Made(made), y.w.Hash()
	require.NotEqual(t, before, after)
	later := y.w.Snapshot()
	for range 3 {
		require.NoError(t, y.w.Restore(s))
		require.Equal(t, before, y.w.Hash())
		require.False(t, y.w.Alive(first))
		require.NoError(t, cb.Play())
		require.Equal(t, first, cb.Made(made))
		require.Equal(t, after, y.w.Hash())
		require.NoError(t, y.w.Verify())
		require.NoError(t, y.w.Restore(later))
		require.Equal(t, after, y.w.Hash())
	}
	later.Close()
	s.Close()
}

// TestBufferAcrossARestore: commands that name entities which a restore ends are refused, and the
// world is as it was; those that name entities which it brings back are played.
func TestBufferAcrossARestore(t *testing.T) {
	y := openYard(t)
	list := y.populate(50, false)
	s := y.w.Snapshot()
	before := y.w.Hash()
	since := y.full.Create()
	y.w.Destroy(list[4])
	void, good := y.open(t), y.open(t)
	Put(void, since, y.pos, position{1, 1})
	Put(good, list[4], y.pos, position{2, 2})
	require.NoError(t, y.w.Restore(s))
	var refused *PlayError
	require.ErrorAs(t, void.Play(), &refused)
	require.Equal(t, before, y.w.Hash())
	require.NoError(t, good.Play())
	require.Equal(t, position{2, 2}, *y.pos.Get(list[4]))
	require.NoError(t, y.w.Restore(s))
	require.Equal(t, before, y.w.Hash())
	require.NoError(t, y.w.Verify())
	s.Close()
}

// TestReservedIDsInBuffers: commands about reserved ids, before and after a snapshot, meet a
// restore.
func TestReservedIDsInBuffers(t *testing.T) {
	y := openYard(t)
	list := y.populate(50, false)
	ids := make([]ecs.Entity, 20)
	require.NoError(t, y.w.Reserve(ids[:10]))
	s := y.w.Snapshot()
	before := y.w.Hash()
	require.NoError(t, y.w.Reserve(ids[10:]))
	cb := y.open(t, Keep)
	y.record(cb, list)
	play := func() uint64 {
		_, err := y.plain.CreateReserved(ids[:10])
		require.NoError(t, err)
		require.NoError(t, cb.Play())
		require.NoError(t, y.w.Verify())
		return y.w.Hash()
	}
	first := play()
	for range 2 {
		require.NoError(t, y.w.Restore(s))
		require.Equal(t, before, y.w.Hash())
		require.Equal(t, 10, y.w.Stats().Reserved)
		require.Panics(t, func() { y.w.Unreserve(ids[10:11]) }, "it was reserved since")
		require.Equal(t, first, play())
	}
	s.Close()
	require.NoError(t, y.w.Verify())
}
