package journal

import (
	"errors"
	"fmt"
	"time"

	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/door"
	"quarry/internal/disk"
)

// logWriter is what the goroutine that writes has for itself.
type logWriter struct {
	file   disk.Log
	head   logHeader
	end    int64           // of the last record
	before uint32          // the checksum of the last record's header
	epoch  uint64          // of records
	tail   [tailBytes]byte // the last bytes before end
	marked uint64          // number of the commit of the last mark
	last   *frame          // the commit of the last record or of the base; nil if the journal needs a base
	buffer []byte
	spot   [recordHeaderBytes]byte // a mark
	spare  delta.Spare
	synced time.Time
	tried  int64 // bytes of the log when a compaction last failed
}

// run is the writer.
func (j *Journal) run() {
	defer close(j.ended)
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.step() {
		j.progress.Broadcast()
	}
	j.progress.Broadcast()
}

// step does the most urgent thing, in the order of the cases, and waits if there is none. It
// returns false when all is done and the journal is being closed. The caller holds mu, which is
// free meanwhile.
func (j *Journal) step() bool {
	usable := j.broken == nil
	unsynced := usable && !j.syncing && j.acknowledged < j.written
	switch {
	case j.unsynced != nil:
		j.fail(j.unsynced)
		j.unsynced = nil
	case len(j.handouts) > 0:
		j.giveOut()
	case j.finished != nil && !j.syncing:
		j.adopt()
	case unsynced && j.due:
		j.sync()
	case j.ready():
		j.writeNext()
	case unsynced && (j.set.policy == syncEach || j.wanted > j.acknowledged || j.closing):
		j.sync()
	case usable && !j.syncing && j.acknowledged == j.written && j.out.unmarked(j.written):
		number := j.written
		j.mu.Unlock()
		j.out.mark(number)
		j.mu.Lock()
	case usable && !j.compacting && !j.closing && j.wantsBase():
		j.beginBase()
	case j.closing && !j.compacting && !j.syncing:
		return false
	default:
		j.work.Wait()
	}
	return true
}

// ready reports whether the oldest commit can be written. A commit that becomes a base waits until
// no base is being written and the old log is synced.
func (j *Journal) ready() bool {
	if len(j.queue) == 0 || j.stalled {
		return false
	}
	return !j.queue[0].whole || !j.compacting && !j.syncing
}

// writeNext writes the oldest commit, as a record or as a base.
func (j *Journal) writeNext() {
	f := j.queue[0]
	j.queue = append(j.queue[:0], j.queue[1:]...)
	if f.whole {
		j.replace(f)
		return
	}
	synced := j.acknowledged
	j.mu.Unlock()
	err := j.out.append(f, synced)
	j.mu.Lock()
	unfit, cut, lost := new(unfitError), new(cutError), new(lostError)
	switch {
	case err == nil:
		j.release(j.out.last)
		j.out.last = f
		j.written, j.failed, j.logBytes = f.number, nil, j.out.end
		j.arm()
	case errors.As(err, &cut), errors.As(err, &lost):
		j.release(f)
		j.fail(err)
	case errors.As(err, &unfit) && f.s.Err() == nil: // no delta, but a base
		f.whole, f.why = true, unfit
		j.queue = append([]*frame{f}, j.queue...)
	default:
		j.putOff(f, err)
	}
}

// putOff keeps a commit that failed for a later attempt. It joins the next one, if there is one,
// which is tried at once (J7).
func (j *Journal) putOff(f *frame, err error) {
	j.failed, j.failedAt = err, time.Now()
	f.whole, f.why, f.asked = false, nil, false // perhaps there is room for a record
	if len(j.queue) > 0 {
		j.joined++
		j.release(f)
		return
	}
	j.queue, j.stalled = append(j.queue, f), true
}

// fail makes the journal write nothing until Rebase.
func (j *Journal) fail(err error) {
	j.broken, j.compact, j.stalled = err, false, false
	queue := j.queue
	j.queue = j.queue[:0]
	for _, f := range queue {
		if f.asked { // a Rebase
			j.queue = append(j.queue, f)
		} else {
			j.release(f)
		}
	}
	if j.out.last != nil {
		j.release(j.out.last)
	}
	j.out.last = nil
}

// arm has the log synced in time.
func (j *Journal) arm() {
	if j.set.policy != syncEvery || j.due {
		return
	}
	if j.timer == nil {
		j.timer = time.AfterFunc(j.set.every, j.ring)
		return
	}
	j.timer.Reset(max(j.set.every-time.Since(j.out.synced), 0))
}

// ring is called when the log is to be synced.
func (j *Journal) ring() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.due = true
	j.work.Signal()
}

// sync begins to bring what was written to the disk. Records are written meanwhile.
func (j *Journal) sync() {
	written, file, end, tail := j.written, j.out.file, j.out.end, j.out.tail
	name, base := logName(j.out.head.number), baseName(j.out.head.number)
	j.due, j.syncing, j.out.synced = false, true, time.Now()
	go func() {
		err := file.Sync()
		if err == nil {
			err = checkEnd(file, end, tail)
		}
		if err == nil {
			err = j.held()
		}
		if err == nil {
			err = file.At(j.path(name))
		}
		if err == nil {
			_, err = j.d.Lstat(j.path(base)) // without it the log is of no use
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.syncing = false
		if err != nil {
			j.unsynced = fmt.Errorf("sync %s: %w", name, err)
		} else {
			j.acknowledged = max(j.acknowledged, written)
		}
		j.work.Signal()
		j.progress.Broadcast()
	}()
}

// tailBytes is the number of bytes before the end of the last record that are looked at: a
// checksum, of the delta or of the header of the log.
const tailBytes = 4

// checkEnd returns an error if a log has lost bytes that were written: it is shorter, or, where it
// was cut and has grown again by what was written after, it has a hole before its end.
func checkEnd(file disk.Log, end int64, tail [tailBytes]byte) error {
	size, err := file.Size()
	if err == nil && size < end {
		return fmt.Errorf("it has %d bytes, and %d were written: something else has cut it", size, end)
	}
	var b [tailBytes]byte
	if err == nil {
		_, err = file.ReadAt(b[:], end-tailBytes)
	}
	if err == nil && b != tail {
		err = fmt.Errorf("it has % x before byte %d, and % x were written: something else has cut or written it",
			b, end, tail)
	}
	return err
}

// noteTail reads the last bytes before the end, which checkEnd expects there from now on.
func (o *logWriter) noteTail() error {
	if _, err := o.file.ReadAt(o.tail[:], o.end-tailBytes); err != nil {
		return fmt.Errorf("read the end of %s: %w", logName(o.head.number), err)
	}
	return nil
}

// lostError is the error of a log that has lost records.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// cutError is the error of a partial record that could not be removed.
type cutError struct{ write, cut error }

func (e *cutError) Error() string {
	return fmt.Sprintf("%v; and what was written could not be cut off: %v", e.write, e.cut)
}
func (e *cutError) Unwrap() []error { return []error{e.write, e.cut} }

// unfitError is the error of a commit without a delta.
type unfitError struct{ error }

func (e *unfitError) Unwrap() error { return e.error }

// append writes the record of a commit after the last. After an error the log is as before, or it
// is a cutError or a lostError.
func (o *logWriter) append(f *frame, synced uint64) error {
	h := recordHeader{key: o.head.key, number: f.number, synced: synced, epoch: o.epoch, before: o.before}
	record, err := o.encode(f)
	if err != nil {
		return &unfitError{err}
	}
	h.seal(record)
	if _, err := o.file.WriteAt(record, o.end); err != nil {
		err = fmt.Errorf("write %d bytes at byte %d of %s: %w", len(record), o.end, logName(o.head.number), err)
		if cut := o.file.Truncate(o.end); cut != nil {
			return &cutError{err, cut}
		}
		return err
	}
	if err := checkEnd(o.file, o.end, o.tail); err != nil { // it was cut before, and has a hole now
		return &lostError{fmt.Errorf("%s: %w", logName(o.head.number), err)}
	}
	o.end, o.before = o.end+int64(len(record)), h.own
	copy(o.tail[:], record[len(record)-tailBytes:])
	return nil
}

// unmarked reports whether the log has a record and no mark after the last.
func (o *logWriter) unmarked(number uint64) bool {
	return o.end > logHeaderBytes && o.marked != number
}

// mark writes a mark after the last record, which is on the disk. It may fail: then nobody can
// tell later whether this record was torn or has rotted.
func (o *logWriter) mark(number uint64) {
	o.marked = number
	o.sealMark(number)
	if checkEnd(o.file, o.end, o.tail) == nil { // otherwise records are lost
		_, _ = o.file.WriteAt(o.spot[:], o.end)
	}
}

// sealMark makes spot a mark after the last record, which is that of a commit.
func (o *logWriter) sealMark(number uint64) {
	h := recordHeader{key: o.head.key, number: number, synced: number, epoch: o.epoch, before: o.before}
	h.seal(o.spot[:])
}

// encode returns a record without its header. The bytes are good until the next call.
func (o *logWriter) encode(f *frame) (record []byte, err error) {
	o.buffer = append(o.buffer[:0], make([]byte, recordHeaderBytes)...)
	o.buffer, err = door.AppendDelta(o.buffer, o.last.s, f.s, &o.spare)
	return o.buffer, err
}
