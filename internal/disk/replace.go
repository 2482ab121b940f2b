package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// A file is replaced as a whole:
//
//	look       what is at the path: nothing, or a regular file, whose permissions are kept
//	create     .quarry-1a2b3c4d.tmp in the same folder, which nobody else has
//	write      all of it
//	sync       it is on the disk
//	close
//	rename     the path names it; the file before is gone for who opens the path from now on
//	sync       of the folder: the path names it after a crash too; not on Windows
//
// A failure before rename leaves the path as it was and removes the temporary file. A process that
// is killed leaves the temporary file behind.

// Names of temporary files.
const (
	temporaryPrefix = ".quarry-"
	temporarySuffix = ".tmp"
)

// temporaries is how many names CreateTemporary tries.
const temporaries = 100

// Replace replaces the file at a path, or makes it, with what write writes.
func Replace(d Disk, path string, write func(io.Writer) error) error {
	failed := func(step string, err error) error { return fmt.Errorf("%s: %s: %w", path, step, err) }
	if path == "" {
		return errors.New("the file has no name")
	}
	mode, err := permissions(d, path)
	if err != nil {
		return failed("look", err)
	}
	f, temporary, err := CreateTemporary(d, filepath.Dir(path))
	if err != nil {
		return failed("create a temporary file", err)
	}
	open, there := true, true
	defer func() { // after a failure, or a panic of write
		if open {
			_ = f.Close()
		}
		if there {
			_ = d.Remove(temporary)
		}
	}()
	if mode != 0 {
		if err := f.Chmod(mode); err != nil {
			return failed("give the temporary file the permissions of the old file", err)
		}
	}
	if err := write(f); err != nil {
		return failed("write "+temporary, err)
	}
	if err := f.Sync(); err != nil {
		return failed("sync "+temporary, err)
	}
	open = false
	if err := f.Close(); err != nil {
		return failed("close "+temporary, err)
	}
	if err := d.Rename(temporary, path); err != nil {
		return failed("rename "+temporary, err)
	}
	there = false
	if err := d.SyncFolder(filepath.Dir(path)); err != nil {
		return failed("sync the folder, so that a crash does not bring the old file back", err)
	}
	return nil
}

// permissions returns those of the file at a path, 0 if there is none. A symbolic link counts as no
// regular file, for a rename would replace the link.
func permissions(d Disk, path string) (fs.FileMode, error) {
	info, err := d.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w, but %v", ErrNotRegular, info.Mode())
	}
	return info.Mode().Perm(), nil
}

// CreateTemporary makes a file in a folder under a name that was not in use.
func CreateTemporary(d Disk, folder string) (f File, path string, err error) {
	for range temporaries {
		path = filepath.Join(folder, fmt.Sprintf("%s%08x%s", temporaryPrefix, rand.Uint32(), temporarySuffix))
		if f, err = d.Create(path); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, path, err
}

// Temporary reports whether a name is one of CreateTemporary.
func Temporary(name string) bool {
	return strings.HasPrefix(name, temporaryPrefix) && strings.HasSuffix(name, temporarySuffix)
}
