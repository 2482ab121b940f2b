package journal_test

import (
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// TestJournalOfManagedValues: a world with managed values, which no delta has, gets a new base with
// each commit, also if nothing but such a value has changed. A type of which there is no copy or no
// codec is named, until no entity has it.
func TestJournalOfManagedValues(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "town")
	var text ecs.Managed[string]
	var link ecs.Managed[*int]
	register := func(w *ecs.World) {
		text = ecs.RegisterManaged[string](w, ecs.CopyWith(func(s *string) string { return *s }), ecs.Codec(
			func(b []byte, s *string) ([]byte, error) { return append(b, *s...), nil },
			func(b []byte, s *string) error { *s = string(b); return nil }))
		link = ecs.RegisterManaged[*int](w)
	}
	j, err := journal.Open(folder, register)
	require.NoError(t, err)
	e := ecs.NewArchetype(j.World(), text).Create()
	for _, s := range []string{"one", "two"} {
		text.Set(e, s)
		require.NoError(t, j.Commit())
		require.NoError(t, j.Sync())
	}
	odd := ecs.NewArchetype(j.World(), link).Create()
	link.Set(odd, new(int))
	_ = j.Commit() // which may return before it is tried
	require.ErrorContains(t, j.Sync(), "managed *int")
	j.World().Destroy(odd)
	text.Set(e, "three")
	_ = j.Commit() // which may still have the error of the one before
	require.NoError(t, j.Sync())
	last := j.Acknowledged()
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())

	j, err = journal.Open(folder, register)
	require.NoError(t, err)
	require.Equal(t, last, j.Opened().Commit)
	require.Equal(t, "three", *text.Get(e))
	require.NoError(t, j.Close())
	require.NoError(t, j.World().Close())
}
