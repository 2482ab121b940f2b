package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"quarry/ecs/internal/fileformat"
	"quarry/internal/disk"
)

// A file is read back and checked before the one that it replaces goes: a base, and a log with
// records of another. Check does the same with what lies there, and takes no lock: a journal may be
// running. If it made a new base meanwhile, the files that were listed are gone, and all begins
// again.

// Check reads the journal in a folder, each byte of the base and of the log, and reports what Open
// would find; no world is made, and no type needed. Nothing is written and nothing is locked: the
// journal may be open, and then it is checked up to a commit of now.
//
// The error wraps ErrFile of package image if the base is damaged, ErrLog if the log is, both if
// both are; fs.ErrNotExist if there is no journal, or is the system's. What a crash cut is no
// damage: Cut and Why of the result are the bytes that Open would cut off, and the reason. Any
// goroutine may call it. Cost: reading the files. Memory: the largest record.
func Check(folder string) (Opened, error) {
	var found Opened
	path, err := placeOf(folder)
	if err == nil {
		found, err = check(disk.FileSystem{}, path)
	}
	if err != nil {
		return found, fmt.Errorf("journal: Check: %s: %w", folder, err)
	}
	return found, nil
}

// check is Check on a disk.
func check(d disk.Disk, folder string) (found Opened, err error) {
	err = steadily(d, folder, func(names []string) error {
		found = Opened{}
		number, hasLog := highest(names, logPrefix, logSuffix)
		if !hasLog {
			var hasBase bool
			if number, hasBase = highest(names, basePrefix, baseSuffix); !hasBase {
				return errNoJournal
			}
		}
		found.Base, found.Commit, found.NoLog = number, number, !hasLog
		err := checkBase(d, filepath.Join(folder, baseName(number)))
		if hasLog {
			err = errors.Join(err, found.checkLog(d, folder, number))
		}
		return err
	})
	return found, err
}

// fine takes any delta, whose checksum is right.
func fine([]byte) error { return nil }

// errNoJournal is the error of a folder with neither base nor log.
var errNoJournal = fmt.Errorf("there is no journal: %w", fs.ErrNotExist)

// tries is how often steadily begins.
const tries = 10

// steadily calls f with the names in a folder, and again if it fails and a running journal has
// changed files meanwhile.
func steadily(d disk.Disk, folder string, f func(names []string) error) error {
	names, err := d.List(folder)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err = f(names)
		if err == nil || try == tries {
			return err
		}
		now, e := d.List(folder)
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) // after a write that failed
		if e != nil || slices.Equal(now, names) && !cut {
			return err
		}
		names = now
	}
}

// checkBase checks each byte of a base.
func checkBase(d disk.Disk, path string) error {
	f, err := d.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	disk.Fresh(f)
	size, err := f.Size()
	if err == nil {
		err = fileformat.Check(f, size)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return err
}

// checkLog checks each byte of the log of a base.
func (found *Opened) checkLog(d disk.Disk, folder string, number uint64) error {
	name := logName(number)
	f, err := d.Open(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	disk.Fresh(f)
	r := replay{f: f, number: number}
	if err = r.begin(); err == nil {
		err = r.ofBase(d, folder)
		err = errors.Join(err, r.run(fine, false))
	}
	found.note(&r)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// checkCopy checks that a file is a log whose records all count.
func checkCopy(d disk.Disk, path string, number uint64) error {
	f, err := d.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // it is only read
	disk.Fresh(f)
	r := replay{f: f, number: number}
	if err = r.begin(); err == nil {
		if err = r.run(fine, false); err == nil {
			err = r.why
		}
	}
	return err
}
