package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// program is a program of somebody else.
const program = `package main

import (
	"fmt"

	_ "example.org/quarry/arrowalloc"
	"example.org/quarry/ecs"
)

type Position struct{ X, Y float64 }

func main() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	position := ecs.Register[Position](w)
	e := ecs.NewArchetype(w, position).Create()
	position.Set(e, Position{X: 3, Y: 4})
	fmt.Println(e, *position.Get(e))
}
`

// TestThisRepository publishes the repository with the changes that it has.
func TestThisRepository(t *testing.T) {
	needsGit(t)
	if _, err := git(".", nil, "rev-parse"); err != nil {
		t.Skip("this is no working tree of git:", err)
	}
	r, err := readRepository(".", true)
	require.NoError(t, err)
	p, err := r.publish(target{"example.org/quarry", "v0.1.0"})
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "out")
	require.NoError(t, p.write(out))

	require.NotEmpty(t, p.leftOut, "internal/lint has tests elsewhere")
	for _, f := range p.files {
		if filepath.Ext(f.path) == ".go" {
			require.NotContains(t, string(f.text), "\t\""+p.old+"/", f.path)
		}
	}
	for _, name := range meanModule {
		require.Contains(t, string(p.textOf(name)), `"`+p.target.path+`"`, "%s is to be no more in meanModule", name)
	}
	t.Run("zips", func(t *testing.T) { compareZips(t, p, out) })
	t.Run("program", func(t *testing.T) { build(t, out) })
}

// compareZips compares the zips with those that are made of the tags of the tree (P2).
func compareZips(t *testing.T, p *publication, out string) {
	tree, err := filepath.Abs(filepath.Join(out, treeName))
	require.NoError(t, err)
	var folders []string
	for _, m := range p.modules {
		folder, tag := "", p.version
		if m.folder != "." {
			folder, tag = m.folder, m.folder+"/"+p.version
		}
		var made bytes.Buffer
		require.NoError(t, zip.CreateFromVCS(&made, module.Version{Path: m.path, Version: m.version},
			tree, tag, folder))
		files, sum, err := sumOf(made.Bytes())
		require.NoError(t, err)
		require.Equal(t, m.sum, sum, m.path)
		require.Equal(t, m.files, files, m.path)
		folders = append(folders, m.folder)
	}
	require.Subset(t, folders, []string{".", "arrowalloc", "bench", "fuzz", "publish"})
}

// build builds a program outside, which gets the modules from the proxy, runs, is vendored and
// verified. Other modules come from the cache of downloads, which is a proxy, or else from where
// they come by default.
func build(t *testing.T, out string) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o644))
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, others, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	environment := append(os.Environ(), "PWD="+folder, "GOWORK=off", "GOTOOLCHAIN=local",
		"GOFLAGS=-mod=mod -modcacherw",
		"GOMODCACHE="+t.TempDir(), "GOSUMDB=off", "GONOSUMDB=", "GOPRIVATE=", "GONOPROXY=", "GOVCS=*:off",
		"GOPROXY="+proxyURL(out)+","+fileURL(filepath.Join(cache, "cache", "download"))+","+others)
	run := func(words ...string) string {
		t.Helper()
		c := exec.Command(words[0], words[1:]...)
		c.Dir, c.Env = folder, environment
		var said, errors bytes.Buffer
		c.Stdout, c.Stderr = &said, &errors
		require.NoError(t, c.Run(), "%v\n%s%s", words, &said, &errors)
		return said.String()
	}
	run("go", "mod", "init", "demo")
	run("go", "get", "example.org/quarry@v0.1.0", "example.org/quarry/arrowalloc@v0.1.0")
	require.Equal(t, "all modules verified\n", run("go", "mod", "verify"))
	if testing.Short() {
		run("go", "list", "-deps", ".")
		return // building takes half a minute of processor time
	}
	require.Equal(t, "1v1 {3 4}\n", run("go", "run", "."))
	run("go", "mod", "vendor")
	run("go", "build", "-mod=vendor", "-o", "demo", ".")
	require.Equal(t, "1v1 {3 4}\n", run("./demo"))
	require.Equal(t, "all modules verified\n", run("go", "mod", "verify"))
	require.DirExists(t, filepath.Join(folder, "vendor", "example.org", "quarry", "ecs"))
}
