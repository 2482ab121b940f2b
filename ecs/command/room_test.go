package command

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestRoom: a Play finds out that there is no room before its first change, however many chunks
// are free, wherever its entities pass.
func TestRoom(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	for name, record := range map[string]func(y *yard, cb *Buffer){
		"two moves": func(y *yard, cb *Buffer) {
			cb.Add(y.plain.Create(), y.slow)
			cb.Add(y.plain.Create(), y.walk)
		},
		"renewed": func(y *yard, cb *Buffer) {
			cb.Add(y.plain.Create(), y.slow)
			e := y.full.Create()
			cb.Remove(e, y.pos)
			cb.Add(e, y.pos)
		},
		"two ways to one archetype": func(y *yard, cb *Buffer) {
			both := ecs.NewArchetype(y.w, y.pos, y.ptr)
			for range ecs.NewArchetype(y.w, y.pos, y.slow, y.walk).Plan().Rows {
				e := y.plain.Create()
				cb.Add(e, y.slow)
				cb.Add(e, y.walk)
				cb.Apply(both.Create(), y.change)
			}
		},
		"copies of members": func(y *yard, cb *Buffer) {
			members := ecs.NewArchetype(y.w, y.slow)
			b, err := members.CreateN(members.Plan().Rows)
			require.NoError(t, err)
			cb.Instantiate(y.groupOf(b.Entities(nil)[0]))
			cb.Add(y.plain.Create(), y.walk)
		},
		"elements of copies": func(y *yard, cb *Buffer) {
			e := y.full.Create()
			y.hits.Append(e, make([]hit, 5000)...)
			cb.Instantiate(e)
			cb.Add(y.plain.Create(), y.walk)
		},
	} {
		free := 0
		for ; !playWith(t, u, free, record); free++ {
			require.Less(t, free, 100, name)
		}
		least := 2
		if name == "renewed" {
			least = 1 // rows that lose a type and get it again pass through no archetype without it
		}
		require.GreaterOrEqual(t, free, least, name)
	}
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
}

// TestRoomOfDuplicates: a member that stands in a group many times is copied once, and asks for
// room once.
func TestRoomOfDuplicates(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	const times = 4000
	var free [2]int
	for other := range free { // the entity itself so often, which counts for nothing, or another
		for ; !playWith(t, u, free[other], func(y *yard, cb *Buffer) {
			member := y.full.Create()
			root := y.groupOf(member)
			for range times {
				y.group.Append(root, ecs.LinkedEntity{Entity: []ecs.Entity{root, member}[other]})
			}
			cb.Instantiate(root)
			cb.Add(y.plain.Create(), y.walk)
		}); free[other]++ {
			require.Less(t, free[other], 100)
		}
	}
	require.Equal(t, free[0], free[1])
	require.NoError(t, u.Verify())
	require.NoError(t, u.Close())
}

// playWith records and plays with so many free chunks, and reports whether there was room.
func playWith(t *testing.T, u *alloc.Universe, free int, record func(y *yard, cb *Buffer)) bool {
	w, err := ecs.NewWorld(ecs.WithUniverse(u), ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(t, err)
	y := yardOf(w)
	cb := NewBuffer(w)
	record(y, cb)
	w.Trim()
	taken := drain(u)
	for _, c := range taken[:free] {
		u.Free(c, 1)
	}
	before := w.Hash()
	err = cb.Play()
	if err != nil {
		var limit *ecs.LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, before, w.Hash(), "%d free: %v", free, err)
	}
	for _, c := range taken[free:] {
		u.Free(c, 1)
	}
	require.NoError(t, w.Verify())
	cb.Close()
	require.NoError(t, w.Close())
	return err == nil
}

// drain takes all chunks of a universe.
func drain(u *alloc.Universe) (taken []alloc.ChunkIndex) {
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		taken = append(taken, c)
	}
	return taken
}

// TestRecordingWithoutMemory: a command that finds no chunk is not recorded, nor counted.
func TestRecordingWithoutMemory(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(4 << 20))
	require.NoError(t, err)
	y := newYard(t, ecs.WithUniverse(u))
	e := y.plain.Create()
	cb := NewBuffer(y.w)
	taken := drain(u)
	require.NotEmpty(t, panicOf(func() { cb.Destroy(e) }))
	require.Zero(t, cb.Bytes())
	for _, c := range taken {
		u.Free(c, 1)
	}
	cb.Destroy(e)
	require.NoError(t, cb.Reserve(alloc.ChunkSize/recordSize, 0))
	require.Equal(t, int64(2*alloc.ChunkSize), cb.Bytes(), "the first has not all of its room")
	cb.Close()
	require.NoError(t, y.w.Close())
	require.NoError(t, u.Close())
}
