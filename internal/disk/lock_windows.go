package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file until it is closed. The system drops the lock of a process that ends, and
// lets nobody remove or rename the file meanwhile, for package os opens it without
// FILE_SHARE_DELETE.
func lockFile(f *os.File) error {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// lockFolder does nothing: Windows locks no folders.
func lockFolder(*os.File) (locked bool, err error) { return false, nil }
