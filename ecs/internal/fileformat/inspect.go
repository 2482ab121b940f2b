package fileformat

import (
	"errors"
	"fmt"
	"io"

	"quarry/ecs/internal/worldfile"
)

// Section is a section of a file, the header or one after it.
type Section struct {
	Name          string
	Offset, Bytes int64
	State         State
	Err           error // what is damaged, or why it could not be read
}

// State reports whether a section is as it was written.
type State uint8

// States of sections.
const (
	Unread  State = iota // nobody has looked, or the system could not read it
	Good                 // it has its checksum
	Damaged              // it does not have its checksum
)

// Inspection is the description of a file, as far as it can be read.
type Inspection struct {
	Format   int
	Bytes    int64
	Sections []Section       // the header first; none if the header is damaged
	Meta     *worldfile.File // the described sections and sizes; nil unless all of them are good
}

// Inspect inspects the file at a path, and goes on after damage as far as it can. With whole it
// reads and checks all of it. The error is the first that was met.
func Inspect(path string, whole bool) (in Inspection, err error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return in, err // which names the path
	}
	defer f.Close() // it is only read
	if err := in.inspect(f, size, whole); err != nil {
		return in, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// inspect is Inspect for a file of size bytes.
func (in *Inspection) inspect(f io.ReaderAt, size int64, whole bool) error {
	r := &reader{r: f}
	if err := r.openHeader(size); err != nil {
		return err
	}
	in.Format, in.Bytes = formatOne, r.total
	in.Sections = append(in.Sections, Section{Name: "header", Bytes: headerBytes, State: Good})
	for s := range sections {
		in.Sections = append(in.Sections, Section{Name: sectionNames[s], Offset: r.at[s], Bytes: r.n[s]})
	}
	if err := r.checkSize(size); err != nil { // from here on nothing is larger than the file
		return err
	}
	var failed error
	note := func(section int, err error) {
		s := &in.Sections[1+section]
		s.Err, failed = err, first(failed, err)
		switch {
		case err == nil:
			s.State = Good
		case errors.Is(err, worldfile.ErrImage):
			s.State = Damaged
		}
	}
	of := &worldfile.File{}
	for i := range of.Meta {
		var err error
		of.Meta[i], err = r.readMeta(i)
		note(i, err)
	}
	err := r.readSums()
	if failed == nil {
		in.Meta = of
	}
	note(sums, err)
	for part := range of.Size {
		of.Size[part] = int(r.n[firstBulk+part])
		if whole && err == nil {
			note(firstBulk+part, r.scan(part, func(int, []byte) error { return nil }))
		}
	}
	if whole {
		failed = first(failed, r.checkGaps())
	}
	return failed
}

// first returns the first of two errors.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// Described returns the described sections of the file at a path, and the sizes of its parts.
func Described(path string) (*worldfile.File, error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	r := &reader{r: f}
	of := &worldfile.File{}
	if of.Meta, err = r.open(size); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for part := range of.Size {
		of.Size[part] = int(r.n[firstBulk+part])
	}
	return of, nil
}
