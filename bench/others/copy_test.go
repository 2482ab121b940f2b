package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEdits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.go")
	require.NoError(t, apply(dir, []edit{{path: "a.go", text: "one two two"}, {path: "b/c.go", text: "new"}}))
	require.NoError(t, apply(dir, []edit{{path: "a.go", old: "one", text: "1"}, {path: "b/c.go", gone: true}}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "1 two two", string(text))
	require.NoFileExists(t, filepath.Join(dir, "b", "c.go"))
	err = apply(dir, []edit{{path: "a.go", old: "two", text: "2"}})
	require.ErrorIs(t, err, errEdit)
	require.ErrorContains(t, err, `a.go: the edit does not fit the module: "two" occurs 2 times, expected once`)
	require.ErrorIs(t, apply(dir, []edit{{path: "a.go", old: "three", text: "3"}}), errEdit)
	require.ErrorIs(t, apply(dir, []edit{{path: "none.go", old: "x"}}), os.ErrNotExist)
	require.ErrorIs(t, apply(dir, []edit{{path: "none.go", gone: true}}), os.ErrNotExist)
}

// TestEditDoesNotFit: the command ends with an error that names the file, and leaves no copies.
func TestEditDoesNotFit(t *testing.T) {
	checkout, err := checkoutDir(t.Context())
	require.NoError(t, err)
	for _, e := range []edit{
		{path: "memory.go", old: "return new([]byte)", text: "return nil"},
		{path: "memory.go", old: "[]byte", text: "[]int8"},
	} {
		for _, dir := range []string{"", t.TempDir()} {
			t.Setenv("TMPDIR", t.TempDir())
			_, err = newScratch(t.Context(), dir, makeModule(t), checkout, []edit{
				{path: "ours.go", text: "package shelf\n"}, e,
			})
			require.ErrorIs(t, err, errEdit)
			require.ErrorContains(t, err, fmt.Sprintf("memory.go: %v: %q occurs ", errEdit, e.old))
			for _, folder := range []string{dir, os.Getenv("TMPDIR")} {
				if folder != "" {
					left, err := os.ReadDir(folder)
					require.NoError(t, err)
					require.Empty(t, left)
				}
			}
		}
	}
}

func TestCopyIsWritable(t *testing.T) {
	source, to := makeModule(t), filepath.Join(t.TempDir(), "copy")
	require.NoError(t, copyTree(to, source))
	for name, text := range madeModule {
		path := filepath.Join(to, filepath.FromSlash(name))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
		require.NoError(t, os.WriteFile(path, []byte("changed"), 0o644))
	}
	require.Error(t, copyTree(to, filepath.Join(source, "none")))
}

// TestTrialsFit makes the edits of each trial, with and without a guard, in a copy of the module in
// the module cache.
func TestTrialsFit(t *testing.T) {
	cache, err := command(t.Context(), "", nil, "go", "env", "GOMODCACHE")
	require.NoError(t, err)
	for _, tr := range trials {
		t.Run(tr.name, func(t *testing.T) {
			source := filepath.Join(string(cache[:len(cache)-1]), filepath.FromSlash(tr.module)+"@"+tr.version)
			if _, err := os.Stat(source); err != nil {
				t.Skipf("%s@%s is not in the module cache", tr.module, tr.version)
			}
			for _, o := range []*options{{}, {guard: true}} {
				to := t.TempDir()
				for _, e := range tr.edits(o) {
					text, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(e.path)))
					path := filepath.Join(to, filepath.FromSlash(e.path))
					if _, there := os.Stat(path); err == nil && there != nil {
						require.NoError(t, apply(to, []edit{{path: e.path, text: string(text)}}))
					}
				}
				require.NoError(t, apply(to, tr.edits(o)))
			}
		})
	}
}

// TestTextsAreFormatted checks the source texts, which no other tool reads as Go.
func TestTextsAreFormatted(t *testing.T) {
	paths, err := filepath.Glob("*.go.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		want, err := format.Source(text)
		require.NoError(t, err, path)
		require.Equal(t, string(want), string(text), path)
	}
}
