//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file until it is closed. The system drops the lock of a process that ends.
func lockFile(f *os.File) error {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

// lockFolder locks a folder until it is closed, and reports whether its file system can. NFS, for
// one, locks only what is open for writing, which folders are not.
func lockFolder(f *os.File) (locked bool, err error) {
	err = lockFile(f)
	if err == nil || errors.Is(err, ErrLocked) {
		return err == nil, err
	}
	return false, nil
}
