package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// FileSystem is the disk of the operating system.
type FileSystem struct{}

// Lstat is os.Lstat.
func (FileSystem) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// Rename is os.Rename.
func (FileSystem) Rename(from, to string) error { return os.Rename(from, to) }

// Remove is os.Remove.
func (FileSystem) Remove(path string) error { return os.Remove(path) }

// Create makes a file that must not be there yet.
func (FileSystem) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err // not f, which would be an interface with a nil pointer
	}
	return f, nil
}

// SyncFolder brings the names in a folder to the disk, where folders can be synced: on Windows they
// cannot, and some file systems return an error.
func (FileSystem) SyncFolder(path string) error {
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

// MakeFolder makes a folder unless there is one.
func (FileSystem) MakeFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return os.Mkdir(path, 0o777)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder, but %v", path, info.Mode())
	}
	return nil
}

// List returns the names in a folder.
func (FileSystem) List(folder string) (names []string, err error) {
	list, err := os.ReadDir(folder)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}

// Open opens a regular file to read. It does not follow a link.
func (FileSystem) Open(path string) (Reader, error) {
	f, err := openThere(path, os.O_RDONLY)
	if err != nil {
		return nil, err // not f, which would be an interface with a nil pointer
	}
	return osFile{f}, nil
}

// OpenRegular opens a file to read, and returns its size. A file that is not regular is refused
// before it is opened, because opening a pipe waits. The error names the path.
func OpenRegular(path string) (f *os.File, size int64, err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w, but %v", path, ErrNotRegular, info.Mode())
	}
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err != nil {
		_ = f.Close() // only read
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// openThere opens the regular file that is there and not what a link leads to; also if somebody
// puts a link in its place just now.
func openThere(path string, how int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w, but %v", path, ErrNotRegular, info.Mode())
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return nil, err
	}
	if err := same(path, f, info); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenLog opens a regular file to read and write. It does not follow a link.
func (FileSystem) OpenLog(path string) (Log, error) {
	f, err := openThere(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// osFile is a file of the operating system.
type osFile struct{ *os.File }

// Size returns the bytes of the file.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// At returns an error unless a path names the file.
func (f osFile) At(path string) error {
	now, err := os.Lstat(path)
	if err == nil {
		err = same(path, f.File, now)
	}
	return err
}
