package journal

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/internal/disk"
)

// A journal keeps a world in a folder, so that a crash loses no more than the last commits:
//
//	lock                                   held while a journal is open
//	base-00000000000000001200.world        the state of commit 1,200
//	log-00000000000000001200.journal       1,201  1,202  1,203 ...
//
// Invariants:
//
//	J1  A record counts if it is complete and follows the one before; what is after the last one
//	    that counts is cut off when the journal is opened.
//	J2  A commit is acknowledged after the log that has it was synced, and the folder since the log
//	    got its name.
//	J3  A log names its base by checksums that cover each byte of it. A log with its name in place
//	    is complete up to the commits that were acknowledged when it got it, and its base is in
//	    place. So the log with the highest number counts, and files of others may be removed.
//	J4  After a failed write the log is cut back to the last record, and the next commit has all
//	    that changed since. Where that fails, or a sync does, nothing more is written to this log.
//	J5  A record says which commits were acknowledged when it was written. So damage before them is
//	    told from a write that a crash cut.
//	J6  Nothing here writes to the world: it is read by snapshots.
//	J7  Unless the journal is broken, the last commit is in the queue, with the writer, or in the
//	    log. A commit that fails joins the next one, which has all its changes, and the newest waits
//	    to be tried again. So no state is lost for one that failed before it.
//
// The owner takes snapshots, the writer, a goroutine, compares each with the one before:
//
//	owner     Commit: snapshot -> queue                          closes those that nobody uses
//	writer    queue -> Diff with the last -> write -> sync -> acknowledged
//	compactor snapshot of a commit -> base file                  the writer makes the log of it
//
// A commit of which there is no delta becomes a base, when the compactor's is in place or failed.
//
// Where the writer falls behind by queueLimit commits, further ones join: one record has the
// changes of several. So Commit does not wait for the disk, and few snapshots are alive.

// queueLimit is the number of commits that wait for the writer before they join. Each keeps the
// units of 16 KiB of which some was written after it.
const queueLimit = 4

// retryPause is how long after a failed write a commit tries again.
const retryPause = 100 * time.Millisecond

// Journal keeps a world in a folder. Its methods are for the owner of the world, except those that
// are documented otherwise.
type Journal struct {
	w      *ecs.World
	d      disk.Disk
	folder string
	set    settings
	opened Opened
	lock   disk.Lock
	ended  chan struct{} // closed when the writer ends
	out    logWriter     // the writer's own

	ending   sync.Mutex // of Close
	mu       sync.Mutex // guards what follows
	work     sync.Cond  // for the writer: there may be something to do
	progress sync.Cond  // for callers that wait for the writer: it has done something
	queue    []*frame   // not written, oldest first
	unused   []*frame   // whose snapshots the owner renews or closes
	timer    *time.Timer

	handouts []*handout // for backups that wait for the writer

	committed, written, acknowledged uint64
	joined                           uint64 // commits that have no record of their own
	wanted                           uint64 // commits up to it are to be synced now
	base                             uint64
	baseBytes, logBytes              int64

	syncing    bool      // the log is being synced, in a goroutine
	unsynced   error     // why that failed, for the writer
	due        bool      // commits are to be synced because of the policy
	compact    bool      // a new base is asked for
	compacting bool      // and is being written
	finished   *newBase  // by the compactor
	stalled    bool      // the newest commit failed; a commit, Sync or Close tries again
	failed     error     // why; nil after a write that succeeded
	failedAt   time.Time // when that was
	broken     error     // why nothing is written until Rebase
	compaction error     // why the last compaction failed
	closing    bool
	closed     bool
}

// frame is a commit, or several that joined.
type frame struct {
	number uint64
	s      *ecs.Snapshot
	users  int   // the queue or the writer, and the compactor
	whole  bool  // it becomes a base, not a record: of Rebase, or there is no delta
	why    error // why there is no delta
	asked  bool  // of Rebase, which waits until it was tried
}

// World returns the world of the journal, which is the caller's and outlives the journal. Any
// goroutine may call it.
func (j *Journal) World() *ecs.World {
	j.checkMade("Journal.World")
	return j.w
}

// Commit notes the state of the world, so that it is written to the log. It takes a snapshot and
// returns; the writer compares it with the one before, and writes and syncs by the options. With
// SyncEach, Commit waits until that is done.
//
// An error means that the journal cannot write, for example because the disk is full: later commits
// try again, at most each 100 ms, and then have all that changed since the last record. An error
// that wraps ErrRebase remains until Rebase. The world is untouched in either case.
//
// Commit panics where World.Snapshot does, and if the journal is closed. Cost for the owner:
// World.Snapshot, and the copies of the units of 16 KiB that are written while the snapshot is
// alive, until the next commit.
func (j *Journal) Commit() error {
	const op = "Journal.Commit"
	f := j.frame(op)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.push(f)
	if j.stalled && time.Since(j.failedAt) >= retryPause {
		j.stalled = false
	}
	j.work.Signal()
	if j.set.policy == syncEach {
		j.wait(f.number)
	}
	return j.why(op)
}

// frame returns a frame with a new snapshot, and closes those that nobody uses.
func (j *Journal) frame(op string) *frame {
	j.check(op)
	j.mu.Lock()
	unused := j.unused
	j.unused = nil
	j.mu.Unlock()
	if len(unused) == 0 {
		return &frame{s: j.w.Snapshot()}
	}
	for _, u := range unused[1:] {
		u.s.Close()
	}
	f := unused[0]
	*f = frame{s: f.s}
	f.s.Renew()
	return f
}

// push gives a commit its number and puts it into the queue. The caller holds mu.
func (j *Journal) push(f *frame) {
	j.committed++
	f.number, f.users = j.committed, 1
	switch n := len(j.queue); {
	case f.whole: // it has all that those before have
		for _, older := range j.queue {
			j.release(older)
			j.joined++
		}
		j.queue, j.stalled = append(j.queue[:0], f), false
	case j.broken != nil:
		j.release(f)
	case n >= queueLimit:
		j.release(j.queue[n-1])
		j.queue[n-1] = f
		j.joined++
	default:
		j.queue = append(j.queue, f)
	}
}

// release ends a use of a frame. The caller holds mu.
func (j *Journal) release(f *frame) {
	f.asked = false
	if f.users--; f.users == 0 {
		j.unused = append(j.unused, f)
	}
}

// wait waits until a commit is on the disk, or cannot come there for now. The caller holds mu.
func (j *Journal) wait(number uint64) {
	j.wanted = max(j.wanted, number)
	j.work.Signal()
	for j.acknowledged < number && !j.stalled && j.broken == nil {
		j.progress.Wait()
	}
}

// why returns the error of the journal. The caller holds mu.
func (j *Journal) why(op string) error {
	err := j.failed
	if j.broken != nil {
		err = fmt.Errorf("%w: %w", ErrRebase, j.broken)
	}
	if err != nil {
		return fmt.Errorf("journal: %s: %s: %w", op, j.folder, err)
	}
	return nil
}

// Sync waits until all commits are on the disk, and tries again what failed. It returns the error
// that Commit would. It panics if the journal is closed. Any goroutine may call it.
func (j *Journal) Sync() error {
	const op = "Journal.Sync"
	j.check(op)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stalled = false
	j.wait(j.committed)
	return j.why(op)
}

// Acknowledged returns the number of the last commit that is on the disk. Commits are numbered from
// 1; commit 0 is the state with which the journal began. Any goroutine may call it.
func (j *Journal) Acknowledged() uint64 {
	j.checkMade("Journal.Acknowledged")
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.acknowledged
}

// Compact begins to write a new base in the background, of the last commit that was written; when
// it is in place, a log that begins after it replaces the one before. Commits go on meanwhile. It
// does nothing if the log has no record, a new base is being written, or the journal needs Rebase.
// Status returns the state of the journal. It panics if the journal is closed. Any goroutine may
// call it.
func (j *Journal) Compact() {
	j.check("Journal.Compact")
	j.mu.Lock()
	defer j.mu.Unlock()
	j.compact = j.broken == nil && !j.compacting
	j.work.Signal()
}

// Rebase commits the state of the world as a new base, whatever has become of the log, and waits
// until it is in place. Afterwards the journal is as new. It makes a journal usable whose error
// wraps ErrRebase; the files from before stay until it has succeeded. It panics where Commit does.
// Cost: writing the world, as SaveFile.
func (j *Journal) Rebase() error {
	const op = "Journal.Rebase"
	f := j.frame(op)
	j.mu.Lock()
	defer j.mu.Unlock()
	f.whole, f.asked = true, true
	j.push(f)
	j.work.Signal()
	for f.asked {
		j.progress.Wait()
	}
	return j.why(op)
}

// Close writes and syncs all commits, waits for a compaction under way, and ends the journal. The
// world stays. The error names the file that could not be written; the journal is closed
// nevertheless. A second call does nothing. Until then the world cannot be closed. Close panics
// inside a loop over rows and while the world is lent; the journal is open then as before.
func (j *Journal) Close() error {
	const op = "Journal.Close"
	j.checkMade(op)
	j.ending.Lock()
	defer j.ending.Unlock()
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.mu.Unlock()
	if door.Locked(j.w) {
		panic("journal: Journal.Close: " + j.folder +
			": the journal is closed inside a loop over rows, or while the world is lent")
	}
	j.mu.Lock()
	j.closing, j.stalled = true, false
	j.work.Signal()
	j.mu.Unlock()
	<-j.ended
	if j.broken == nil { // the writer's, which has ended
		_ = j.out.file.Sync() // of the mark, which may be missing; all else was synced
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if j.timer != nil {
		j.timer.Stop()
	}
	for _, f := range append(j.queue, j.unused...) {
		f.s.Close()
	}
	if j.out.last != nil {
		j.out.last.s.Close()
	}
	j.queue, j.unused, j.out.last = nil, nil, nil
	err := j.why(op)
	for _, c := range []io.Closer{j.out.file, j.lock} {
		if e := c.Close(); e != nil && err == nil {
			err = fmt.Errorf("journal: %s: %s: %w", op, j.folder, e)
		}
	}
	door.Keep(j.w, nil)
	return err
}

// checkMade panics for a journal that did not come from Open.
func (j *Journal) checkMade(op string) {
	if j == nil || j.w == nil {
		panic("journal: " + op + ": the journal is nil or the zero value; journals come from Open")
	}
}

// check panics if the journal cannot be used.
func (j *Journal) check(op string) {
	j.checkMade(op)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		panicClosed(op)
	}
}

func panicClosed(op string) {
	panic("journal: " + op + ": the journal is closed")
}

func (j *Journal) path(name string) string { return filepath.Join(j.folder, name) }
