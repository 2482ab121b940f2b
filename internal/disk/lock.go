package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A lock is on two things, so that it holds whatever becomes of either:
//
//	folder      where the system locks folders: not Windows, and not each network file system
//	file in it  on Windows nobody can remove or rename it while it is open
//
// A folder can be moved and another made at its path. Where only the file is locked, somebody may
// remove it, but on Windows. So Held looks at the paths.

// Lock locks a file, which it makes if need be, and the folder that it is in, until it is closed or
// the process ends. The error is ErrLocked if somebody has either lock, and wraps ErrNotRegular if
// there is something else than a file, such as a symbolic link.
func (FileSystem) Lock(path string) (Lock, error) {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l := &osLock{folder: folder}
	if l.whole, err = lockFolder(folder); err == nil {
		if l.file, err = openLock(path); err == nil {
			err = lockFile(l.file)
		}
	}
	if err != nil {
		_ = l.Close() // nothing was written
		return nil, err
	}
	return l, nil
}

// openLock opens the file at a path, or makes it, and does not follow a link.
func openLock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		f, err = openThere(path, os.O_RDWR)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
}

// osLock is a lock of the operating system.
type osLock struct {
	folder, file *os.File
	whole        bool // the folder is locked
}

// Held returns an error unless the paths name what is locked.
func (l *osLock) Held() error {
	path := l.folder.Name()
	now, err := os.Stat(path)
	if err == nil {
		err = same(path, l.folder, now)
	}
	if path = l.file.Name(); err == nil && !l.whole {
		if now, err = os.Lstat(path); err == nil {
			err = same(path, l.file, now)
		}
	}
	return err
}

// Close ends the lock.
func (l *osLock) Close() (err error) {
	if l.file != nil {
		err = l.file.Close()
	}
	return errors.Join(err, l.folder.Close())
}

// same returns an error unless an open file is the one that its path names now.
func same(path string, f *os.File, now fs.FileInfo) error {
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, now) {
		err = fmt.Errorf("%s: %w", path, ErrReplaced)
	}
	return err
}
