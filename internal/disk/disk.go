// Package disk is the file system as world files and journals use it: files that are replaced as a
// whole, logs that are appended to, folders whose names reach the disk, and locks. [Disk] is the
// interface and [System] the operating system's; tests put others in its place, which refuse a
// step, tear a write or lose what was not synced.
package disk

import (
	"errors"
	"io"
	"io/fs"

	_ "quarry/internal/debug" // the line that ends builds for 32 bits
)

// Disk is the calls of the system that a program needs.
type Disk interface {
	Lstat(path string) (fs.FileInfo, error)         // of a link itself, not of its target
	Create(path string) (File, error)               // a new file to write
	Open(path string) (Reader, error)               // a regular file to read, no link
	OpenLog(path string) (Log, error)               // the same to read and write
	Rename(from, to string) error                   // replaces what is there
	Remove(path string) error                       // a file
	MakeFolder(path string) error                   // unless there is one
	List(folder string) (names []string, err error) // of files and folders
	SyncFolder(path string) error                   // names in it survive a power loss
	Lock(path string) (Lock, error)                 // until it is closed or the process ends
}

// File is a new file that is written front to back.
type File interface {
	io.Writer
	Chmod(fs.FileMode) error // its permissions
	Sync() error             // its bytes survive a power loss
	Close() error            // without a sync
}

// Reader is a file that is read.
type Reader interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error) // bytes
}

// Log is a file that is read and written.
type Log interface {
	Reader
	io.WriterAt
	Truncate(size int64) error // cuts it
	Sync() error               // its bytes survive a power loss
	At(path string) error      // nil if the path names this file
}

// Lock is a lock on a file and the folder that it is in.
type Lock interface {
	Held() error // nil if the paths name what is locked
	io.Closer
}

// ErrNotRegular is wrapped by the error of a path at which there is no regular file.
var ErrNotRegular = errors.New("it is no regular file")

// ErrReplaced is wrapped by the error of a path that names another file than it did.
var ErrReplaced = errors.New("it was replaced by another")

// ErrLocked is the error of a lock that is held.
var ErrLocked = errors.New("it is locked")
