package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPut(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const old = "a\n<!-- b -->\nc\n<!-- end of b -->\nd\n"
	require.NoError(t, os.WriteFile(page, []byte(old), 0o600))
	put := func(name, text string, write, same bool, want string) {
		got, err := Put(page, name, text, write)
		require.NoError(t, err)
		require.Equal(t, same, got)
		now, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Equal(t, want, string(now))
	}
	put("b", "c\n", false, true, old)
	put("b", "e\n", false, false, old)
	put("b", "e\n", true, true, "a\n<!-- b -->\ne\n<!-- end of b -->\nd\n")
	_, err := Put(page, "a", "", true)
	require.ErrorContains(t, err, `has no marks "<!-- a -->\n"`)
	_, err = Put(page+"x", "b", "", true)
	require.Error(t, err)
}
