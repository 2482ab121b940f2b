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

// program is a program of somebody else: it prints an entity with a type of the program and one of
// Quarry, and the world's hash. With a path it opens the world from that file, or saves it there if
// there is no file.
const program = `package main

import (
	"errors"
	"fmt"
	"log"
	"os"

	_ "example.org/quarry/arrowalloc"
	"example.org/quarry/ecs"
	"example.org/quarry/ecs/image"
)

type Position struct{ X, Y float64 }

func main() {
	var position ecs.Component[Position]
	var prefab ecs.Component[ecs.Prefab]
	register := func(w *ecs.World) {
		position, prefab = ecs.Register[Position](w), ecs.Register[ecs.Prefab](w)
	}
	if len(os.Args) > 1 {
		if w, err := image.Open(os.Args[1], register); err == nil {
			defer w.Close()
			e, _ := w.Named("e")
			fmt.Println(e, *position.Get(e), prefab.Has(e), w.Hash())
			return
		} else if !errors.Is(err, os.ErrNotExist) {
			log.Fatal(err)
		}
	}
	w, _ := ecs.NewWorld()
	defer w.Close()
	register(w)
	e := ecs.NewArchetype(w, position, prefab).Create()
	position.Set(e, Position{X: 3, Y: 4})
	w.SetName(e, "e")
	fmt.Println(e, *position.Get(e), prefab.Has(e), w.Hash())
	if len(os.Args) > 1 {
		if err := image.SaveFile(w, os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
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

// outside is a module of somebody else in a folder of its own, with a cache of modules of its own.
type outside struct {
	t           *testing.T
	environment []string
	folder      string
}

// newOutside makes the module with a program in it. Modules come from a proxy, then from the cache
// of downloads, which is one, or else from where they come by default.
func newOutside(t *testing.T, program, proxies string) outside {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o644))
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, others, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	o := outside{t, append(os.Environ(), "PWD="+folder, "GOWORK=off", "GOTOOLCHAIN=local",
		"GOFLAGS=-mod=mod -modcacherw",
		"GOMODCACHE="+t.TempDir(), "GOSUMDB=off", "GONOSUMDB=", "GOPRIVATE=", "GONOPROXY=", "GOVCS=*:off",
		"GOPROXY="+proxies+fileURL(filepath.Join(cache, "cache", "download"))+","+others), folder}
	o.run("go", "mod", "init", "demo")
	return o
}

// run runs a command in the module and returns its output.
func (o outside) run(words ...string) string {
	o.t.Helper()
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Env = o.folder, o.environment
	var output, errors bytes.Buffer
	c.Stdout, c.Stderr = &output, &errors
	require.NoError(o.t, c.Run(), "%v\n%s%s", words, &output, &errors)
	return output.String()
}

// build builds a program outside, which gets the modules from the proxy, runs, is vendored and
// verified. A file that it saved is opened by the program that has this repository as quarry, and
// the other way.
func build(t *testing.T, out string) {
	o := newOutside(t, program, proxyURL(out)+",")
	o.run("go", "get", "example.org/quarry@v0.1.0", "example.org/quarry/arrowalloc@v0.1.0")
	require.Equal(t, "all modules verified\n", o.run("go", "mod", "verify"))
	if testing.Short() {
		o.run("go", "list", "-deps", ".")
		return // building takes half a minute of processor time
	}
	saved := filepath.Join(t.TempDir(), "published")
	line := o.run("go", "run", ".", saved)
	require.Regexp(t, `^1v1 \{3 4\} true \d+\n$`, line)
	o.run("go", "mod", "vendor")
	o.run("go", "build", "-mod=vendor", "-o", "demo", ".")
	require.Equal(t, line, o.run("./demo"))
	require.Equal(t, "all modules verified\n", o.run("go", "mod", "verify"))
	require.DirExists(t, filepath.Join(o.folder, "vendor", "example.org", "quarry", "ecs"))

	here := newOutside(t, strings.ReplaceAll(program, "example.org/quarry", "quarry"), "")
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	for _, m := range []string{"", "/arrowalloc"} {
		here.run("go", "mod", "edit", "-require=quarry"+m+"@v0.0.0", "-replace=quarry"+m+"="+root+m)
	}
	here.run("go", "mod", "tidy")
	require.Equal(t, line, here.run("go", "run", ".", saved), "a file of the published program")
	saved = filepath.Join(t.TempDir(), "here")
	require.Equal(t, line, here.run("go", "run", ".", saved))
	require.Equal(t, line, o.run("./demo", saved), "a file of the repository's program")
}
