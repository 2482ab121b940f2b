package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestKindsPage(t *testing.T) { obey(t, staleKinds) }

func TestStaleKinds(t *testing.T) {
	repo, err := load(fstest.MapFS{
		"go.mod":  {Data: []byte("module quarry\n")},
		"go.work": {},
		"ecs/a.go": {
			Data: []byte("package ecs\n\nfunc f(k Kind) bool { return k == KindSparse }\n\nfunc g(k Kind) {\n\tswitch k {\n\tcase KindBuffer:\n\t}\n}\n\nfunc h(t *typeInfo) bool { return t.place() == perRow }\n\nfunc i(k Kinds) {}\n"),
		},
		"ecs/b/b.go": {Data: []byte("package b\n\nfunc f(k ecs.Kind) bool { return k == ecs.KindChunk }\n")},
		kindsPage:    {Data: []byte("| `ecs/a.go` | switch | `g` |\n| `ecs/a.go` | test | `f`, `gone` |\n")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"| `ecs/a.go` | row | `h` |", "| `ecs/a.go` | switch | `g` |",
		"| `ecs/a.go` | test | `f` |", "| `ecs/b/b.go` | test | `f` |"}, kindRows(repo))
	var texts []string
	for _, f := range staleKinds(repo) {
		texts = append(texts, f.String())
	}
	require.Equal(t, []string{
		kindsPage + ":2: no code is as this row says: | `ecs/a.go` | test | `f`, `gone` |",
		kindsPage + ": a row is missing, beside those of ecs: | `ecs/a.go` | row | `h` |",
		kindsPage + ": a row is missing, beside those of ecs: | `ecs/a.go` | test | `f` |",
		kindsPage + ": a row is missing, beside those of ecs/b: | `ecs/b/b.go` | test | `f` |",
	}, texts)
}

// TestMadeUpKind adds a kind without a row of the table, which does not compile, and one with a
// row, which does: all else that it needs is on the page.
func TestMadeUpKind(t *testing.T) {
	dir, err := home()
	require.NoError(t, err)
	file := filepath.Join(dir, filepath.FromSlash(kindFile))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const last, end = "\n\n\tkindCount\n", "\n}\n\nvar _ = [1]struct{}{}"
	require.Equal(t, 1, strings.Count(string(text), last))
	require.Equal(t, 1, strings.Count(string(text), end))
	without := strings.Replace(string(text), last, "\n\tKindMadeUp"+last, 1)
	out, err := overlaid(t, file, without)
	require.Error(t, err)
	require.Contains(t, out, "invalid argument: index")
	require.Equal(t, 2, strings.Count(out, "\n"), "nothing else may fail to compile:\n%s", out)
	out, err = overlaid(t, file,
		strings.Replace(without, end, "\n\t{\"made up\", perRow, false, 0, \"it has no options\"},"+end, 1))
	require.NoError(t, err, out)
}

// overlaid builds the package of a file with another text for that file.
func overlaid(t *testing.T, file, text string) (string, error) {
	other := filepath.Join(t.TempDir(), "kind.go")
	require.NoError(t, os.WriteFile(other, []byte(text), 0o644))
	return builtWith(t, map[string]string{file: other}, "./"+filepath.ToSlash(filepath.Dir(kindFile)))
}
