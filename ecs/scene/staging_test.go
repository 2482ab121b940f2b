package scene_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/ecs"
	"quarry/ecs/scene"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// staged returns the staging folders in a folder.
func staged(t *testing.T, folder string) []string {
	list, err := filepath.Glob(filepath.Join(folder, ".bake-*"))
	require.NoError(t, err)
	return list
}

// TestBakeAfterAKill: what a bake leaves that was killed, the next one removes.
func TestBakeAfterAKill(t *testing.T) {
	const variable = "QUARRY_KILLED_BAKE"
	objects := []scene.Object{{ID: "a", Value: House{Doors: 2}}, {ID: "b", Section: "east", Value: House{}}}
	if folder := os.Getenv(variable); folder != "" {
		b := newBakery(t)
		n := 0
		b.AddSystem("ends", func(*ecs.World) error {
			if n++; n == 2 {
				os.Exit(3) // main is in the staging folder
			}
			return nil
		})
		_, err := b.Bake(folder, objects)
		t.Fatal("the bake has ended", err)
	}
	folder := t.TempDir()
	for range 2 {
		child := exec.Command(os.Args[0], "-test.run=^TestBakeAfterAKill$")
		child.Env = append(os.Environ(), variable+"="+folder)
		out, err := child.CombinedOutput()
		if strings.Contains(fmt.Sprint(string(out), err), "xec format error") || child.ProcessState == nil {
			t.Skip("this program cannot start itself here")
		}
		require.Equal(t, 3, child.ProcessState.ExitCode(), "%s", out)
		require.Len(t, staged(t, folder), 1, "the child's own")
	}
	inside, err := filepath.Glob(filepath.Join(staged(t, folder)[0], "*"))
	require.NoError(t, err)
	require.NotEmpty(t, inside)
	b := newBakery(t)
	_, err = b.Bake(folder, objects)
	require.NoError(t, err)
	require.Empty(t, staged(t, folder))
}

// TestStaleFolders: folders of bakes that ended are removed, also those without a lock, and those
// of bakes that are running and what is not of a bake stay.
func TestStaleFolders(t *testing.T) {
	folder := t.TempDir()
	place := func(name string, files ...string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.Mkdir(path, 0o777))
		for _, f := range files {
			require.NoError(t, os.WriteFile(filepath.Join(path, f), []byte("x"), 0o666))
		}
		return path
	}
	running := place(".bake-11")
	lock, err := disk.FileSystem{}.Lock(filepath.Join(running, ".lock"))
	require.NoError(t, err)
	if other, err := (disk.FileSystem{}).Lock(filepath.Join(running, ".lock")); err == nil {
		require.NoError(t, other.Close())
		t.Skip("this system has no locks")
	}
	place(".bake-12", ".lock", "main")
	place(".bake-13", "main") // of a version without locks
	place(".bake-14")
	place(".bake-15", ".lock", ".stale")
	users := place(".bake-of-mine", ".lock", "main")
	b := newBakery(t)
	objects := []scene.Object{{ID: "a", Value: House{}}}
	_, err = b.Bake(folder, objects)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{running, users}, staged(t, folder))
	require.NoError(t, lock.Close())
	_, err = b.Bake(folder, objects)
	require.NoError(t, err)
	require.Equal(t, []string{users}, staged(t, folder))
}

// TestSectionNames: names of files are refused that some system cannot have, or takes for another.
func TestSectionNames(t *testing.T) {
	b := newBakery(t)
	bake := func(names ...string) error {
		var objects []scene.Object
		for i, name := range names {
			objects = append(objects, scene.Object{ID: fmt.Sprint(i), Section: name, Value: House{}})
		}
		_, err := b.Bake(t.TempDir(), objects)
		return err
	}
	for _, name := range []string{"con", "CON", "prn", "Aux", "nul", "nul.x", "com1", "COM9", "lpt1",
		"LPT3.east", "con.x.y",
		"a.", ".a", "a ", " a", "a/b", `a\b`, "a:b", "a*", "ä", "com¹", "conin$", strings.Repeat("a", 101)} {
		require.ErrorContains(t, bake(name), "section ", "%q", name)
	}
	for _, names := range [][]string{{"A", "a"}, {"east", "west", "East"}, {"x.Y", "x.y"}} {
		require.ErrorContains(t, bake(names...), "but for the case of letters", "%q", names)
	}
	require.NoError(t, bake("con1", "com", "com10", "lpt0", "null", "a.con", "console", "A", "b", "A", "a.b",
		"a-b", "a_b"))
}
