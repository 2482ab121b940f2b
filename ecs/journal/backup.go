package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"quarry/internal/disk"
)

// A backup is a copy of the base and of the log up to a record. The writer opens both between two
// of its steps, so they match; the caller copies them while the journal continues. A new base that
// replaces them meanwhile takes their names, not their bytes.
//
//	lock        of the folder that the copy is in
//	base        temporary file, sync
//	log         temporary file, with a mark, sync; both are read back and checked
//	names       first that of the log, which alone opens nothing, then that of the base
//	sync        of the folder

// handout is what the writer gives to a backup.
type handout struct {
	base, log disk.Reader
	number    uint64 // of the base
	end       int64  // of the last record
	commit    uint64 // of that
	mark      []byte // after it; none if the log has no record
	done      bool
	err       error
}

// Backup copies the journal into another folder, which it makes if need be and which has none yet,
// and returns the number of the last commit that the copy has: the last that is in the log now, or
// later. Sync before makes it the last of all. The copy is on the disk when Backup returns, was
// read back and checked as by Check, and is a journal for Open and View. Meanwhile the journal goes
// on.
//
// If Backup fails or is interrupted, the folder has no journal that opens. An error wraps ErrRebase
// if the journal needs one, fs.ErrExist if the folder has files of a journal, ErrInUse if one is
// open there, or is the system's. It panics if the journal is closed. Any goroutine may call it.
// Cost: writing and reading the files.
func (j *Journal) Backup(folder string) (commit uint64, err error) {
	const op = "Journal.Backup"
	j.check(op)
	path, err := placeOf(folder)
	if err == nil {
		commit, err = j.backUp(op, path)
	}
	if err != nil {
		return 0, fmt.Errorf("journal: Journal.Backup: %s: %w", folder, err)
	}
	return commit, nil
}

// backUp is Backup into the folder at a path.
func (j *Journal) backUp(op, folder string) (commit uint64, err error) {
	if err := disk.MakeFolders(j.d, folder); err != nil {
		return 0, err
	}
	lock, err := lockFolder(j.d, folder)
	if err != nil {
		return 0, err
	}
	defer lock.Close() // nothing was written through it
	names, err := j.d.List(folder)
	if err != nil {
		return 0, err
	}
	_, hasLog := highest(names, logPrefix, logSuffix)
	if _, hasBase := highest(names, basePrefix, baseSuffix); hasLog || hasBase {
		return 0, errTaken
	}
	h := j.handOut(op)
	if h.err != nil {
		return 0, h.err
	}
	defer h.base.Close() // they are only read
	defer h.log.Close()
	return h.commit, h.copyTo(j.d, folder)
}

// errTaken is the error of a folder that has a base or a log.
var errTaken = fmt.Errorf("it has files of a journal: %w", fs.ErrExist)

// handOut asks the writer for the files.
func (j *Journal) handOut(op string) *handout {
	h := new(handout)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closing {
		panicClosed(op)
	}
	j.handouts = append(j.handouts, h)
	j.work.Signal()
	for !h.done {
		j.progress.Wait()
	}
	return h
}

// giveOut opens the files for a backup. The caller, the writer, holds mu, which is free meanwhile.
func (j *Journal) giveOut() {
	h := j.handouts[0]
	j.handouts = slices.Delete(j.handouts, 0, 1)
	if h.err = j.broken; h.err != nil {
		h.err, h.done = fmt.Errorf("%w: %w", ErrRebase, h.err), true
		return
	}
	h.number, h.end, h.commit = j.out.head.number, j.out.end, j.written
	if h.end > logHeaderBytes {
		j.out.sealMark(h.commit)
		h.mark = slices.Clone(j.out.spot[:])
	}
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		h.done = true
	}()
	if h.err = j.held(); h.err != nil {
		return
	}
	if h.base, h.err = j.d.Open(j.path(baseName(h.number))); h.err != nil {
		return
	}
	if h.log, h.err = j.d.Open(j.path(logName(h.number))); h.err != nil {
		_ = h.base.Close() // it is only read
	}
}

// copyTo copies the files into a folder.
func (h *handout) copyTo(d disk.Disk, folder string) (err error) {
	size, err := h.base.Size()
	if err != nil {
		return err
	}
	base, err := copyFile(d, folder, h.base, size, nil)
	if err != nil {
		return err
	}
	log, err := copyFile(d, folder, h.log, h.end, h.mark)
	if err != nil {
		return errors.Join(err, d.Remove(base))
	}
	logAt, baseAt := filepath.Join(folder, logName(h.number)), filepath.Join(folder, baseName(h.number))
	if err = checkBase(d, base); err == nil {
		err = checkCopy(d, log, h.number)
	}
	if err == nil {
		err = d.Rename(log, logAt)
	}
	if err == nil {
		err = d.SyncFolder(folder)
	}
	if err == nil {
		err = d.Rename(base, baseAt)
	}
	if err == nil {
		err = d.SyncFolder(folder)
	}
	if err == nil {
		return disk.SyncAbove(d, folder)
	}
	for _, path := range []string{base, log, baseAt, logAt} { // the base first, without which nothing opens
		_ = d.Remove(path) // some are not there
	}
	return err
}

// copyFile copies the first bytes of a file, and those of tail, to a temporary one, which is on
// the disk then.
func copyFile(d disk.Disk, folder string, from io.ReaderAt, size int64, tail []byte) (path string, err error) {
	f, path, err := disk.CreateTemporary(d, folder)
	if err != nil {
		return "", fmt.Errorf("create a temporary file: %w", err)
	}
	n, err := io.CopyBuffer(writer{f}, io.NewSectionReader(from, 0, size), make([]byte, copyBytes))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = f.Write(tail)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = d.Remove(path)
		return "", fmt.Errorf("copy to %s: %w", path, err)
	}
	return path, nil
}

// writer hides methods of a file by which io.CopyBuffer would not use its buffer.
type writer struct{ io.Writer }
