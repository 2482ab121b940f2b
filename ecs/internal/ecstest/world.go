package ecstest

import (
	"testing"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// ChunkSizes are the two ways in which archetypes grow that chunks depend on: units one by one, and
// large chunks.
var ChunkSizes = []alloc.Growth{alloc.Fixed(1), alloc.Doubling().Capped(64)}

// NewWorld makes a world that must be sound at the test's end and return all of its memory.
func NewWorld(t testing.TB, options ...ecs.Option) *ecs.World {
	t.Helper()
	w, err := ecs.NewWorld(options...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
		require.NoError(t, w.Close(), "closing twice does nothing")
	})
	return w
}

// NewUniverse makes a small universe for worlds that are to run out of room.
func NewUniverse(t testing.TB, size int) *alloc.Universe {
	t.Helper()
	u, err := alloc.NewUniverse(alloc.Size(size))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, u.Stats().LiveChunks, "a closed world leaves nothing")
		require.NoError(t, u.Close())
	})
	return u
}

// Fork is World.Clone, but the copy has w's tag: 12v3 of w is the same entity value as 12v3 of the
// copy, so each of the two worlds takes the other's entities as its own, and no call can know whose
// they are. The tag is free again when both are closed.
func Fork(w *ecs.World, options ...ecs.Option) (*ecs.World, error) {
	made, err := edit.Copied(door.World(w), "ecstest.Fork", true, func(core *world.World) {
		for _, o := range options {
			o((*ecs.World)(unsafe.Pointer(core))) // Safe because a World is its core.
		}
	})
	return (*ecs.World)(unsafe.Pointer(made)), err // Safe because a World is its core.
}

// Movers makes a world with n entities of Position and Velocity, and its handles. The caller closes
// it.
func Movers(t testing.TB, n int) (*ecs.World, ecs.Component[Position], ecs.Component[Velocity], *ecs.Archetype) {
	t.Helper()
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	a := ecs.NewArchetype(w, position, velocity)
	batch, err := a.CreateN(n)
	require.NoError(t, err)
	for rows := range batch.Rows() {
		v := velocity.Slice(rows)
		for i := range v {
			v[i] = Velocity{1, 2}
		}
	}
	return w, position, velocity, a
}

// Occupied returns the sums over the archetypes of a world.
func Occupied(w *ecs.World) (sum ecs.Occupancy) {
	for _, o := range w.Occupancy() {
		sum.Rows += o.Rows
		sum.Chunks += o.Chunks
		sum.Bytes += o.Bytes
		sum.Reserve += o.Reserve
	}
	return sum
}
