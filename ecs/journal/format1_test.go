package journal_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// format1Commits is the number of commits of the journal in testdata, of which the fifth is the
// base; it was written by the last version whose logs had format 1.
const format1Commits = 12

// unpackFormat1 unpacks the journal of format 1 into a folder.
func unpackFormat1(t testing.TB) (folder string) {
	folder = t.TempDir()
	list, err := filepath.Glob("testdata/format1/*.gz")
	require.NoError(t, err)
	if len(list) == 0 {
		t.Skip("the files are not in the working directory")
	}
	for _, path := range list {
		f, err := os.Open(path)
		require.NoError(t, err)
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		b, err := io.ReadAll(z)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t,
			os.WriteFile(filepath.Join(folder, strings.TrimSuffix(filepath.Base(path), ".gz")), b, 0o666))
	}
	return folder
}

// TestLogOfFormat1: a journal whose log has format 1 opens with all its commits, and goes on.
func TestLogOfFormat1(t *testing.T) {
	folder := unpackFormat1(t)
	var model, m villagers
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	model.register(w)
	for number := uint64(1); number <= format1Commits; number++ {
		if number != 5 { // which was a Rebase
			model.frame(number)
		}
	}
	for _, want := range []journal.Opened{
		{Base: format1Commits + 1, Commit: format1Commits + 1, Records: format1Commits - 5, Converted: true},
		{Base: format1Commits + 1, Commit: format1Commits + 2, Records: 1},
	} {
		j, err := journal.Open(folder, m.register)
		require.NoError(t, err)
		require.Equal(t, want, j.Opened())
		require.NoError(t, m.w.Verify())
		require.Equal(t, model.w.Hash(), m.w.Hash())
		next := j.Opened().Commit + 100
		m.frame(next)
		model.frame(next)
		require.NoError(t, j.Commit())
		require.NoError(t, j.Close())
		require.NoError(t, m.w.Close())
	}
	require.NoError(t, w.Close())
}
