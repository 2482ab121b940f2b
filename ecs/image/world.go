package image

import (
	"errors"
	"fmt"
	"io"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/fileformat"
	"quarry/ecs/internal/worldfile"
	"quarry/internal/disk"
)

// Saved is the source of a file: a world as it is, or a snapshot of one.
type Saved interface{ *ecs.World | *ecs.Snapshot }

// Save writes a world file of s. Of a world it takes a snapshot, which it closes again, so it
// belongs to the owner and completes jobs; a snapshot may be saved by any goroutine while frames go
// on. A snapshot is written as the same bytes each time. Two saves of a world in which nothing
// changed differ in the world's version, which each snapshot advances, and in the checksums of it.
//
// An error is the writer's, or means that the snapshot is lost, or names the values that cannot be
// written: of managed types, and shared types with pointers, those without an ecs.Codec; in a
// snapshot, of managed types without ecs.CopyWith. Then nothing has been written. Save panics where
// World.Snapshot does, and for a snapshot that is closed. Cost: see the package comment.
func Save[S Saved](s S, to io.Writer) error {
	if to == nil {
		panic("image: Save: the writer is nil")
	}
	if err := saved(s, func(img *worldfile.Image) error { return fileformat.Save(img, to) }); err != nil {
		return fmt.Errorf("image: Save: %w", err)
	}
	return nil
}

// SaveFile is Save to the file at a path, which it makes or replaces as a whole: after an error,
// and if the process or the machine stops, the path has the old file, or none if there was none.
// When it returns nil the file is on the disk. It refuses a path at which there is a symbolic link,
// a folder or a device, for a rename would replace that. The error names the path and the step.
func SaveFile[S Saved](s S, path string) error {
	if err := saved(s, func(img *worldfile.Image) error {
		return fileformat.Replace(disk.FileSystem{}, img, path)
	}); err != nil {
		return fmt.Errorf("image: SaveFile: %w", err)
	}
	return nil
}

// saved calls write with the image of a world or snapshot.
func saved[S Saved](s S, write func(*worldfile.Image) error) error {
	var img *worldfile.Image
	var err error
	switch s := any(s).(type) {
	case *ecs.World:
		img, err = door.ImageOfWorld(s)
	case *ecs.Snapshot:
		img, err = door.ImageOf(s)
	}
	if err != nil {
		return err
	}
	defer img.Close()
	return write(img)
}

// Option is an option of Open, Load and Describe, each of which takes those that concern it and
// ignores the others. Package journal takes them for its base.
type Option func(*fileformat.Settings)

// settings are the result of options.
type settings struct{ fileformat.Settings }

// World passes options to the new world, as to ecs.NewWorld.
func World(options ...ecs.Option) Option {
	for _, o := range options {
		if o == nil {
			panic("image: World: an option is nil")
		}
	}
	return func(s *fileformat.Settings) { s.World = append(s.World, options...) }
}

// Into opens the world in a universe that has other users too, at whatever place is free. The
// headers of buffers that have spilled are rewritten then. The caller closes the universe, after
// the world. It is World(ecs.WithUniverse(u)).
func Into(u *alloc.Universe) Option { return World(ecs.WithUniverse(u)) }

// Checked makes Open check each byte of the file first, as Check does, and compare each row with
// the record of its entity. Load always does both.
func Checked() Option { return func(s *fileformat.Settings) { s.Check = true } }

// Trusted makes Open believe the records of ids, which lead look-ups to rows, without reading them:
// then it takes the same time for any number of entities. It is for files that this program, or
// another of the same version, wrote to a place where nothing damages them: with a record that is
// wrong, calls read and write memory of the process at random. Without it each record is checked.
// Checked goes before it, and where records are not mapped it does nothing.
func Trusted() Option { return func(s *fileformat.Settings) { s.Trust = true } }

// InMemory makes Open read the rows, on several cores, and check them, instead of mapping the file.
// It is for programs that soon write most rows: the first write to a mapped page is slow.
func InMemory() Option { return func(s *fileformat.Settings) { s.Read = true } }

// Open makes a world of the file at a path: it maps the rows, so that it takes the time of
// archetypes and chunks, and pages come in when they are touched; a page that is written is copied
// by the system, and the file never changes. Only archetypes with buffers are gone through, for a
// header that leads elsewhere would be followed. Where files cannot be mapped (Windows, race
// builds, js) Open reads the file.
//
// register is called with the new world before it has entities, to register the types, in any
// order; it may make queries and archetypes too. A type of the file must be registered if an
// archetype or an entry has it, unless an option drops or keeps it. Where the program has another
// world, register sets handles of its own: those of the other world would lead here from then on.
//
// Types may have changed since (docs/files.md): fields that were added, removed or reordered,
// numbers that grew and other options are converted, and Renamed, RenamedField and Convert add what
// fields do not determine. Archetypes with such types are copied, and marked changed, in the time
// of their rows; all others are mapped. Plan reports how each type maps.
//
// Open is for files of one's own; for files of strangers there are Load, and Open with Checked. It
// bounds whatever look-ups follow, so that a damaged file leads nowhere else, but does not read the
// ids in rows: where those are wrong, later calls panic.
//
// The world is what the saved one was: its ids, and those that come next, have the same tag, so the
// two take each other's entities for their own, and so do worlds that are opened from the same file
// (docs/decisions/0037). Versions go on.
//
// An error wraps ErrFile if the file is not a world file or is damaged, ErrTypes if types differ,
// or is the system's, a *ecs.LimitError, or from ecs.NewWorld. Then there is no world.
func Open(path string, register func(*ecs.World), options ...Option) (*ecs.World, error) {
	s := settingsOf("Open", register, options)
	w, err := s.open(path, register)
	if err != nil {
		return nil, fmt.Errorf("image: Open: %w", err)
	}
	return w, nil
}

func (s *settings) open(path string, register func(*ecs.World)) (*ecs.World, error) {
	f, file, err := fileformat.Open(path, s.Check)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read; the mapping stays
	f.Rules, f.Trusted = &s.Rules, s.Trust && !s.Check
	if s.Read {
		f.Map = nil
	}
	w, err := door.OpenImage(f, register, s.World)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// Load makes a world of a file that is read from r, up to its end and no further. It checks each
// byte. Otherwise it is like Open. It is for files of strangers: what it accepts is a sound world,
// though its values may be any, and its codecs get bytes that anybody may have written; it takes
// the memory of the world that the file describes.
func Load(r io.Reader, register func(*ecs.World), options ...Option) (*ecs.World, error) {
	s := settingsOf("Load", register, options)
	if r == nil {
		panic("image: Load: the reader is nil")
	}
	w, err := s.load(r, register)
	if err != nil {
		return nil, fmt.Errorf("image: Load: %w", err)
	}
	return w, nil
}

func (s *settings) load(r io.Reader, register func(*ecs.World)) (*ecs.World, error) {
	f, finish, err := fileformat.Load(r)
	if err != nil {
		return nil, err
	}
	f.Rules = &s.Rules
	w, err := door.OpenImage(f, register, s.World)
	if err != nil {
		return nil, err
	}
	if err := finish(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func settingsOf(op string, register func(*ecs.World), options []Option) *settings {
	if register == nil {
		panic("image: " + op + ": the function that registers the types is nil")
	}
	s := new(settings)
	s.apply(op, options)
	return s
}

// apply applies options.
func (s *settings) apply(op string, options []Option) {
	for _, o := range options {
		if o == nil {
			panic("image: " + op + ": an option is nil")
		}
		o(&s.Settings)
	}
}
