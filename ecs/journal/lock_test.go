package journal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// openMarks opens a journal of a world of marks, synced with each commit.
func openMarks(folder string) (marks ecs.Component[mark], j *journal.Journal, err error) {
	j, err = journal.Open(folder, func(w *ecs.World) { marks = ecs.Register[mark](w) }, journal.SyncEach())
	return marks, j, err
}

// locks skips a test where the system has no locks.
func locks(t *testing.T) {
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no locks here")
	}
}

// TestLockFileIsRemoved: a second journal in a folder is refused also if something has removed the
// file of the lock, or put another in its place.
func TestLockFileIsRemoved(t *testing.T) {
	locks(t)
	folder := t.TempDir()
	marks, j, err := openMarks(folder)
	require.NoError(t, err)
	lock := filepath.Join(folder, "lock")
	if err := os.Remove(lock); err != nil {
		require.Equal(t, "windows", runtime.GOOS, "%v", err)
	}
	_, _, err = openMarks(folder)
	require.ErrorIs(t, err, journal.ErrInUse)
	if runtime.GOOS != "windows" {
		require.NoError(t, os.WriteFile(lock, nil, 0o666))
	}
	_, _, err = openMarks(folder)
	require.ErrorIs(t, err, journal.ErrInUse)
	ecs.NewArchetype(j.World(), marks).Create()
	require.NoError(t, j.Commit())
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
	_, j, err = openMarks(folder)
	require.NoError(t, err)
	require.EqualValues(t, 1, j.Opened().Commit)
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
}

// TestFolderIsReplaced: a journal whose folder was moved, and at whose path there is another
// journal with files of the same names, acknowledges nothing; Rebase leaves the other alone.
func TestFolderIsReplaced(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "town")
	marks, j, err := openMarks(folder)
	require.NoError(t, err)
	if err := os.Rename(folder, folder+"-moved"); err != nil {
		t.Skip(err) // a system that keeps open files where they are
	}
	_, other, err := openMarks(folder)
	require.NoError(t, err)
	require.NoError(t, other.Rebase())
	require.NoError(t, other.Rebase())
	before, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	ecs.NewArchetype(j.World(), marks).Create()
	require.ErrorIs(t, j.Commit(), journal.ErrRebase)
	require.ErrorIs(t, j.Rebase(), disk.ErrReplaced) // the second base of both
	require.Zero(t, j.Acknowledged())
	require.ErrorIs(t, j.Close(), disk.ErrReplaced)
	after, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.NoError(t, j.World().Close())
	require.NoError(t, other.Commit())
	require.NoError(t, other.Close())
	require.NoError(t, other.World().Close())
}

// TestJournalOfLinks: a symbolic link in place of a file of the journal is refused, and what it
// leads to stays as it was.
func TestJournalOfLinks(t *testing.T) {
	for _, name := range []string{"lock", "base-00000000000000000000.world", "log-00000000000000000000.journal"} {
		folder := t.TempDir()
		_, j, err := openMarks(folder)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		require.NoError(t, j.World().Close())
		path, target := filepath.Join(folder, name), filepath.Join(t.TempDir(), "target")
		require.NoError(t, os.Rename(path, target))
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err) // a system without links
		}
		before, err := os.ReadFile(target)
		require.NoError(t, err)
		_, _, err = openMarks(folder)
		require.ErrorIs(t, err, disk.ErrNotRegular, name)
		require.ErrorContains(t, err, path)
		after, err := os.ReadFile(target)
		require.NoError(t, err)
		require.Equal(t, before, after)
		require.NoError(t, os.Remove(target))
		_, _, err = openMarks(folder)
		require.ErrorIs(t, err, disk.ErrNotRegular, name)
		_, err = os.Lstat(target)
		require.ErrorIs(t, err, fs.ErrNotExist, "the lock was made through the link")
	}
}
