package image_test

import (
	"os"
	"testing"

	"quarry/internal/debug"
	"quarry/mmap"

	"github.com/stretchr/testify/require"
)

// TestFileCutWhileOpen: another process cuts the file of an open world. A caller that opted for it
// gets an error with that reason, and the world can be closed. Emulators of other processors do not
// report where such a fault was.
func TestFileCutWhileOpen(t *testing.T) {
	if !mmap.Real || debug.On {
		t.Skip("the file was read, or what is freed is written to")
	}
	path, size := savedTown(t, 200_000)
	m := opened(t, path)
	require.NoError(t, os.Truncate(path, size/4))
	seen := 0
	err := mmap.Guarded(func() {
		for rows := range m.moving.Rows() {
			for _, p := range m.position.ReadOnly(rows) {
				require.Equal(t, 1.0, p.Y)
				seen++
			}
		}
	})
	var fault *mmap.FaultError
	require.ErrorAs(t, err, &fault)
	require.Equal(t, mmap.FaultFile, fault.State)
	require.ErrorContains(t, err, "a page of a file that was cut")
	require.Less(t, seen, 200_000)
	require.ErrorIs(t, mmap.Guarded(func() { _ = m.w.Verify() }), mmap.ErrFault)
	err = m.w.Close() // headers of buffers were on a page that is lost
	require.ErrorAs(t, err, &fault)
	require.NoError(t, m.w.Close())
}
