package main

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// contents returns the files below a folder, without what git has for itself.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		short, err := filepath.Rel(dir, name)
		all[filepath.ToSlash(short)] = read(t, name)
		return err
	}))
	return all
}

func TestPublishes(t *testing.T) {
	var printed bytes.Buffer
	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, run([]string{"-from", filepath.Join(commit(t, small, nil), "pick"), "-path", "example.org/Stone",
		"-version", "v0.1.0", "-out", out}, &printed, io.Discard))
	require.Regexp(t, `^example\.org/Stone v0\.1\.0, commit [0-9a-f]{12}
example\.org/Stone +7 files +\d+ B  h1:\S+
example\.org/Stone/cart +4 files +\d+ B  h1:\S+
left out: 1 files, internal/lint/lint_test\.go to internal/lint/lint_test\.go
GOPROXY=file:///\S+/out/proxy
$`, printed.String())

	tree := contents(t, filepath.Join(out, treeName))
	_, rootSum, _ := strings.Cut(printed.String(), "h1:")
	rootSum, _, _ = strings.Cut(rootSum, "\n")
	require.Regexp(t, `^example\.org/Stone v0\.1\.0 h1:`+strings.NewReplacer("+", `\+`).Replace(rootSum)+`
example\.org/Stone v0\.1\.0/go\.mod h1:\S{44}
$`, tree["cart/go.sum"])
	delete(tree, "cart/go.sum")
	require.Equal(t, map[string]string{
		"LICENSE": "free\n",
		"README.md": "# Stone\n\n```go\nimport \"example.org/Stone/pick\"\n```\n\n## Install it\n\n```sh\ngo get example.org/Stone@v0.1.0\n```\n\n" +
			"That brings golang.org/x/sys and github.com/klauspost/cpuid/v2.\n" +
			"[docs/files.md](docs/files.md#versions) says what a version promises.\n\n## Read on\n\nNothing.\n",
		"go.mod":                "module example.org/Stone\n\ngo 1.26.0\n",
		"go.work":               "go 1.26.0\n\nuse (\n\t.\n\t./cart\n)\n\nreplace example.org/Stone v0.1.0 => ./\n",
		"pick/pick.go":          strings.ReplaceAll(small["pick/pick.go"], "stone/", "example.org/Stone/"),
		"cart/cart.go":          "package main\n\nimport (\n\t\"example.org/Stone/pick\"\n\t\"fmt\"\n)\n\nfunc main() { fmt.Println(pick.Break()) }\n",
		"cart/go.mod":           "module example.org/Stone/cart\n\ngo 1.26.0\n\nrequire example.org/Stone v0.1.0\n",
		"internal/lint/lint.go": "package lint\n",
		"bin/run":               "#!/bin/sh\ngo vet example.org/Stone/...\n",
	}, tree)

	said, err := git(filepath.Join(out, treeName), nil, "log", "--decorate", "--format=%D|%an|%ae|%cI|%s")
	require.NoError(t, err)
	require.Equal(t,
		"HEAD -> main, tag: v0.1.0, tag: cart/v0.1.0|q|q@localhost|2026-01-02T01:04:05+00:00|example.org/Stone v0.1.0\n",
		said)
	modes, err := git(filepath.Join(out, treeName), nil, "ls-files", "-s", "bin/run")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(modes, "100755 "), modes)

	proxy := contents(t, filepath.Join(out, proxyName))
	at := func(module, name string) string { return "example.org/!stone" + module + "/@v/" + name }
	require.Equal(t, []string{
		at("", "list"), at("", "v0.1.0.info"), at("", "v0.1.0.mod"), at("", "v0.1.0.zip"),
		at("/cart", "list"), at("/cart", "v0.1.0.info"), at("/cart", "v0.1.0.mod"), at("/cart", "v0.1.0.zip"),
	}, slices.Sorted(maps.Keys(proxy)))
	require.Equal(t, "v0.1.0\n", proxy[at("/cart", "list")])
	require.Equal(t, `{"Version":"v0.1.0","Time":"2026-01-02T01:04:05Z"}`, proxy[at("/cart", "v0.1.0.info")])
	require.Equal(t, tree["cart/go.mod"], proxy[at("/cart", "v0.1.0.mod")])
}

// TestTwiceTheSame: all bytes are those of the commit (P1).
func TestTwiceTheSame(t *testing.T) {
	dir := commit(t, small, nil)
	a := publishes(t, dir, "example.org/stone")
	now, err := os.Stat(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "pick", "pick.go"), now.ModTime().AddDate(-1, 0, 0),
		now.ModTime().AddDate(-1, 0, 0)))
	b := publishes(t, dir, "example.org/stone")
	require.Equal(t, contents(t, a), contents(t, b))
	var commits []string
	for _, out := range []string{a, b} {
		refs, err := git(filepath.Join(out, treeName), nil, "show-ref")
		require.NoError(t, err)
		commits = append(commits, refs)
	}
	require.Equal(t, commits[0], commits[1])
}
