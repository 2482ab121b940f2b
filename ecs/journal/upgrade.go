package journal

import (
	"errors"
	"fmt"
	"io"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/fileformat"
	"quarry/ecs/internal/worldfile"
)

// A journal whose types have changed. Records have the types of the program that wrote them, as the
// base has. So they are applied to a world with the types of the base, and what comes of that is
// converted, as a file is:
//
//	base + records  ->  world with the types of the base  ->  world of the program  ->  new base
//
// The new base has the types of the program, so that the log, too, has one set of types.

// upgrade is the file that a journal opens instead of its base if types have changed.
type upgrade struct {
	w   *ecs.World
	s   *ecs.Snapshot
	img *worldfile.Image
	err error // of making the file
}

// file applies the records of a log to its base, and returns the result as a file.
func (u *upgrade) file(j *Journal, r *replay) (*worldfile.File, error) {
	asItWas := &settings{}
	asItWas.base.Rules.KeepUnknown, asItWas.base.Rules.KeepEntities = true, true
	var err error
	if u.w, _, err = j.load(r.number, func(*ecs.World) {}, asItWas, nil); err != nil {
		return nil, err
	}
	if err := j.apply(r, u.w); err != nil {
		return nil, err
	}
	u.s = u.w.Snapshot()
	if u.img, err = door.ImageOf(u.s); err != nil {
		return nil, err
	}
	return &worldfile.File{Meta: u.img.Meta, Size: u.img.Size, Read: u.img.Read}, nil
}

// close ends the world of the base.
func (u *upgrade) close() error {
	if u.img != nil {
		u.img.Close()
	}
	if u.w == nil {
		return nil
	}
	return u.w.Close() // and its snapshot
}

// restore makes the world of a base and the records of its log. renew means that the journal is to
// have a new base, for types have changed, or there are new ones.
func (j *Journal) restore(r *replay, register func(*ecs.World), s *settings) (renew bool, err error) {
	var newer func() (*worldfile.File, error)
	u := new(upgrade)
	if r.at < r.size {
		defer func() { err = errors.Join(err, u.close()) }()
		newer = func() (f *worldfile.File, err error) {
			f, u.err = u.file(j, r)
			return f, u.err
		}
	}
	if j.w, renew, err = j.load(r.number, register, s, newer); u.err != nil {
		return false, u.err // it names the log
	}
	if err == nil && u.w == nil {
		err = j.apply(r, j.w)
	}
	return renew, err
}

// apply applies the records of a log to a world.
func (j *Journal) apply(r *replay, w *ecs.World) error {
	var a delta.Applier
	err := r.run(func(record []byte) error { return a.Apply(door.World(w), record) }, j.set.cut)
	if errors.Is(err, ecs.ErrDelta) {
		err = fmt.Errorf("%w: %w; Journal.Rebase of the program that wrote it gives the journal a base with its types "+
			"(records apply to the types of the base, so a type that was registered later is missing)",
			image.ErrTypes, err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", logName(j.out.head.number), err)
	}
	return err
}

// load makes the world of a base, or of the file that newer returns in its place if types have
// changed. renew is as in restore.
func (j *Journal) load(number uint64, register func(*ecs.World), s *settings,
	newer func() (*worldfile.File, error)) (w *ecs.World, renew bool, err error) {
	f, err := j.d.Open(j.path(baseName(number)))
	if err != nil {
		return nil, false, err
	}
	defer f.Close() // it is only read
	size, err := f.Size()
	if err != nil {
		return nil, false, err
	}
	from, finish, err := fileformat.Load(io.NewSectionReader(f, 0, size))
	if err == nil {
		from.Rules, from.Newer = &s.base.Rules, newer
		w, err = door.OpenImage(from, register, s.base.World)
	}
	if err == nil && (newer == nil || !from.Changed) { // otherwise the file was not read
		if err = finish(); err != nil {
			err = errors.Join(err, w.Close())
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", baseName(number), err)
	}
	return w, from.Changed || from.Added, nil
}

// renew makes the world that was opened the base of a new log, as Rebase does.
func (j *Journal) renew() error {
	f := &frame{number: j.committed + 1, s: j.w.Snapshot(), users: 1}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.committed++
	j.replace(f)
	if err := errors.Join(j.failed, j.broken); err != nil {
		return fmt.Errorf("a new base, as types or the format have changed: %w", err)
	}
	j.opened.Base, j.opened.Commit = j.base, j.committed
	return nil
}
