package inspect_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/inspect"
)

// TestWriteOccupancy: of a world without memory, and of a closed one, there is the sum alone;
// archetypes without memory have no line.
func TestWriteOccupancy(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	written := func() string {
		var b strings.Builder
		require.NoError(t, inspect.WriteOccupancy(&b, w))
		return b.String()
	}
	const head = "  rows  B a row  chunks  KiB  reserve  used  types\n"
	const none = head + "     0        0       0    0        0   0 %  all\n"
	few := ecs.NewArchetype(w, ecs.Register[at](w))
	require.Equal(t, none, written())
	for range 3 {
		few.Create()
	}
	require.Equal(t,
		head+"     3       16       1    2        0   2 %  [at]\n     3       16       1    2        0   2 %  all\n",
		written())
	require.EqualError(t, inspect.WriteOccupancy(&failing{8}, w),
		"inspect: WriteOccupancy: the writer failed: the disk is full")
	require.NoError(t, w.Close())
	require.Equal(t, none, written())
	require.PanicsWithValue(t, "inspect: WriteOccupancy: the world is nil",
		func() { _ = inspect.WriteOccupancy(os.Stdout, nil) })
	require.PanicsWithValue(t, "inspect: WriteOccupancy: the writer is nil",
		func() { _ = inspect.WriteOccupancy(nil, w) })
}
