package delta_test

import (
	"bytes"
	"testing"
	"unsafe"

	"quarry/ecs"
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// Deltas of two worlds, where programs have those of two snapshots.

// diffWorlds is delta.DiffWorlds without a function.
func diffWorlds(older, newer *ecs.World) (*ecs.Delta, error) {
	made, err := delta.DiffWorlds(door.World(older), door.World(newer), nil)
	return (*ecs.Delta)(unsafe.Pointer(made)), err // Safe because a Delta is its core.
}

// diffWritten is diffWorlds that reads only chunks for which written returns something.
func diffWritten(older, newer *ecs.World, written func(pos int) bool) (*ecs.Delta, error) {
	byCore := func(_ *world.Archetype, pos int) bool { return written(pos) }
	made, err := delta.DiffWorlds(door.World(older), door.World(newer), byCore)
	return (*ecs.Delta)(unsafe.Pointer(made)), err // Safe because a Delta is its core.
}

// encoded returns a delta as bytes.
func encoded(t testing.TB, older, newer *ecs.World) []byte {
	t.Helper()
	d, err := diffWorlds(older, newer)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, ecs.EncodeDelta(&out, d))
	return out.Bytes()
}
