package registry

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegistryForgets: what is collected is not known for long.
func TestRegistryForgets(t *testing.T) {
	var r Registry[[64]int]
	kept, gone := new([64]int), new([64]int)
	r.Add(kept)
	r.Add(gone)
	require.True(t, slices.Contains(r.All(), kept) && slices.Contains(r.All(), gone))
	r.Remove(gone)
	require.False(t, slices.Contains(r.All(), gone))
	for range 20 {
		for range 100 {
			r.Add(new([64]int))
		}
		runtime.GC()
	}
	require.Less(t, len(r.known), 600)
	require.True(t, slices.Contains(r.All(), kept))
	require.Equal(t, kept, r.All()[0])
	runtime.KeepAlive(kept)
}
