package simdisk

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"quarry/internal/disk"
)

// Process is a program that uses a disk, as disk.Disk.
type Process struct {
	d      *Disk
	killed atomic.Bool

	// Before is called before each step with its name, that of the method, and a path. If it
	// returns an error the step fails: half of a write is done, and what a sync had to write is
	// lost.
	Before func(step, path string) error
}

var _ disk.Disk = (*Process)(nil)

// Process begins a process.
func (d *Disk) Process() *Process {
	return &Process{d: d, Before: func(string, string) error { return nil }}
}

// Kill ends the process: its steps are refused from now on, but those that Before has now, and its
// locks are free.
func (p *Process) Kill() {
	p.killed.Store(true)
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	for n, l := range p.d.locks {
		if l.p == p {
			delete(p.d.locks, n)
		}
	}
}

// may calls Before.
func (p *Process) may(step, path string) error {
	if p.killed.Load() {
		return ErrKilled
	}
	err := p.Before(step, path)
	if err == nil && p.killed.Load() {
		err = ErrKilled
	}
	return err
}

// with calls Before, and runs f under the lock of the disk.
func (p *Process) with(step, path string, f func() error) error {
	err := p.may(step, path)
	if err == nil {
		p.d.mu.Lock()
		defer p.d.mu.Unlock()
		err = f()
	}
	if err != nil {
		return &fs.PathError{Op: step, Path: path, Err: err}
	}
	return nil
}

// parent returns an error unless the folder of a path is there. The caller holds mu.
func (p *Process) parent(path string) error {
	switch p.d.now.find(filepath.Dir(path)).(type) {
	case nil:
		return fs.ErrNotExist
	case *file:
		return syscall.ENOTDIR
	}
	return nil
}

// file returns the file at a path, and its number. The caller holds mu.
func (p *Process) file(path string) (f *file, number int, err error) {
	switch n := p.d.now.find(path).(type) {
	case nil:
		return nil, 0, fs.ErrNotExist
	case *folder:
		return nil, 0, disk.ErrNotRegular
	case *file:
		for number = range p.d.now.files {
			if p.d.now.files[number] == n {
				f = n
				break
			}
		}
	}
	return f, number, nil
}

// Lstat is of disk.Disk.
func (p *Process) Lstat(path string) (info fs.FileInfo, err error) {
	err = p.with("Lstat", path, func() error {
		switch n := p.d.now.find(path).(type) {
		case nil:
			return fs.ErrNotExist
		case *file:
			info = fileInfo{filepath.Base(path), n.now.size, 0o666}
		default:
			info = fileInfo{filepath.Base(path), 0, fs.ModeDir | 0o777}
		}
		return nil
	})
	return info, err
}

// Create is of disk.Disk.
func (p *Process) Create(path string) (f disk.File, err error) {
	err = p.with("Create", path, func() error {
		if p.d.now.find(path) != nil {
			return fs.ErrExist
		}
		if err := p.parent(path); err != nil {
			return err
		}
		p.d.do(step{kind: createFile, path: path})
		f = &open{p: p, path: path, number: len(p.d.now.files) - 1}
		return nil
	})
	return f, err
}

// Open is of disk.Disk.
func (p *Process) Open(path string) (f disk.Reader, err error) {
	err = p.with("Open", path, func() error {
		_, number, err := p.file(path)
		f = &open{p: p, path: path, number: number}
		return err
	})
	return f, err
}

// OpenLog is of disk.Disk.
func (p *Process) OpenLog(path string) (f disk.Log, err error) {
	err = p.with("OpenLog", path, func() error {
		_, number, err := p.file(path)
		f = &open{p: p, path: path, number: number}
		return err
	})
	return f, err
}

// Rename is of disk.Disk.
func (p *Process) Rename(from, to string) error {
	return p.with("Rename", to, func() error {
		if p.d.now.find(from) == nil {
			return fs.ErrNotExist
		}
		if filepath.Dir(from) != filepath.Dir(to) {
			return syscall.EXDEV // it is not needed
		}
		p.d.do(step{kind: rename, path: from, to: to})
		return nil
	})
}

// Remove is of disk.Disk.
func (p *Process) Remove(path string) error {
	return p.with("Remove", path, func() error {
		_, _, err := p.file(path)
		if err == nil {
			p.d.do(step{kind: remove, path: path})
		}
		return err
	})
}

// MakeFolder is of disk.Disk.
func (p *Process) MakeFolder(path string) error {
	return p.with("MakeFolder", path, func() error {
		switch p.d.now.find(path).(type) {
		case *folder:
			return nil
		case *file:
			return syscall.ENOTDIR
		}
		err := p.parent(path)
		if err == nil {
			p.d.do(step{kind: makeFolder, path: path})
		}
		return err
	})
}

// List is of disk.Disk.
func (p *Process) List(path string) (names []string, err error) {
	err = p.with("List", path, func() error {
		f, ok := p.d.now.find(path).(*folder)
		if !ok {
			return fs.ErrNotExist
		}
		names = f.list()
		return nil
	})
	return names, err
}

// SyncFolder is of disk.Disk.
func (p *Process) SyncFolder(path string) error {
	return p.with("SyncFolder", path, func() error {
		if _, ok := p.d.now.find(path).(*folder); !ok {
			return fs.ErrNotExist
		}
		p.d.do(step{kind: syncFolder, path: path})
		return nil
	})
}

// Lock is of disk.Disk. The folder is locked.
func (p *Process) Lock(path string) (c disk.Lock, err error) {
	err = p.with("Lock", path, func() error {
		if err := p.parent(path); err != nil {
			return err
		}
		if p.d.now.find(path) == nil {
			p.d.do(step{kind: createFile, path: path})
		}
		folder := filepath.Dir(path)
		n := p.d.now.find(folder)
		if p.d.locks[n] != nil {
			return disk.ErrLocked
		}
		l := &lock{p, folder, n}
		p.d.locks[n], c = l, l
		return nil
	})
	return c, err
}

// lock is a lock that a process has.
type lock struct {
	p    *Process
	path string
	n    node
}

// Held is of disk.Lock.
func (l *lock) Held() error {
	return l.p.with("Held", l.path, func() error {
		if l.p.d.now.find(l.path) != l.n {
			return disk.ErrReplaced
		}
		return nil
	})
}

// Close frees the lock.
func (l *lock) Close() error {
	l.p.d.mu.Lock()
	defer l.p.d.mu.Unlock()
	if l.p.d.locks[l.n] == l {
		delete(l.p.d.locks, l.n)
	}
	return nil
}

// fileInfo is the result of Lstat.
type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
