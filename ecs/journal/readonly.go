package journal

import (
	"fmt"

	"quarry/ecs"
	"quarry/internal/disk"
)

// View returns the world of the last complete record of the journal in a folder, and what Open
// would find, without opening the journal: nothing in the folder changes, nothing is locked, and
// the folder may be one that cannot be written. So the journal may be open, in this program or
// another; the world is then as of a commit that is complete now. The world is the caller's, who
// may change it and has to close it; no change of it comes into the journal.
//
// register must keep the handles of this world apart from those of a running one: handles that it
// sets anew lead to the new world from then on, which takes the other's entities for its own.
//
// register and options are as in Open; those of syncs and compaction have no effect. Where types
// have changed the world is converted, and the base in the folder stays as it is. With CutDamaged
// the world is that before the damage.
//
// An error is as of Open, or wraps fs.ErrNotExist if there is no journal. Any goroutine may call
// it. Cost: as of Open.
func View(folder string, register func(*ecs.World), options ...Option) (*ecs.World, Opened, error) {
	s := settingsOf("View", register, options)
	path, err := placeOf(folder)
	var w *ecs.World
	var found Opened
	if err == nil {
		w, found, err = view(disk.FileSystem{}, path, register, s)
	}
	if err != nil {
		return nil, found, fmt.Errorf("journal: View: %s: %w", folder, err)
	}
	return w, found, nil
}

// view is View on a disk.
func view(d disk.Disk, folder string, register func(*ecs.World), s *settings) (w *ecs.World, found Opened, err error) {
	err = steadily(d, folder, func(names []string) error {
		j := &Journal{d: d, folder: folder, set: *s} // which is never begun
		done := false
		defer func() {
			if !done && j.w != nil { // also after a panic of register
				_ = j.w.Close()
			}
		}()
		err := j.view(names, register)
		w, found, done = j.w, j.opened, err == nil
		return err
	})
	if err != nil {
		w = nil
	}
	return w, found, err
}

// view makes the world of a folder with names.
func (j *Journal) view(names []string, register func(*ecs.World)) (err error) {
	number, has := highest(names, logPrefix, logSuffix)
	if has {
		f, err := j.d.Open(j.path(logName(number)))
		if err != nil {
			return err
		}
		defer f.Close() // it is only read
		r := replay{f: f, number: number}
		if err = r.begin(); err == nil {
			j.opened.Base = number
			j.opened.Converted, err = j.restoreOf(&r, register, &j.set)
			j.opened.note(&r)
			return err
		}
		err = fmt.Errorf("%s: %w", logName(number), err)
		if !goesOn(err, j.set.cut) {
			return err
		}
		j.opened.Cut, j.opened.Why = r.size, err
	} else if number, has = highest(names, basePrefix, baseSuffix); !has {
		return errNoJournal
	} else {
		j.opened.NoLog = true
	}
	j.opened.Base, j.opened.Commit = number, number
	j.w, j.opened.Converted, err = j.load(number, register, &j.set, nil)
	return err
}
