package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"quarry/internal/seam"
)

// A file is replaced as a whole:
//
//	look       what is at the path: nothing, or a regular file, whose permissions are kept
//	create     .quarry-1a2b3c4d.tmp in the same folder, which nobody else has
//	write      all of it, see save
//	sync       it is on the disk
//	close
//	rename     the path names it; the file before is gone for who opens the path from now on
//	sync       of the folder: the path names it after a crash too; not on Windows
//
// A failure before rename leaves the path as it was and removes the temporary file. A process that
// is killed leaves the temporary file behind.

// disk is what saveFile asks the system for, so that tests can refuse each step.
type disk interface {
	Lstat(path string) (fs.FileInfo, error)
	Create(path string) (diskFile, error)
	Rename(from, to string) error
	Remove(path string) error
	SyncFolder(path string) error
}

// diskFile is a file of a disk.
type diskFile interface {
	io.Writer
	Chmod(fs.FileMode) error
	Sync() error
	Close() error
}

// errNotRegular is why a path cannot be replaced.
var errNotRegular = errors.New("what is there is no regular file")

// temporaries is how many names saveFile tries.
const temporaries = 100

// saveFile replaces the file at a path, or makes it.
func saveFile(d disk, img *seam.Image, path string) error {
	failed := func(step string, err error) error { return fmt.Errorf("%s: %s: %w", path, step, err) }
	mode, err := lookAt(d, path)
	if err != nil {
		return failed("look", err)
	}
	f, temporary, err := createTemporary(d, filepath.Dir(path))
	if err != nil {
		return failed("create a temporary file", err)
	}
	open, there := true, true
	defer func() { // after a failure, or a panic of Image.Read
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
	if err := save(img, f); err != nil {
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

// lookAt returns the permissions of the file at a path, 0 if there is none. A symbolic link counts
// as no regular file, for a rename would replace the link.
func lookAt(d disk, path string) (fs.FileMode, error) {
	info, err := d.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: %v", errNotRegular, info.Mode())
	}
	return info.Mode().Perm(), nil
}

// createTemporary makes a file in a folder under a name that was not in use.
func createTemporary(d disk, folder string) (f diskFile, path string, err error) {
	for range temporaries {
		path = filepath.Join(folder, fmt.Sprintf(".quarry-%08x.tmp", rand.Uint32()))
		if f, err = d.Create(path); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, path, err
}

// system is the disk of the operating system.
type system struct{}

func (system) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
func (system) Rename(from, to string) error           { return os.Rename(from, to) }
func (system) Remove(path string) error               { return os.Remove(path) }

func (system) Create(path string) (diskFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not f, which would be an interface with a nil pointer
	}
	return f, nil
}

// SyncFolder brings the names in a folder to the disk, where folders can be synced: on Windows they
// cannot, and some file systems say so.
func (system) SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close() // nothing was written through it
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
