package recorded_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/recorded"
)

func TestPath(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "shared", "data", "life", "x.rle")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	below := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o755))
	t.Setenv("QUARRY_DATA", "")
	t.Chdir(below)
	got, err := filepath.EvalSymlinks(recorded.Path(t, "life/x.rle"))
	require.NoError(t, err)
	want, err := filepath.EvalSymlinks(file)
	require.NoError(t, err)
	require.Equal(t, want, got)
	t.Setenv("QUARRY_DATA", filepath.Join(root, "shared", "data"))
	require.Equal(t, file, recorded.Path(t, "life/x.rle"))
	for _, data := range []string{filepath.Join(root, "nowhere"), ""} {
		skipped := true
		t.Run("absent", func(t *testing.T) {
			t.Setenv("QUARRY_DATA", data)
			defer func() { skipped = t.Skipped() }()
			recorded.Path(t, "life/y.rle")
		})
		require.True(t, skipped)
	}
}
