package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// TestJournalAfterPanic: a panic of the program's function leaves no lock and no world behind.
func TestJournalAfterPanic(t *testing.T) {
	folder := t.TempDir()
	worlds := 0
	for range 3 {
		require.PanicsWithValue(t, "broken", func() {
			_, _ = journal.Open(folder, func(*ecs.World) { worlds++; panic("broken") })
		})
	}
	require.Equal(t, 3, worlds)
	j, err := journal.Open(folder, func(*ecs.World) {})
	require.NoError(t, err)
	w := j.World()
	require.NoError(t, j.Close())
	require.NoError(t, w.Close())
	for _, call := range []func(*journal.Journal){
		func(j *journal.Journal) { j.World() }, func(j *journal.Journal) { j.Opened() },
		func(j *journal.Journal) { j.Acknowledged() },
	} {
		require.Panics(t, func() { call(nil) })
		require.Panics(t, func() { call(new(journal.Journal)) })
	}
}

// TestJournalStaysInItsFolder: a journal of a relative path writes to its folder when the program
// has gone elsewhere.
func TestJournalStaysInItsFolder(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	require.NoError(t, os.Mkdir(filepath.Join(there, "town"), 0o777))
	j, err := journal.Open("town", func(w *ecs.World) { ecs.Register[mark](w) }, journal.SyncEach())
	require.NoError(t, err)
	t.Chdir(there)
	w := j.World()
	ecs.NewArchetype(w, ecs.Register[mark](w)).Create()
	require.NoError(t, j.Commit())
	require.NoError(t, j.Rebase())
	hash := w.Hash()
	require.NoError(t, j.Close())
	require.NoError(t, w.Close())
	list, err := os.ReadDir("town")
	require.NoError(t, err)
	require.Empty(t, list)
	j, err = journal.Open(filepath.Join(here, "town"), func(w *ecs.World) { ecs.Register[mark](w) })
	require.NoError(t, err)
	require.EqualValues(t, 2, j.Opened().Commit)
	require.Equal(t, hash, j.World().Hash())
	w = j.World()
	require.NoError(t, j.Close())
	require.NoError(t, w.Close())
}

// TestJournalWithoutName: a name that is missing is not the folder that the program is in.
func TestJournalWithoutName(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	_, err := journal.Open("", func(*ecs.World) {})
	require.ErrorContains(t, err, "no name")
	list, err := os.ReadDir(here)
	require.NoError(t, err)
	require.Empty(t, list)
	j, err := journal.Open(".", func(*ecs.World) {})
	require.NoError(t, err)
	w := j.World()
	require.NoError(t, j.Close())
	require.NoError(t, w.Close())
}

// TestRegisterMakesEntities: a function that makes entities is refused for a new journal, as it is
// for one that has entities.
func TestRegisterMakesEntities(t *testing.T) {
	folder := t.TempDir()
	require.PanicsWithValue(t,
		"journal: Open: the function that registers the types has made entities; make them afterwards, if Opened().New",
		func() {
			_, _ = journal.Open(folder, func(w *ecs.World) { ecs.NewArchetype(w, ecs.Register[mark](w)).Create() })
		})
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, list, 1, "the lock")
	j, err := journal.Open(folder, func(*ecs.World) {})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
}

// TestLogIsLost: a log that was removed or cut, or whose base was removed, while its journal is
// open is noticed by the next sync, nothing is acknowledged in vain, and Rebase makes the journal
// whole.
func TestLogIsLost(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 70) },
		"base removed": func(path string) error {
			return os.Remove(strings.NewReplacer("log-", "base-", ".journal", ".world").Replace(path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var marks ecs.Component[mark]
			register := func(w *ecs.World) { marks = ecs.Register[mark](w) }
			j, err := journal.Open(folder, register, journal.SyncEach())
			require.NoError(t, err)
			w := j.World()
			ecs.NewArchetype(w, marks).Create()
			require.NoError(t, j.Commit())
			logs, err := filepath.Glob(filepath.Join(folder, "log-*"))
			require.NoError(t, err)
			require.Len(t, logs, 1)
			if err := lose(logs[0]); err != nil {
				t.Skip(err) // a system that keeps open files
			}
			ecs.NewArchetype(w, marks).Create()
			err = j.Commit()
			require.ErrorIs(t, err, journal.ErrRebase)
			require.ErrorContains(t, err, filepath.Base(logs[0]))
			require.EqualValues(t, 1, j.Acknowledged())
			require.NoError(t, j.Rebase())
			require.NoError(t, j.Commit())
			hash := w.Hash()
			require.NoError(t, j.Close())
			require.NoError(t, w.Close())
			j, err = journal.Open(folder, register)
			require.NoError(t, err)
			require.Equal(t, hash, j.World().Hash())
			require.NoError(t, j.Close())
			require.NoError(t, j.World().Close())
		})
	}
}
