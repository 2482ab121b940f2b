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

// TestConvertFromATag: a function makes the values of entities that had a type without bytes.
func TestConvertFromATag(t *testing.T) {
	type wet struct{}
	type damp struct{ Percent [3]int64 }
	path := filepath.Join(t.TempDir(), "wet.world")
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	batch, err := ecs.NewArchetype(w, ecs.Register[wet](w)).CreateN(50)
	require.NoError(t, err)
	all := batch.Entities(nil)
	require.NoError(t, image.SaveFile(w, path))
	require.NoError(t, w.Close())
	var now ecs.Component[damp]
	w, err = image.Open(path, func(w *ecs.World) { now = ecs.Register[damp](w) }, image.Renamed("wet", "damp"),
		image.Convert("wet", func(wet) damp { return damp{[3]int64{1, 2, 100}} }))
	require.NoError(t, err)
	for _, e := range all {
		require.Equal(t, damp{[3]int64{1, 2, 100}}, *now.Get(e))
	}
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
}

// TestLossySharedCodec: shared values that a codec does not tell apart are refused when they are
// saved, not when the file is opened.
func TestLossySharedCodec(t *testing.T) {
	type side struct{ Name *string }
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	sides := ecs.RegisterShared[side](w, ecs.Codec(func(b []byte, s *side) ([]byte, error) { return b, nil }, func([]byte, *side) error { return nil }))
	red, blue := "red", "blue"
	ecs.NewArchetype(w, sides.Of(side{&red})).Create()
	path := filepath.Join(t.TempDir(), "sides.world")
	require.NoError(t, image.SaveFile(w, path), "there is one")
	ecs.NewArchetype(w, sides.Of(side{&blue})).Create()
	err = image.SaveFile(w, path)
	require.ErrorContains(t, err, "a value of the shared type side cannot be written: decoded it is the same as another one")
	require.NoError(t, w.Close())
	w, err = image.Open(path, func(w *ecs.World) {
		ecs.RegisterShared[side](w, ecs.Codec(func(b []byte, s *side) ([]byte, error) { return b, nil }, func([]byte, *side) error { return nil }))
	})
	require.NoError(t, err)
	require.NoError(t, w.Close())
}
