package command

import (
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
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

// TestCommandsFromBeforeARestore: a command that was recorded before a restore and names an entity
// that came since the snapshot is refused by name, though its id is another entity's by then.
// Commands about other entities are made, and so are those recorded after the restore.
func TestCommandsFromBeforeARestore(t *testing.T) {
	for _, keep := range []bool{false, true} {
		y := openYard(t)
		list := y.populate(50, false)
		s := y.w.Snapshot()
		since := y.full.Create()
		var options []Option
		if keep {
			options = append(options, Keep)
		}
		cb := y.open(t, options...)
		w := cb.Parallel(partOf{0, 1, 0})
		Put(cb, list[5], y.pos, position{5, 5})
		Put(cb, since, y.pos, position{1, 1})
		cb.DestroyList([]ecs.Entity{list[6], since})
		Put(cb, list[7], y.ptr, pointer{To: since})
		made := cb.Create(y.full)
		Put(cb, made, y.ptr, pointer{To: since})
		AddBuffer(cb, list[8], y.hits, hit{N: 1}, hit{By: since})
		cb.Instantiate(since)
		w.Destroy(since)
		require.NoError(t, y.w.Restore(s))
		other := y.full.Create()
		require.Equal(t, since, other, "the ids that come next are those of then")
		Put(cb, other, y.pos, position{9, 9})
		hash := y.w.Hash()
		var refused *PlayError
		require.ErrorAs(t, cb.Play(), &refused)
		require.Equal(t, hash, y.w.Hash())
		require.Equal(t, 7, refused.Count)
		require.Equal(t, 10, cb.Len())
		var about []ecs.Entity
		for _, f := range refused.Failures {
			require.Equal(t, "World.Restore ended the entity that was named, and its id is another's now", f.Why)
			about = append(about, f.Entity)
		}
		require.Equal(t, []ecs.Entity{since, since, list[7], made, list[8], since, since}, about)
		require.NoError(t, y.w.Restore(s)) // nobody has the id now
		require.ErrorAs(t, cb.Play(), &refused)
		require.Equal(t, "the entity is not alive", refused.Failures[0].Why)
		require.Equal(t, other, y.full.Create())
		require.ErrorAs(t, cb.PlayRest(), &refused)
		require.Equal(t, 8, refused.Count, "the last is from before the second restore")
		require.Equal(t, position{5, 5}, *y.pos.Get(list[5]))
		require.False(t, y.w.Alive(list[6]))
		require.True(t, y.w.Alive(other))
		require.True(t, y.w.Alive(cb.Made(made)))
		cb.Clear()
		Put(cb, other, y.pos, position{9, 9})
		require.NoError(t, cb.Play())
		require.Equal(t, position{9, 9}, *y.pos.Get(other))
		require.NoError(t, y.w.Verify())
		s.Close()
	}
}
