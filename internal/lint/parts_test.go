package lint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestParts(t *testing.T) {
	repo, err := repository()
	require.NoError(t, err)
	require.Len(t, repo.parts(), 11, "the rule knows the parts")
	obey(t, unansweredParts)
}

func TestUnansweredParts(t *testing.T) {
	const parts = "package world\n\nconst (\n\tPartTypes Part = iota // types\n\tPartRows\n\tPartIDs\n\tPartCount\n)\n"
	walk := func(entries, order string) string {
		return "\nvar walks = [...]struct {\n\tdo func()\n\tbecause string\n}{\n" + entries +
			"\n}\n\nvar walkOrder = [...]world.Part{" + order + "}\n"
	}
	const good, order = "{nil, `with the rows`},\n{(*w).rows, ``},\n{func() {}, \"\"},", "world.PartIDs, world.PartRows"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"good": {walk(good, order), nil},
		"does and excuses": {walk(strings.Replace(good, "rows, ``", "rows, `none`", 1), order),
			[]string{"8: walks of PartRows does something, so nothing explains why not"}},
		"neither": {walk(strings.Replace(good, "(*w).rows", "nil", 1), "world.PartIDs"), []string{"8: walks of PartRows does nothing and gives no reason"}},
		"too few": {walk("{nil, `no`},", ""), []string{"3: walks has 1 entries for 3 parts"}},
		"other entry": {walk(strings.Replace(good, "{nil, `with the rows`}", "{}", 1), order),
			[]string{"7: walks of PartTypes: an entry is {what it does, because of what it does nothing}"}},
		"missing of order": {
			walk(good, "world.PartIDs"), []string{"12: walkOrder lacks PartRows, for which walks does something"},
		},
		"twice":        {walk(good, order+", world.PartIDs"), []string{"12: walkOrder has PartIDs twice"}},
		"does nothing": {walk(good, order+", world.PartTypes"), []string{"12: walkOrder has PartTypes, for which walks does nothing"}},
		"order alone":  {"\n\nvar walkOrder = [...]world.Part{}\n", []string{"4: walkOrder stands before the table of its walk", " has no table of a walk"}},
	} {
		repo, err := load(fstest.MapFS{
			"go.mod":                     {Data: []byte("module quarry\n")},
			"go.work":                    {},
			partsFile:                    {Data: []byte(parts + walk(good, "PartIDs, PartRows"))},
			"ecs/internal/edit/parts.go": {Data: []byte("package edit\n" + c.text)},
		})
		require.NoError(t, err, name)
		var got []string
		for _, f := range unansweredParts(repo) {
			got = append(got, strings.TrimPrefix(f.String(), "ecs/internal/edit/parts.go:"))
		}
		require.Equal(t, c.want, got, name)
	}
}

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
