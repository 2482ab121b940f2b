package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// generics are functions by which a program gets values of types that it cannot name.
const generics = `
func open[K, R any](f func(K) R) R { var k K; return f(k) }

func zero[T any](f func(*T)) *T { return new(T) }
`

// TestRoomsAreShut: a program of another module is built with alloc and ecs, and not when it
// reaches for a room, a stratum or a door: by a path, or by a type that the compiler infers from
// what alloc or ecs exports.
func TestRoomsAreShut(t *testing.T) {
	needsGo(t)
	dir, err := home()
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	require.NoError(t, err)
	for _, x := range []struct{ imports, body, refusal string }{
		{`"quarry/ecs"`, "_, _ = ecs.NewWorld(); _ = zero(ecs.Enableable)", ""},
		{`"quarry/ecs/internal/door"`, "_ = door.Writes", "use of internal package quarry/ecs/internal/door not allowed"},
		{`"quarry/ecs/internal/world"`, "_ = world.Newer", "use of internal package quarry/ecs/internal/world not allowed"},
		{`"quarry/ecs/internal/edit"`, "_ = edit.Create", "use of internal package quarry/ecs/internal/edit not allowed"},
		{`"quarry/ecs"`, "_ = open(ecs.Inside)", "undefined: ecs.Inside"},
		{`"quarry/ecs"`, "_ = new(ecs.Chunk[int]).Enable", "undefined (type *ecs.Chunk[int] has no field or method Enable"},
		{`"quarry/ecs"`, "_ = zero(ecs.Enableable).World", "undefined (type *ecs.registration has no field or method World"},
		{`"quarry/ecs"`, "_ = zero(ecs.Enableable).core", "undefined (cannot refer to unexported field core"},
		{`"quarry/ecs"`, "_ = open(ecs.InfoOf).Type.info()", "undefined (cannot refer to unexported method info"},
		{`"quarry/ecs"`, "_ = new(ecs.World).Tables", "undefined (type *ecs.World has no field or method Tables"},
		{`"quarry/ecs"`, "_ = new(ecs.World).Universe().Index", "undefined (type *alloc.Universe has no field or method Index"},
		{`"quarry/alloc"`, "_, _ = alloc.NewUniverse(); _ = zero(func(*alloc.Universe) {})", ""},
		{`"quarry/internal/universe"`, "_ = universe.New", "use of internal package quarry/internal/universe not allowed"},
		{`"quarry/internal/universe/door"`, "_ = door.Universe", "use of internal package quarry/internal/universe/door not allowed"},
		{`"quarry/internal/store"`, "_ = store.Make", "use of internal package quarry/internal/store not allowed"},
		{`"quarry/internal/heap"`, "_ = heap.Confined", "use of internal package quarry/internal/heap not allowed"},
		{`"quarry/alloc"`, "_ = alloc.MakeColumnStore", "undefined: alloc.MakeColumnStore"},
		{`"quarry/alloc"`, "_ = new(alloc.Universe).NewExtent", "undefined (type *alloc.Universe has no field or method NewExtent"},
		{`"quarry/alloc"`, "_ = new(alloc.Universe).core", "undefined (cannot refer to unexported field core"},
		{`"quarry/alloc"`, "_ = alloc.Doubling().core", "undefined (cannot refer to unexported field core"},
		{`"quarry/alloc"`, "_ = new(alloc.Table).store", "undefined (cannot refer to unexported field store"},
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":  "module demo\n\ngo 1.26.0\n\nrequire quarry v0.0.0\n\nreplace quarry => " + dir + "\n",
			"go.sum":  string(sums),
			"main.go": "package main\n\nimport (" + x.imports + ")\n" + generics + "\nfunc main() { " + x.body + " }\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
		}
		build := exec.Command("go", "build", "-o", filepath.Join(folder, "demo"), ".")
		build.Dir = folder
		build.Env = append(build.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := build.CombinedOutput()
		if x.refusal == "" {
			require.NoError(t, err, "%s", out)
			continue
		}
		require.Error(t, err, x.body)
		require.Contains(t, string(out), x.refusal)
	}
}
