package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// who are the variables by which git knows an author, at one moment.
var who = []string{
	"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	"GIT_AUTHOR_NAME=q", "GIT_AUTHOR_EMAIL=q@localhost", "GIT_AUTHOR_DATE=2026-01-02T03:04:05+02:00",
	"GIT_COMMITTER_NAME=q", "GIT_COMMITTER_EMAIL=q@localhost", "GIT_COMMITTER_DATE=2026-01-02T03:04:05+02:00",
}

func needsGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git:", err)
	}
}

// small are the files of a repository with two modules.
var small = map[string]string{
	"LICENSE":                    "free\n",
	"README.md":                  "# Stone\n\n```go\nimport \"stone/pick\"\n```\n\n## Install it\n\nClone it.\n\n## Read on\n\nNothing.\n",
	"go.mod":                     "module stone\n\ngo 1.26.0\n",
	"go.work":                    "go 1.26.0\n\nuse (\n\t.\n\t./cart\n)\n",
	"pick/pick.go":               "// Package pick breaks stones.\npackage pick\n\n// Break is called by stone/cart.\nfunc Break() string { return \"stone/pick.Break\" }\n",
	"cart/cart.go":               "package main\n\nimport (\n\t\"fmt\"\n\t\"stone/pick\"\n)\n\nfunc main() { fmt.Println(pick.Break()) }\n",
	"cart/go.mod":                "module stone/cart\n\ngo 1.26.0\n\nrequire stone v0.0.0\n\nreplace stone => ../\n",
	"internal/lint/lint.go":      "package lint\n",
	"internal/lint/lint_test.go": "package lint\n",
	"bin/run":                    "#!/bin/sh\ngo vet stone/...\n",
}

// commit makes a repository of files and returns its folder. Those of more replace others or, if
// they are empty, remove them.
func commit(t *testing.T, files, more map[string]string) string {
	t.Helper()
	needsGit(t)
	dir := t.TempDir()
	write := func(name, text string) {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		require.NoError(t, writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), mode))
	}
	for name, text := range files {
		if _, other := more[name]; !other {
			write(name, text)
		}
	}
	for name, text := range more {
		if text != "" {
			write(name, text)
		}
	}
	for _, command := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "x"}} {
		_, err := git(dir, who, command...)
		require.NoError(t, err)
	}
	return dir
}

// published runs the command on a repository and returns the folder with what it made.
func publishes(t *testing.T, from, path string, more ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, run(append([]string{"-from", from, "-path", path, "-version", "v0.1.0", "-out", out}, more...),
		io.Discard, io.Discard))
	return out
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name...))
	require.NoError(t, err)
	return string(text)
}
