package lint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMadeUpPart adds a part of a world that no walk answers for: then no room compiles, and in
// each there is one file to open.
func TestMadeUpPart(t *testing.T) {
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	overlay := map[string]string{}
	put := func(file, text string) {
		other := filepath.Join(t.TempDir(), "parts.go")
		require.NoError(t, os.WriteFile(other, []byte(text), 0o644))
		overlay[file] = other
	}
	for _, room := range []string{"world", "edit", "snapshot", "delta", "worldfile"} {
		file := filepath.Join(dir, "ecs", "internal", room, "parts.go")
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(b)
		if room == "world" {
			require.Equal(t, 1, strings.Count(text, "\tPartCount\n"))
			text = strings.Replace(text, "\tPartCount\n", "\tPartMadeUp\n\tPartCount\n", 1)
			put(file, text)
		}
		out, err := builtWith(t, overlay, "./ecs/internal/"+room)
		require.Error(t, err, room)
		const check = "}\n\nvar _ = [1]struct{}{}[len("
		tables := strings.Count(text, check)
		require.Equal(t, tables, strings.Count(out, "invalid argument: index"), "each table of %s:\n%s", room, out)
		require.Equal(t, 1+tables, strings.Count(out, "\n"), "nothing else of %s may fail to compile:\n%s", room, out)
		put(file, strings.ReplaceAll(text, check, "\t{nil, \"it is made up\"},\n"+check))
	}
	out, err := builtWith(t, overlay, "./ecs/...")
	require.NoError(t, err, out)
}

// builtWith builds a package with other texts for some files.
func builtWith(t *testing.T, files map[string]string, pkg string) (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": files})
	require.NoError(t, err)
	list := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(list, text, 0o644))
	return goTool(t, nil, "build", "-overlay", list, pkg)
}
