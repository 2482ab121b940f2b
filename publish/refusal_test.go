package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusals: bad input is an error that says what is wrong, and nothing is written (P3).
func TestRefusals(t *testing.T) {
	const path, version = "example.org/stone", "v0.1.0"
	for name, x := range map[string]struct {
		path, version string
		files         map[string]string
		want          string
	}{
		"path without a dot": {"stone", version, nil, `malformed module path "stone": missing dot in first path element`},
		"path with a space":  {"example.org/a b", version, nil, `malformed module path "example.org/a b": invalid char ' '`},
		"path of version 2":  {"example.org/stone/v2", "v2.0.0", nil, `invalid version: should be v0 or v1, not v2`},
		"version of a path":  {path, "v2.0.0", nil, "invalid version: should be v0 or v1, not v2"},
		"no version":         {path, "0.1.0", nil, `version "0.1.0" is not of the form v1.2.3, or v1.2.3-rc.1`},
		"short version":      {path, "v0.1", nil, `version "v0.1" is not of the form`},
		"version of a build": {path, "v0.1.0+x", nil, `version "v0.1.0+x" is not of the form`},
		"another's replace": {
			path, version, map[string]string{"cart/go.mod": small["cart/go.mod"] + "replace example.com/x => ../x\n"},
			"cart/go.mod:8 replaces example.com/x: nobody who requires a published module has what it replaces",
		},
		"module elsewhere": {path, version, map[string]string{"cart/go.mod": "module stone/wagon\n"},
			"cart/go.mod is of module stone/wagon: by its folder it would be stone/cart"},
		"module of nobody":     {path, version, map[string]string{"cart/go.mod": "go 1.26.0\n"}, "cart/go.mod has no module directive"},
		"go.mod that is wrong": {path, version, map[string]string{"go.mod": "modul stone\n"}, "go.mod:1: unknown directive: modul"},
		"no root":              {path, version, map[string]string{"go.mod": ""}, "git knows no go.mod in "},
		"ring of modules": {path, version, map[string]string{"go.mod": "module stone\n\nrequire stone/cart v0.0.0\n"},
			"requires a module that is not there, or one that requires it"},
		"Go that is wrong":     {path, version, map[string]string{"pick/pick.go": "packag pick\n"}, "pick/pick.go:1:1: expected 'package'"},
		"page without heading": {path, version, map[string]string{"README.md": "# Stone\n"}, `README.md has no heading "## Install it"`},
		"name of a file":       {path, version, map[string]string{"pick/a?": "x"}, `pick/a?: malformed file path "pick/a?": invalid char '?'`},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			err := run([]string{"-from", commit(t, small, x.files), "-path", x.path, "-version", x.version, "-out",
				out}, io.Discard, io.Discard)
			require.ErrorContains(t, err, x.want)
			require.NoDirExists(t, out)
		})
	}
}

func TestRefusesFolders(t *testing.T) {
	needsGit(t)
	publish := func(from, out string, more ...string) error {
		return run(append([]string{"-from", from, "-path", "example.org/stone", "-version", "v0.1.0", "-out", out},
			more...), io.Discard, io.Discard)
	}
	dir, out := commit(t, small, nil), filepath.Join(t.TempDir(), "out")

	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "mine"), nil, 0o644))
	require.ErrorContains(t, publish(dir, full), full+" is not empty: it has mine")
	require.ErrorContains(t, publish(dir, filepath.Join(full, "mine")), "mine")
	require.ErrorContains(t, publish(dir, filepath.Join(full, "mine", "out")), "mine")

	require.ErrorContains(t, publish(t.TempDir(), out), "no go.work in ")
	bare := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bare, workspace), nil, 0o644))
	require.ErrorContains(t, publish(bare, out), "not a git repository")
	_, err := git(bare, who, "init", "-q")
	require.NoError(t, err)
	require.ErrorContains(t, publish(bare, out, "-dirty"), "git log: exit status 128")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "pick", "new.go"), []byte("package pick\n"), 0o644))
	require.ErrorContains(t, publish(dir, out),
		`has 1 changes that are not committed, such as "?? pick/new.go": commit them, or publish them by -dirty`)
	require.NoError(t, os.Remove(filepath.Join(dir, "bin", "run")))
	require.NoDirExists(t, out)
	require.NoError(t, publish(dir, out, "-dirty"))
	require.NoFileExists(t, filepath.Join(out, treeName, "pick", "new.go"), "git does not know it")
	require.NoFileExists(t, filepath.Join(out, treeName, "bin", "run"))
}

// TestRefusesOtherTags: a version that has a tag is published from that commit alone.
func TestRefusesOtherTags(t *testing.T) {
	dir := commit(t, small, nil)
	for _, command := range [][]string{{"tag", "v0.1.0"}, {"tag", "-a", "-m", "x", "v0.2.0"}} {
		_, err := git(dir, who, command...)
		require.NoError(t, err)
	}
	publish := func(version string) error {
		return run([]string{"-from", dir, "-path", "example.org/stone", "-version", version, "-out",
			filepath.Join(t.TempDir(), "out")}, io.Discard, io.Discard)
	}
	require.NoError(t, publish("v0.1.0"))
	require.NoError(t, publish("v0.2.0"))
	_, err := git(dir, who, "commit", "-q", "--allow-empty", "-m", "y")
	require.NoError(t, err)
	require.ErrorContains(t, publish("v0.1.0"), "tag v0.1.0 is not at commit ")
	require.ErrorContains(t, publish("v0.2.0"), "tag v0.2.0 is not at commit ")
	require.NoError(t, publish("v0.3.0"))
}

func TestRefusesLinks(t *testing.T) {
	dir := commit(t, small, nil)
	if err := os.Symlink("pick.go", filepath.Join(dir, "pick", "link.go")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	_, err := git(dir, who, "add", "-A")
	require.NoError(t, err)
	_, err = readRepository(dir, true)
	require.ErrorContains(t, err, "pick/link.go: mode 120000: it is no regular file")
}

func TestRefusesArguments(t *testing.T) {
	for _, args := range [][]string{{}, {"-x"}, {"-path", "example.org/a", "-version", "v0.1.0"},
		{"-path", "a.b/c", "-version", "v1.0.0", "-out", "x", "y"}} {
		require.ErrorIs(t, run(args, io.Discard, io.Discard), errUsage)
	}
}
