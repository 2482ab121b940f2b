//go:build unix

package journal_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// TestPipeInAJournal: a pipe in the place of the base or of the log is an error at once.
func TestPipeInAJournal(t *testing.T) {
	for _, of := range []string{"base-*.world", "log-*.journal"} {
		folder := t.TempDir()
		j, err := journal.Open(folder, func(*ecs.World) {})
		require.NoError(t, err)
		require.NoError(t, j.Close())
		require.NoError(t, j.World().Close())
		list, err := filepath.Glob(filepath.Join(folder, of))
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.NoError(t, os.Remove(list[0]))
		require.NoError(t, syscall.Mkfifo(list[0], 0o600))
		_, err = journal.Open(folder, func(*ecs.World) {})
		require.ErrorContains(t, err, filepath.Base(list[0]))
	}
}
