package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamplesAreShort: an example is one file, and has at most as many lines as the guide says of
// its programs.
func TestExamplesAreShort(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide.md"))
	require.NoError(t, err)
	said := regexp.MustCompile(`one file of at most (\d+) lines`).FindSubmatch(page)
	require.NotNil(t, said)
	most, err := strconv.Atoi(string(said[1]))
	require.NoError(t, err)
	named := regexp.MustCompile(`\.\./(ecs/examples/\w+)/main\.go`).FindAllSubmatch(page, -1)
	require.NotEmpty(t, named)
	for _, n := range named {
		folder := filepath.Join(root, filepath.FromSlash(string(n[1])))
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.Equal(t, []string{filepath.Join(folder, "main.go"), filepath.Join(folder, "main_test.go")}, files)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.LessOrEqual(t, bytes.Count(text, []byte("\n")), most, files[0])
	}
}
