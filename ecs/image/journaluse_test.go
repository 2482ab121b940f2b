package image_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/image"
)

// TestJournalAfterPanic: a panic of the program's function leaves no lock and no world behind.
func TestJournalAfterPanic(t *testing.T) {
	folder := t.TempDir()
	worlds := 0
	for range 3 {
		require.PanicsWithValue(t, "broken", func() {
			_, _ = image.OpenJournal(folder, func(*ecs.World) { worlds++; panic("broken") })
		})
	}
	require.Equal(t, 3, worlds)
	j, err := image.OpenJournal(folder, func(*ecs.World) {})
	require.NoError(t, err)
	w := j.World()
	require.NoError(t, j.Close())
	require.NoError(t, w.Close())
	for _, call := range []func(*image.Journal){
		func(j *image.Journal) { j.World() }, func(j *image.Journal) { j.Opened() }, func(j *image.Journal) { j.Acknowledged() },
	} {
		require.Panics(t, func() { call(nil) })
		require.Panics(t, func() { call(new(image.Journal)) })
	}
}

// TestJournalStaysInItsFolder: a journal of a relative path writes to its folder when the program
// has gone elsewhere.
func TestJournalStaysInItsFolder(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	require.NoError(t, os.Mkdir(filepath.Join(there, "town"), 0o777))
	j, err := image.OpenJournal("town", func(w *ecs.World) { ecs.Register[mark](w) }, image.SyncEach())
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
	j, err = image.OpenJournal(filepath.Join(here, "town"), func(w *ecs.World) { ecs.Register[mark](w) })
	require.NoError(t, err)
	require.EqualValues(t, 2, j.Opened().Commit)
	require.Equal(t, hash, j.World().Hash())
	w = j.World()
	require.NoError(t, j.Close())
	require.NoError(t, w.Close())
}
