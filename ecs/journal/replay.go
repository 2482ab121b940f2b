package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"quarry/ecs/internal/fileformat"
	"quarry/internal/disk"
)

// replay reads a log: its header, then the records, up to the last that counts.
type replay struct {
	f       disk.Reader
	head    logHeader
	size    int64
	at      int64  // end of the last record that counts
	before  uint32 // the checksum of its header
	epoch   uint64 // its epoch
	number  uint64 // of its commit
	records int
	mark    int64       // bytes of the mark after it; 0 if there is none
	why     error       // why what follows does not count
	sure    int64       // bytes that were on the disk, according to the log
	unsure  []recordEnd // of records after these
}

// recordEnd is the end of the record of a commit.
type recordEnd struct {
	number uint64
	at     int64
}

// trust records the commit that a record declares to be on the disk.
func (r *replay) trust(number uint64) {
	for len(r.unsure) > 0 && r.unsure[0].number <= number {
		r.sure, r.unsure = r.unsure[0].at, r.unsure[1:]
	}
}

// writeAgain writes the records again that, by the log, may not have been on the disk. If a sync
// failed in the program before, the system has them in memory and takes them for written, so that
// the next sync succeeds, and the disk does not have them.
func (r *replay) writeAgain(f disk.Log) error {
	b := make([]byte, min(copyBytes, r.at-r.sure))
	for at := r.sure; at < r.at; at += int64(len(b)) {
		b = b[:min(int64(len(b)), r.at-at)]
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the header of the log of base r.number.
func (r *replay) begin() (err error) {
	if r.size, err = r.f.Size(); err != nil {
		return err
	}
	if r.size < logHeaderBytes {
		return badLog("it ends in its header, after %d bytes", r.size)
	}
	b := make([]byte, logHeaderBytes)
	if _, err := r.f.ReadAt(b, 0); err != nil {
		return err
	}
	if r.head, err = decodeLog(b); err != nil {
		return err
	}
	if r.head.number != r.number {
		return badLog("it is the log of base %d", r.head.number)
	}
	r.at, r.sure, r.before, r.epoch = logHeaderBytes, logHeaderBytes, r.head.before, r.head.epoch
	return nil
}

// goesOn reports whether the base alone will do after an error of begin: where cut is asked for,
// and the log is damaged and not whole, of another format.
func goesOn(err error, cut bool) bool {
	return cut && errors.Is(err, ErrLog) && !errors.Is(err, errLogFormat)
}

// ofBase returns an error unless the base is the one that the log names.
func (r *replay) ofBase(d disk.Disk, folder string) error {
	name, said := baseName(r.head.number), r.head.base
	id, err := fileformat.Identify(d, filepath.Join(folder, name))
	if err == nil && id != said {
		err = badLog(
			"it is not of %s: it names a base of %d bytes with checksums %08x %08x, that has %d bytes and %08x %08x",
			name,
			said.Bytes, said.Header, said.Sums, id.Bytes, id.Header, id.Sums)
	}
	return err
}

// run calls apply with the deltas of the records that count. An error means that a record is
// damaged, or could not be read, which had been acknowledged; or it is one of apply.
func (r *replay) run(apply func(delta []byte) error, cut bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(r.f, r.at, r.size-r.at), copyBytes)
	head := make([]byte, r.head.recordBytes())
	var delta []byte
	for r.at < r.size {
		h, err := r.next(in, head, &delta)
		switch {
		case err != nil:
			r.why = err
			return r.judge(cut)
		case h.mark():
			r.mark = int64(len(head))
			r.trust(h.number)
			return nil
		}
		if err := apply(delta); err != nil {
			return fmt.Errorf("the record of commit %d at byte %d: %w: %w", h.number, r.at, ErrLog, err)
		}
		r.at += int64(len(head)) + h.bytes
		r.before, r.epoch, r.number = h.own, h.epoch, h.number
		r.records++
		r.unsure = append(r.unsure, recordEnd{h.number, r.at})
		r.trust(h.synced)
	}
	return nil
}

// next reads a record. The error is the reason why it does not count, or is the system's.
func (r *replay) next(in io.Reader, head []byte, delta *[]byte) (h recordHeader, err error) {
	left := r.size - r.at
	if left < int64(len(head)) {
		return h, badLog("a record at byte %d has %d bytes of %d of its header", r.at, left, len(head))
	}
	if _, err := io.ReadFull(in, head); err != nil {
		return h, fmt.Errorf("read the record at byte %d: %w", r.at, err)
	}
	h, why := r.head.decodeRecord(head)
	switch left -= int64(len(head)); {
	case why != "":
		return h, badLog("the record at byte %d is damaged: %s", r.at, why)
	case h.before != r.before:
		return h, badLog("the record at byte %d follows one with the checksum %08x, not %08x", r.at, h.before, r.before)
	case h.epoch < r.epoch:
		return h, badLog("the record at byte %d is of epoch %d, behind one of epoch %d", r.at, h.epoch, r.epoch)
	case h.mark() && h.number == r.number && left == 0:
		return h, nil
	case h.mark():
		return h, badLog("the mark at byte %d is of commit %d, behind one of commit %d, and %d bytes are behind it",
			r.at, h.number, r.number, left)
	case h.number <= r.number:
		return h, badLog("the record at byte %d is of commit %d, behind one of commit %d", r.at, h.number, r.number)
	case h.bytes > left:
		return h, badLog("the record at byte %d has %d bytes of %d", r.at, left, h.bytes)
	}
	*delta = slices.Grow((*delta)[:0], int(h.bytes))[:h.bytes]
	if _, err := io.ReadFull(in, *delta); err != nil {
		return h, fmt.Errorf("read the record at byte %d: %w", r.at, err)
	}
	if sum, own := sumsOfDelta(*delta); sum != h.delta || own != h.delta {
		return h, badLog("the record at byte %d is damaged: the checksum of its delta is %08x, it says %08x and %08x",
			r.at, sum, own, h.delta)
	}
	return h, nil
}

// judge returns an error if what does not count had been acknowledged, or may have been.
func (r *replay) judge(cut bool) error {
	switch {
	case cut:
		return nil
	case !errors.Is(r.why, ErrLog): // of the system
		return r.why
	}
	later, at, err := r.later()
	switch {
	case err != nil:
		return errors.Join(r.why, err)
	case later.synced > r.number:
		return fmt.Errorf("%w; by the record of commit %d at byte %d, commits up to %d were on the disk "+
			"(copy the folder; with CutDamaged, Open goes on from commit %d, and View shows it)",
			r.why, later.number, at, later.synced, r.number)
	}
	return nil
}

// later returns the header of a record after the one that does not count which says that this was
// on the disk, and where it is; the zero header if there is none.
func (r *replay) later() (h recordHeader, at int64, err error) {
	n := r.head.recordBytes()
	window := make([]byte, copyBytes)
	for at := r.at; r.size-at >= n; at += int64(len(window)) - n + 1 {
		b := window[:min(int64(len(window)), r.size-at)]
		if _, err := r.f.ReadAt(b, at); err != nil {
			return h, at, fmt.Errorf("read the log behind byte %d: %w", at, err)
		}
		for i := 0; ; i++ {
			k := bytes.Index(b[i:], r.head.key[:])
			if k < 0 || i+k+int(n) > len(b) {
				break
			}
			i += k
			if h, why := r.head.decodeRecord(b[i : i+int(n)]); why == "" && h.synced > r.number && h.number > r.number {
				return h, at + int64(i), nil
			}
		}
	}
	return recordHeader{}, 0, nil
}
