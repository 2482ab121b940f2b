package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExportedNamesAreUsed(t *testing.T) {
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	repo, err := repository()
	require.NoError(t, err)
	f, err := readFace(repo, dir, "./...", "./bench/...", "./arrowalloc/...")
	require.NoError(t, err)
	require.Greater(t, len(f.names), 1000, "a rule that sees nothing finds nothing")
	for _, found := range f.unused(unusedNames) {
		t.Error(found)
	}
}

// TestUnusedNames: names that are used in each of the ways that count, and names that are not,
// though a test or the package itself uses them.
func TestUnusedNames(t *testing.T) {
	needsGo(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for path, text := range map[string]string{
		"go.mod":  "module demo\n\ngo 1.26.0\n",
		"go.work": "go 1.26.0\n\nuse .\n",
		"a/a.go": `package a

import "demo/internal/core"

type Box[T any] struct{ Value, Rest T }

func (b *Box[T]) Get() T     { return b.Value }
func (b *Box[T]) Set(v T)    { b.Value = v }
func (b *Box[T]) String() string { return "" }

type Kind int

const (
	KindA Kind = iota
	KindB
)

func Of(k Kind) Kind { return k }

type Options struct{ Size, Fill int }

type Source interface{ Next() int }

type List struct{}

func (List) Next() int { return Own() }
func (List) Last() int { return 0 }

func Drain(s Source) {}
func Own() int       { return 1 }
func Tested()        {}
func Paged()         {}

type Core = core.Core

type Lone struct{ Get int }
`,
		"internal/core/core.go": "package core\n\ntype Core struct{}\n\nfunc (Core) Run() {}\n\nfunc (Core) Idle() {}\n",
		"a/a_test.go":           "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { Tested() }\n\nfunc Exported() {}\n\nfunc ExampleOf() { Of(0) }\n",
		"a/example_test.go":     "package a_test\n\nimport \"demo/a\"\n\nfunc ExampleBox() {\n\tvar b a.Box[int]\n\tb.Get()\n\t_ = a.Options{Size: 1}\n}\n",
		"b/b.go":                "package b\n\nimport \"demo/a\"\n\nfunc init() {\n\ta.Drain(a.List{})\n\ta.Core{}.Run()\n}\n",
		"README.md":             "Call `Paged` or `x.Lost`, and Tested in words.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	t.Setenv("GOWORK", "off")
	repo, err := load(os.DirFS(dir))
	require.NoError(t, err)
	f, err := readFace(repo, dir, "./...")
	require.NoError(t, err)
	var got []string
	for _, found := range f.unused(map[string]string{"a": "Box.Rest Box.Get Gone Tested"}) {
		got = append(got, found.path)
	}
	require.Equal(t, []string{"a.Box.Set", "a.Box.Value", "a.Core.Idle", "a.List.Last", "a.Lone.Get", "a.Lone",
		"a.Options.Fill", "a.Own", unusedFile, unusedFile}, got)
}
