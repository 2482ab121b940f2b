package world_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// TestSmallWorldsTakeLittle: the memory of a fresh world with few entities among many worlds, and
// of a heap, in bytes that the system has backed with pages.
func TestSmallWorldsTakeLittle(t *testing.T) {
	if !mmap.Real {
		t.Skip("memory of this build is Go's")
	}
	if page := mmap.PageSize(); page > 4<<10 || debug.On {
		t.Skip("pages are larger than most blocks, or what is free is filled")
	}
	for range 17 { // the first universes of a process have huge pages
		u, err := alloc.NewUniverse(alloc.Size(2 << 20))
		require.NoError(t, err)
		defer func() { require.NoError(t, u.Close()) }()
	}
	for entities, most := range map[int]int{1: 128 << 10, 50: 128 << 10, 500: 192 << 10} {
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w))
		for range entities {
			a.Create()
		}
		got, err := w.Universe().Resident()
		require.NoError(t, err)
		t.Logf("%d entities: %d KiB, %d chunks", entities, got>>10, w.Universe().Stats().LiveChunks)
		require.LessOrEqual(t, got, most)
		require.NoError(t, w.Close())
	}

	u, err := alloc.NewUniverse()
	require.NoError(t, err)
	h, err := alloc.NewHeap(u)
	require.NoError(t, err)
	p, err := h.Alloc(100, 8)
	require.NoError(t, err)
	got, err := u.Resident()
	require.NoError(t, err)
	t.Logf("a block of 100 bytes: %d KiB, %d chunks", got>>10, u.Stats().LiveChunks)
	require.LessOrEqual(t, got, 128<<10)
	h.Free(p)
	require.NoError(t, h.Close())
	require.NoError(t, u.Close())
}

// TestManyWorldsTakeLittle: two thousand worlds at once, of one entity each, beside the first ones
// of the process, which have huge pages. The short form has four hundred.
func TestManyWorldsTakeLittle(t *testing.T) {
	if !mmap.Real || mmap.PageSize() > 4<<10 || debug.On {
		t.Skip("as TestSmallWorldsTakeLittle")
	}
	if testing.Short() {
		t.Skip("-short: hundreds of worlds, whose addresses an emulator counts")
	}
	n := ecstest.StepsOf(2000)
	resident, worlds := 0, make([]*ecs.World, n)
	for i := range worlds {
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		worlds[i] = w
		ecs.NewArchetype(w, ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)).Create()
		got, err := w.Universe().Resident()
		require.NoError(t, err)
		resident += got
	}
	t.Logf("%d worlds: %d KiB", n, resident>>10)
	require.LessOrEqual(t, resident, 17*mmap.Granule+n*(32<<10))
	for _, w := range worlds {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	}
}
