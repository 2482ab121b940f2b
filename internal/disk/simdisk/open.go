package simdisk

import (
	"io"
	"io/fs"
	"slices"

	"quarry/internal/disk"
)

// open is a file that a process has open: a disk.File, disk.Reader and disk.Log.
type open struct {
	p      *Process
	path   string // when it was opened
	number int
	at     int64 // of Write
}

var (
	_ disk.File = (*open)(nil)
	_ disk.Log  = (*open)(nil)
)

func (f *open) file() *file { return f.p.d.now.files[f.number] }

// Write writes after what was written.
func (f *open) Write(b []byte) (n int, err error) {
	n, err = f.WriteAt(b, f.at)
	f.at += int64(n)
	return n, err
}

// WriteAt writes bytes, or the first half where that is refused.
func (f *open) WriteAt(b []byte, at int64) (n int, err error) {
	if f.p.killed.Load() {
		return 0, ErrKilled
	}
	n = len(b)
	if err = f.p.Before("Write", f.path); err != nil {
		n /= 2
		err = &fs.PathError{Op: "Write", Path: f.path, Err: err}
	}
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	f.p.d.do(step{kind: writeFile, file: f.number, at: at, bytes: slices.Clone(b[:n])})
	return n, err
}

// ReadAt reads bytes.
func (f *open) ReadAt(b []byte, at int64) (n int, err error) {
	err = f.p.with("Read", f.path, func() error {
		n = f.file().now.read(b, at)
		return nil
	})
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// Size returns the bytes of the file.
func (f *open) Size() (size int64, err error) {
	err = f.p.with("Size", f.path, func() error {
		size = f.file().now.size
		return nil
	})
	return size, err
}

// At returns an error unless a path names the file.
func (f *open) At(path string) error {
	return f.p.with("At", path, func() error {
		switch now := f.p.d.now.find(path); {
		case now == nil:
			return fs.ErrNotExist
		case now != node(f.file()):
			return disk.ErrReplaced
		}
		return nil
	})
}

// Truncate cuts the file, or makes it longer by zeros.
func (f *open) Truncate(size int64) error {
	return f.p.with("Truncate", f.path, func() error {
		f.p.d.do(step{kind: truncateFile, file: f.number, at: size})
		return nil
	})
}

// Sync brings the bytes of the file to the disk.
func (f *open) Sync() error {
	if f.p.killed.Load() {
		return ErrKilled
	}
	s := step{kind: syncFile, file: f.number}
	err := f.p.Before("Sync", f.path)
	if err != nil {
		if f.p.killed.Load() { // it did not end
			return ErrKilled
		}
		s.kind = loseFile
		err = &fs.PathError{Op: "Sync", Path: f.path, Err: err}
	}
	f.p.d.mu.Lock()
	defer f.p.d.mu.Unlock()
	f.p.d.do(s)
	return err
}

// Chmod changes nothing: permissions are not simulated.
func (f *open) Chmod(fs.FileMode) error { return f.p.may("Chmod", f.path) }

// Close closes the file.
func (f *open) Close() error { return nil }
