package journal

import (
	"errors"
	"fmt"
	"path/filepath"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/internal/disk"
)

// Opening finds the log with the highest number (J3), loads its base, applies its records up to the
// last that counts (J1), cuts off what is after, and syncs the log: from then on all of it is
// acknowledged. Where the record that does not count had been acknowledged (J5), opening fails,
// unless an option allows to go on without.

// Open opens the journal in a folder: the world of the last complete record. A folder that
// has none, or is not there yet, begins with a new world, of which it gets a base; register must
// make no entities. A base without a log begins a journal too: a world file with the name
// base-00000000000000000000.world.
//
// register is as in Open. The options are World and Into, for the new world; SyncEach, SyncEvery
// and SyncNever, for when commits come to the disk; CompactAt and CutDamaged; and those for types
// that have changed. The base is loaded into memory and checked, as Load does, and each record too.
//
// Where types have changed, records are applied to a world with the types of the base, whatever the
// program has, and what comes of that is converted as a file is. Then the world becomes a new base,
// as Rebase makes one, so that the folder has the types of this program; the same happens where the
// program has types that the base does not name, and where the log has format 1. It takes the time
// and, while it lasts, the memory of a second world. A type that was registered after the journal
// was opened is not in the base: a record with such a type is refused if types have changed or the
// program lacks it. The program that wrote it helps, by Rebase or by opening the journal once with
// the type registered.
//
// Open is for folders of one's own: the base is read as files of strangers are, by image.Load, and
// records are checked as deltas are, but what a stranger may write into the folder while it is open
// is not looked at again.
//
// An error wraps ErrInUse if the folder has an open journal, ErrLog if the log cannot be used,
// ErrFile if the base cannot, ErrTypes or ecs.ErrDelta if types differ, or is the system's, a
// *ecs.LimitError, or from ecs.NewWorld. Then nothing is open, there is no world, and the folder
// has the state that it had. Cost: loading the base, and .8 s for 240 MB of records of a million
// entities.
func Open(folder string, register func(*ecs.World), options ...Option) (*Journal, error) {
	s := settingsOf("Open", register, options)
	path, err := placeOf(folder)
	var j *Journal
	if err == nil {
		j, err = open(disk.FileSystem{}, path, register, s)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: Open: %s: %w", folder, err)
	}
	return j, nil
}

// Opened reports what Open found.
type Opened struct {
	New     bool   // there was no base
	NoLog   bool   // there was a base without a log: it was put there, or the log was removed
	Base    uint64 // number of the commit whose state the base of the folder has
	Records int    // that were read, after the base that was there
	Commit  uint64 // whose state the world has
	Cut     int64  // bytes after the last record that counts, which were cut off
	Why     error  // why they, or all of the log, do not count; nil if all of it does

	// Converted is true if types have changed since the base, that there are new ones, or that the
	// log had format 1. So the world became a new base, with the number of the next commit, which
	// Base and Commit are.
	Converted bool
}

// note records the content of a log.
func (o *Opened) note(r *replay) {
	o.Records, o.Commit = r.records, r.number
	o.Cut, o.Why = r.size-r.at-r.mark, r.why
}

// Opened returns what Open found. Any goroutine may call it.
func (j *Journal) Opened() Opened {
	j.checkMade("Journal.Opened")
	return j.opened
}

func open(d disk.Disk, folder string, register func(*ecs.World), s *settings) (*Journal, error) {
	if err := disk.MakeFolders(d, folder); err != nil {
		return nil, err
	}
	j := &Journal{d: d, folder: folder, set: *s, ended: make(chan struct{})}
	j.work.L, j.progress.L = &j.mu, &j.mu
	var err error
	if j.lock, err = lockFolder(d, folder); err != nil {
		return nil, err
	}
	opened := false
	defer func() {
		if !opened { // register has panicked, or a conversion function
			_ = j.giveUp()
		}
	}()
	err = j.open(register, s)
	opened = true
	if err != nil {
		return nil, errors.Join(err, j.giveUp())
	}
	name := "the journal in " + folder
	door.Keep(j.w, &name)
	go j.run()
	return j, nil
}

// lockFolder locks the folder of a journal.
func lockFolder(d disk.Disk, folder string) (disk.Lock, error) {
	lock, err := d.Lock(filepath.Join(folder, lockName))
	if errors.Is(err, disk.ErrLocked) {
		err = ErrInUse
	}
	return lock, err
}

// held returns an error unless the folder and its lock are where they were: what is at the path now
// may be another journal's.
func (j *Journal) held() error {
	err := j.lock.Held()
	if err != nil {
		err = fmt.Errorf("the folder, or the lock in it, is no longer at its path "+
			"(put it back, then Rebase; or save the world elsewhere): %w", err)
	}
	return err
}

// giveUp closes the files of a journal that is not opened.
func (j *Journal) giveUp() (err error) {
	if j.out.file != nil {
		err = j.out.file.Close()
	}
	if j.w != nil {
		err = errors.Join(err, j.w.Close())
	}
	return errors.Join(err, j.lock.Close())
}

// open makes the world and the log.
func (j *Journal) open(register func(*ecs.World), s *settings) error {
	names, err := j.d.List(j.folder)
	if err != nil {
		return err
	}
	number, has := highest(names, logPrefix, logSuffix)
	renew := false
	if !has {
		// Who made the folder may have been killed before its name was on the disk. A folder with a
		// log has had this.
		if err := disk.SyncAbove(j.d, j.folder); err != nil {
			return fmt.Errorf("sync the folders above: %w", err)
		}
		if number, has = highest(names, basePrefix, baseSuffix); !has {
			if err := j.begin(register, s); err != nil {
				return err
			}
		} else if renew, err = j.restart(number, register, s); err != nil {
			return err
		} else {
			j.opened.NoLog = true
		}
	} else if renew, err = j.resume(number, register, s); err != nil {
		return err
	}
	// And so with the names of base and log, before others are removed and anything is acknowledged
	// (J2, J3).
	if err := j.d.SyncFolder(j.folder); err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	j.tidy(names, number)
	j.opened.Base = number
	j.written, j.committed = j.opened.Commit, j.opened.Commit
	j.replaced(j.written)
	if j.opened.Converted = renew; renew {
		return j.renew()
	}
	return nil
}

// highest returns the highest number in the names of bases or logs.
func highest(names []string, prefix, suffix string) (number uint64, has bool) {
	for _, name := range names {
		if n, ok := numberIn(name, prefix, suffix); ok && (!has || n > number) {
			number, has = n, true
		}
	}
	return number, has
}

// tidy removes leftovers of a crash: temporary files, and bases and logs of other numbers.
func (j *Journal) tidy(names []string, number uint64) {
	for _, name := range names {
		_, base := numberIn(name, basePrefix, baseSuffix)
		_, log := numberIn(name, logPrefix, logSuffix)
		if (base || log || disk.Temporary(name)) && name != baseName(number) && name != logName(number) {
			_ = j.d.Remove(j.path(name)) // it is tried again next time
		}
	}
}

// begin makes a new world and its base, number 0.
func (j *Journal) begin(register func(*ecs.World), s *settings) (err error) {
	if j.w, err = ecs.NewWorld(s.base.World...); err != nil {
		return err
	}
	register(j.w)
	if !j.w.Closed() && j.w.Stats().Created > 0 {
		panic("journal: Open: the function that registers the types has made entities; make them afterwards, if Opened().New")
	}
	j.opened.New = true
	j.note(0)
	if err := j.saveBase(j.out.last); err != nil {
		return err
	}
	_, err = j.placeLog(0, 0, 0, 0)
	return err
}

// restart makes the world of a base without a log, or without one of which any record counts, and a
// new log. renew is as in restore.
func (j *Journal) restart(number uint64, register func(*ecs.World), s *settings) (renew bool, err error) {
	if j.w, renew, err = j.load(number, register, s, nil); err != nil {
		return false, err
	}
	j.note(number)
	_, err = j.placeLog(number, 0, 0, 0)
	return renew, err
}

// note takes the snapshot with which the next commit is compared.
func (j *Journal) note(number uint64) {
	j.opened.Commit = number
	j.out.last = &frame{number: number, s: j.w.Snapshot(), users: 1}
}

// resume makes the world of a base and its log. renew is as in restore.
func (j *Journal) resume(number uint64, register func(*ecs.World), s *settings) (renew bool, err error) {
	o, name := &j.out, logName(number)
	if o.file, err = j.d.OpenLog(j.path(name)); err != nil {
		return false, err
	}
	r := replay{f: o.file, number: number}
	if err = r.begin(); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
		if !goesOn(err, j.set.cut) {
			return false, err
		}
		j.opened.Cut, j.opened.Why = r.size, err
		return j.restart(number, register, s)
	}
	if renew, err = j.restoreOf(&r, register, s); err != nil {
		return false, err
	}
	j.opened.note(&r)
	if j.opened.Cut > 0 {
		if err := o.file.Truncate(r.at); err != nil {
			return false, fmt.Errorf("cut %d bytes off %s: %w", j.opened.Cut, name, err)
		}
	}
	if err := r.writeAgain(o.file); err != nil {
		return false, fmt.Errorf("write %s: %w", name, err)
	}
	if err := o.file.Sync(); err != nil {
		return false, fmt.Errorf("sync %s: %w", name, err)
	}
	if o.end, o.before, o.epoch = r.at, r.before, r.epoch; r.mark > 0 {
		o.marked = r.number
	}
	if err := o.noteTail(); err != nil {
		return false, err
	}
	j.note(r.number)
	return renew || o.head.format != logFormat, nil
}

// restoreOf makes the world of a base and its log, whose header was read. renew is as in restore.
func (j *Journal) restoreOf(r *replay, register func(*ecs.World), s *settings) (renew bool, err error) {
	j.out.head = r.head
	if err := r.ofBase(j.d, j.folder); err != nil {
		return false, fmt.Errorf("%s: %w", logName(r.head.number), err)
	}
	return j.restore(r, register, s)
}
