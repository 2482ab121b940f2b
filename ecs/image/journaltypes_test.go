package image_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/image"
)

// TestJournalAfterTypesChange: records of before a change of types are refused, and a base alone is
// converted, each time that it is opened, with the records of after the change on top of it.
func TestJournalAfterTypesChange(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bodies")
	var narrow ecs.Component[narrowBody]
	var wide ecs.Component[wideBody]
	before := func(w *ecs.World) { narrow = ecs.Register[narrowBody](w) }
	after := func(w *ecs.World) { wide = ecs.Register[wideBody](w) }
	rule := image.Renamed("narrowBody", "wideBody")
	closed := func(j *image.Journal) {
		require.NoError(t, j.Close())
		require.NoError(t, j.World().Verify())
		require.NoError(t, j.World().Close())
	}

	j, err := image.OpenJournal(folder, before)
	require.NoError(t, err)
	e := ecs.NewArchetype(j.World(), narrow).Create()
	narrow.Set(e, narrowBody{1, 2, 3, -4})
	require.NoError(t, j.Commit())
	closed(j)
	_, err = image.OpenJournal(folder, after, rule)
	require.ErrorIs(t, err, image.ErrLog)
	require.ErrorIs(t, err, ecs.ErrDelta)
	require.ErrorContains(t, err, "narrowBody")

	j, err = image.OpenJournal(folder, before)
	require.NoError(t, err)
	require.NoError(t, j.Rebase())
	closed(j)
	for x := range 3 {
		j, err = image.OpenJournal(folder, after, rule)
		require.NoError(t, err)
		require.Equal(t, x, j.Opened().Records)
		require.Equal(t, wideBody{-4, 1 + float64(x), 2, 3}, *wide.Get(e))
		wide.Mut(e).X++
		require.NoError(t, j.Commit())
		closed(j)
	}
}
