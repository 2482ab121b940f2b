package fileformat

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"quarry/ecs/internal/worldfile"
	"quarry/internal/disk"

	"github.com/stretchr/testify/require"
)

// steps are the calls of Replace to the system, in order; several of one name are writes.
var steps = []string{"Lstat", "Create", "Chmod", "Write", "Sync", "Close", "Rename", "SyncFolder"}

// broken is a disk that refuses one step, at its nth call.
type broken struct {
	disk.FileSystem
	step  string
	left  *int
	calls map[string]int
}

func breaking(step string, nth int) broken {
	return broken{step: step, left: &nth, calls: map[string]int{}}
}

func (d broken) refuse(step string) error {
	d.calls[step]++
	if step == d.step {
		if *d.left--; *d.left < 0 {
			return errTest
		}
	}
	return nil
}

func (d broken) Lstat(path string) (fs.FileInfo, error) {
	if err := d.refuse("Lstat"); err != nil {
		return nil, err
	}
	return d.FileSystem.Lstat(path)
}

func (d broken) Create(path string) (disk.File, error) {
	if err := d.refuse("Create"); err != nil {
		return nil, err
	}
	f, err := d.FileSystem.Create(path)
	return brokenFile{f, d}, err
}

func (d broken) Rename(from, to string) error {
	if err := d.refuse("Rename"); err != nil {
		return err
	}
	return d.FileSystem.Rename(from, to)
}

func (d broken) Remove(path string) error {
	d.calls["Remove"]++
	return d.FileSystem.Remove(path)
}

func (d broken) SyncFolder(path string) error {
	if err := d.refuse("SyncFolder"); err != nil {
		return err
	}
	return d.FileSystem.SyncFolder(path)
}

type brokenFile struct {
	disk.File
	on broken
}

func (f brokenFile) Chmod(mode fs.FileMode) error {
	if err := f.on.refuse("Chmod"); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f brokenFile) Write(b []byte) (int, error) {
	if err := f.on.refuse("Write"); err != nil {
		n, _ := f.File.Write(b[:len(b)/2]) // as a full disk
		return n, err
	}
	return f.File.Write(b)
}

func (f brokenFile) Sync() error {
	if err := f.on.refuse("Sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f brokenFile) Close() error {
	if err := f.on.refuse("Close"); err != nil {
		_ = f.File.Close()
		return err
	}
	return f.File.Close()
}

// TestEveryFailureOfSaveFile refuses each call to the system: the error names path and step, and
// the file before is what it was but for the last step, after the rename; nothing else is left.
func TestEveryFailureOfSaveFile(t *testing.T) {
	path := fakePath(t, 7, small)
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	counted := breaking("", 0)
	require.NoError(t, Replace(counted, fakeImage(7, small), path))
	require.Zero(t, counted.calls["Remove"], "another process may have the name by now")
	for _, step := range steps {
		require.Positive(t, counted.calls[step], step)
		for nth := range counted.calls[step] {
			require.NoError(t, os.WriteFile(path, old, 0o600))
			err := Replace(breaking(step, nth), fakeImage(8, small), path)
			require.ErrorIs(t, err, errTest, "%s %d", step, nth)
			require.True(t, strings.HasPrefix(err.Error(), path+": "), err)
			require.Contains(t, strings.ToLower(err.Error()), map[string]string{
				"Lstat": "look", "Create": "create a temporary file", "Chmod": "permissions", "SyncFolder": "sync the folder",
			}[step], step)
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, step != "SyncFolder", bytes.Equal(old, now), step)
			require.NoError(t, Check(bytes.NewReader(now), int64(len(now))), step)
			onlyFile(t, path)
		}
	}
}

// onlyFile requires that a folder has just one file.
func onlyFile(t *testing.T, path string) {
	list, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, filepath.Base(path), list[0].Name())
}

// TestSaveFileKeepsOldFileAfterReadFailure: an image that fails or panics half way.
func TestSaveFileKeepsOldFileAfterReadFailure(t *testing.T) {
	path := fakePath(t, 7, mixed)
	img := fakeImage(8, mixed)
	img.Read = func(int, int, []byte) error { return errTest }
	err := Replace(disk.FileSystem{}, img, path)
	require.ErrorIs(t, err, errTest)
	require.ErrorContains(t, err, "section rows from its byte 0 on: ")
	onlyFile(t, path)
	img.Read = func(int, int, []byte) error { panic("at read") }
	require.PanicsWithValue(t, "at read", func() { _ = Replace(disk.FileSystem{}, img, path) })
	onlyFile(t, path)
	require.NoError(t, CheckFile(path))
	f, closer, err := Open(path, true)
	require.NoError(t, err)
	readAll(t, f, fakeImage(7, mixed), sumEvery)
	require.NoError(t, closer.Close())
}

// taken is a disk on which the first names of temporary files are in use.
type taken struct {
	disk.FileSystem
	left *int
}

func (d taken) Create(path string) (disk.File, error) {
	if *d.left--; *d.left >= 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	return d.FileSystem.Create(path)
}

func TestTemporaryNamesInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world")
	left := 100 - 1
	require.NoError(t, Replace(taken{left: &left}, fakeImage(7, small), path))
	left = 100
	require.ErrorIs(t, Replace(taken{left: &left}, fakeImage(7, small), path), fs.ErrExist)
	onlyFile(t, path)
}

// TestPlaceOfFile: a folder that is missing, a path that is no regular file, permissions.
func TestPlaceOfFile(t *testing.T) {
	dir := t.TempDir()
	err := Replace(disk.FileSystem{}, fakeImage(7, small), filepath.Join(dir, "none", "world"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, Replace(disk.FileSystem{}, fakeImage(7, small), dir), disk.ErrNotRegular)
	path := filepath.Join(dir, "world")
	if runtime.GOOS != "windows" { // which has no such permissions, and links for some users only
		link := filepath.Join(dir, "link")
		require.NoError(t, os.Symlink(path, link))
		require.ErrorIs(t, Replace(disk.FileSystem{}, fakeImage(7, small), link), disk.ErrNotRegular)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chmod(path, 0o640))
		require.NoError(t, Replace(disk.FileSystem{}, fakeImage(7, small), path))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o640), info.Mode())
	}
	t.Chdir(dir)
	require.NoError(t, Replace(disk.FileSystem{}, fakeImage(7, small), "world"))
	require.NoError(t, CheckFile("world"))
}

// TestConcurrentSaveFile: several goroutines save to one path while others open it: each file that
// is seen is whole, and one of theirs.
func TestConcurrentSaveFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not rename over a file that is open")
	}
	const savers, rounds = 4, 5
	path := fakePath(t, 0, small)
	seen := map[string]bool{}
	for seed := range uint64(savers) {
		seen[string(fakeImage(seed, small).Meta[worldfile.ImageSparse])] = true
	}
	var all sync.WaitGroup
	failed := make(chan error, 2*savers*rounds)
	for seed := range uint64(savers) {
		all.Go(func() {
			for range rounds {
				failed <- Replace(disk.FileSystem{}, fakeImage(seed, small), path)
			}
		})
		all.Go(func() {
			for range rounds {
				f, closer, err := Open(path, true)
				if err == nil && !seen[string(f.Meta[worldfile.ImageSparse])] {
					err = errors.New("nobody's file")
				}
				if err == nil {
					err = closer.Close()
				}
				failed <- err
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	onlyFile(t, path)
}
