package bake

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"quarry/internal/disk"
)

// Staging folders. Files are made in one, and moved to their places when all are there. A program
// that is killed leaves it, so each has a file that its bake has locked; the system unlocks the
// file of a program that ends. The lock comes before all else in the folder.

const (
	stagingPrefix = ".bake-"
	stagingLock   = ".lock"  // no section has this name
	stagingStale  = ".stale" // in a folder that is about to be removed
)

// staging is a folder in which files are made.
type staging struct {
	path string
	lock io.Closer
}

// newStaging makes a staging folder. Another bake may take one without its lock for stale, so it is
// made again until it is there and locked.
func newStaging(folder string) (*staging, error) {
	for try := 0; ; try++ {
		path, err := os.MkdirTemp(folder, stagingPrefix+"*")
		if err != nil {
			return nil, err
		}
		lock, err := disk.FileSystem{}.Lock(filepath.Join(path, stagingLock))
		if err == nil {
			if isThere(filepath.Join(path, stagingLock)) && !isThere(filepath.Join(path, stagingStale)) {
				return &staging{path, lock}, nil
			}
			_ = lock.Close() // of a file that is being removed
			err = os.ErrNotExist
		}
		if try == 9 || !errors.Is(err, disk.ErrLocked) && !errors.Is(err, os.ErrNotExist) {
			_ = os.RemoveAll(path) // the error before has more detail
			return nil, err
		}
	}
}

// remove removes the folder. What cannot be removed now, the next bake removes.
func (s *staging) remove() {
	_ = s.lock.Close() // nothing was written through it
	_ = os.RemoveAll(s.path)
}

// removeStale removes the staging folders of bakes that did not end.
func removeStale(folder string) error {
	list, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range list {
		number, is := strings.CutPrefix(e.Name(), stagingPrefix)
		if !is || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if !isStale(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// isStale reports whether nobody bakes in a staging folder. An empty one may be of a bake that is
// about to lock it: it is removed at once, unless it is no longer empty, and the bake makes
// another.
func isStale(path string) bool {
	inside, err := os.ReadDir(path)
	if err != nil {
		return false // it has just been removed, or is not ours to read
	}
	if len(inside) == 0 {
		_ = os.Remove(path)
		return false
	}
	for _, e := range inside {
		if e.Name() != stagingLock {
			continue
		}
		lock, err := disk.FileSystem{}.Lock(filepath.Join(path, stagingLock))
		if err != nil {
			return false
		}
		err = os.WriteFile(filepath.Join(path, stagingStale), nil, 0o666) // for who locks it next
		_ = lock.Close()                                                  // before the removal, for Windows
		return err == nil
	}
	return true // of a version that locked nothing
}

func isThere(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
