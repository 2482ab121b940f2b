package alloc_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestRegistryForgets: what is collected is not known for long.
func TestRegistryForgets(t *testing.T) {
	var r alloc.Registry
	kept, gone := new([64]int), new([64]int)
	r.Add(kept)
	r.Add(gone)
	require.True(t, r.Has(kept) && r.Has(gone))
	r.Remove(gone)
	require.False(t, r.Has(gone))
	for range 20 {
		for range 100 {
			r.Add(new([64]int))
		}
		runtime.GC()
	}
	require.Less(t, r.Known(), 600)
	require.True(t, r.Has(kept))
	require.Equal(t, kept, r.All()[0])
	runtime.KeepAlive(kept)
}
