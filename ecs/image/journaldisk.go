package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// journalDisk is what a journal asks the system for, so that tests can refuse each step, cut each
// write, and stop before each.
type journalDisk interface {
	disk
	MakeFolder(path string) error
	List(folder string) (names []string, err error)
	Open(path string) (readFile, error)
	OpenLog(path string) (logFile, error)
	Lock(path string) (io.Closer, error)
}

// readFile is a file that is read.
type readFile interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error)
}

// logFile is a log that is read and written.
type logFile interface {
	readFile
	io.WriterAt
	Truncate(size int64) error
	Sync() error
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

// MakeFolder makes a folder unless there is one, and brings its name to the disk.
func (s system) MakeFolder(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is no folder, but %v", path, info.Mode())
		}
		return nil
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	return s.SyncFolder(filepath.Dir(path))
}

// List returns the names in a folder.
func (system) List(folder string) (names []string, err error) {
	list, err := os.ReadDir(folder)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}

// Open opens a regular file to read.
func (system) Open(path string) (readFile, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err // not f, which would be an interface with a nil pointer
	}
	return osFile{f}, nil
}

// OpenLog opens a file to read and write.
func (system) OpenLog(path string) (logFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Lock takes the lock of a journal, a file in its folder, until it is closed or the process ends.
func (system) Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// The files of a journal. Their numbers are those of the commit whose state the base has.
const (
	lockName     = "lock"
	basePrefix   = "base-"
	baseSuffix   = ".world"
	logPrefix    = "log-"
	logSuffix    = ".journal"
	tempPrefix   = ".quarry-"
	tempSuffix   = ".tmp"
	numberDigits = 20 // of the largest, so that the names sort as the numbers
)

func baseName(number uint64) string { return fileName(basePrefix, number, baseSuffix) }
func logName(number uint64) string  { return fileName(logPrefix, number, logSuffix) }

func fileName(prefix string, number uint64, suffix string) string {
	return fmt.Sprintf("%s%0*d%s", prefix, numberDigits, number, suffix)
}

// numberIn returns the number in the name of a base or log.
func numberIn(name, prefix, suffix string) (number uint64, ok bool) {
	digits, hasPrefix := strings.CutPrefix(name, prefix)
	digits, hasSuffix := strings.CutSuffix(digits, suffix)
	if !hasPrefix || !hasSuffix || len(digits) != numberDigits {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}
