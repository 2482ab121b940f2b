package journal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"

	"quarry/ecs/internal/door"
	"quarry/ecs/internal/fileformat"
	"quarry/internal/disk"
)

// A base and its log come into place in this order, each step on the disk before the next:
//
//	base        temporary file, sync, rename, sync of the folder; read back and checked
//	log         temporary file with the header, and the records after the base; sync, read back and
//	            checked, rename, sync of the folder
//	old log     removed, then the old base; what a crash leaves of them is removed when the journal
//	            is opened
//
// If the process stops between base and log, the old log is the one with the highest number, and
// the new base is removed. From the rename of the log on, the journal goes on with the new log.

// newBase is a base that was written, or not.
type newBase struct {
	f      *frame
	from   int64  // end of the records that it has, in the log
	before uint32 // the checksum of the last of them
	err    error
}

// wantsBase reports whether a compaction is to begin. The caller holds mu.
func (j *Journal) wantsBase() bool {
	if j.out.last == nil || j.out.last.number == j.out.head.number {
		j.compact = false
		return false
	}
	at := j.set.compactAt
	return j.compact || at > 0 && j.out.end-j.out.tried >= at
}

// beginBase begins to write a base of the last record.
func (j *Journal) beginBase() {
	n := &newBase{f: j.out.last, from: j.out.end, before: j.out.before}
	n.f.users++
	j.compact, j.compacting = false, true
	go func() {
		n.err = j.saveBase(n.f)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.finished = n
		j.work.Signal()
	}()
}

// saveBase writes the base of a commit, and reads it back.
func (j *Journal) saveBase(f *frame) error {
	if err := j.held(); err != nil { // perhaps another journal has what is at the path now
		return err
	}
	img, err := door.ImageOf(f.s)
	if err != nil {
		return err
	}
	defer img.Close()
	path := j.path(baseName(f.number))
	if err := fileformat.Replace(j.d, img, path); err != nil {
		return err
	}
	if err := checkBase(j.d, path); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	return nil
}

// discard removes the base of a commit, which has no log. One that stays is removed when the
// journal is opened.
func (j *Journal) discard(number uint64) {
	if j.held() == nil { // otherwise it may be another journal's
		_ = j.d.Remove(j.path(baseName(number)))
	}
}

// adopt makes the log of a base that the compactor has written.
func (j *Journal) adopt() {
	n := j.finished
	j.finished = nil
	written, err := j.written, cmp.Or(j.broken, n.err)
	j.mu.Unlock()
	placed := false
	if err == nil {
		placed, err = j.placeLog(n.f.number, n.before, n.from, j.out.end)
	}
	if err != nil && !placed {
		j.discard(n.f.number)
	}
	j.mu.Lock()
	j.compacting, j.compaction = false, err
	j.release(n.f)
	switch {
	case err != nil && placed && j.broken == nil:
		j.fail(err)
	case err != nil:
		j.out.tried = j.out.end
	default:
		j.replaced(written)
	}
}

// replace makes a commit the base of a new log. Where it cannot, the commit waits.
func (j *Journal) replace(f *frame) {
	j.mu.Unlock()
	placed, err := false, j.saveBase(f)
	if err == nil {
		placed, err = j.placeLog(f.number, 0, 0, 0)
	}
	if err != nil && !placed {
		j.discard(f.number)
	}
	j.mu.Lock()
	switch {
	case err != nil && (placed || j.broken != nil):
		j.release(f)
		j.fail(errors.Join(f.why, err))
	case err != nil:
		j.putOff(f, errors.Join(f.why, err))
	default:
		if j.out.last != nil {
			j.release(j.out.last)
		}
		j.out.last, f.asked = f, false
		j.written, j.failed, j.broken, j.compaction = f.number, nil, nil, nil
		j.replaced(f.number)
	}
}

// replaced notes that a new log is in place, with commits up to a number.
func (j *Journal) replaced(acknowledged uint64) {
	j.acknowledged = acknowledged
	j.base, j.baseBytes, j.logBytes = j.out.head.number, j.out.head.base.Bytes, j.out.end
	j.out.tried = 0
}

// placeLog makes the log of a base that is in place, with the records between two bytes of the
// present log, and goes on with it; before is the checksum before these. placed is true if the name
// may be in place, after which the present log is no more.
func (j *Journal) placeLog(number uint64, before uint32, from, end int64) (placed bool, err error) {
	if err := j.held(); err != nil {
		return false, err
	}
	base, err := fileformat.Identify(j.d, j.path(baseName(number)))
	if err != nil {
		return false, fmt.Errorf("read the new base: %w", err)
	}
	old := j.out
	h := logHeader{
		format: logFormat, number: number, base: base, before: before, key: old.head.key, epoch: old.head.epoch,
	}
	if from == 0 { // no record is copied, which would have the old key
		h.before = base.Seed()
		binary.LittleEndian.PutUint64(h.key[:], rand.Uint64())
	}
	size, placed, err := j.writeLog(h, old.file, from, end)
	if err != nil {
		return placed, err
	}
	file, err := j.d.OpenLog(j.path(logName(number)))
	if err != nil {
		return true, fmt.Errorf("open the new log: %w", err)
	}
	j.out.file, j.out.head, j.out.end, j.out.marked = file, h, size, 0
	if err := j.out.noteTail(); err != nil {
		return true, err
	}
	if from == end {
		j.out.before = h.before
	}
	if old.file != nil {
		_ = old.file.Close() // the new log has all of it
		if old.head.number != number {
			_ = j.d.Remove(j.path(logName(old.head.number)))
			_ = j.d.Remove(j.path(baseName(old.head.number)))
		}
	}
	return true, nil
}

// writeLog writes a log with records of another and gives it its name.
func (j *Journal) writeLog(h logHeader, records io.ReaderAt, from, end int64) (size int64, placed bool, err error) {
	path := j.path(logName(h.number))
	f, temporary, err := disk.CreateTemporary(j.d, j.folder)
	if err != nil {
		return 0, false, fmt.Errorf("create a temporary file for a log: %w", err)
	}
	write := func() error {
		if _, err := f.Write(h.encode()); err != nil {
			return err
		}
		if from < end {
			if _, err := io.CopyBuffer(f, io.NewSectionReader(records, from, end-from),
				make([]byte, copyBytes)); err != nil {
				return err
			}
		}
		return f.Sync()
	}
	err = write()
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = checkCopy(j.d, temporary, h.number)
	}
	if err != nil {
		_ = j.d.Remove(temporary)
		return 0, false, fmt.Errorf("write %s: %w", temporary, err)
	}
	if err := j.d.Rename(temporary, path); err != nil {
		_ = j.d.Remove(temporary)
		_, e := j.d.Lstat(path)
		return 0, !errors.Is(e, fs.ErrNotExist), fmt.Errorf("rename %s: %w", temporary, err)
	}
	if err := j.d.SyncFolder(j.folder); err != nil {
		return 0, true, fmt.Errorf("sync the folder: %w", err)
	}
	return logHeaderBytes + end - from, true, nil
}
