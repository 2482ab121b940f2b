package trace

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxDirectory bounds what is read of a zip archive to find its only member, in bytes: the end of
// the directory with its comment of up to 64 KiB, searched twice, and one entry, tried twice, with
// name, extra fields and comment of up to 64 KiB each.
const maxDirectory = 512 << 10

// errDirectory ends the reading of a directory that has more than one entry needs.
var errDirectory = fmt.Errorf("a directory of more than %d bytes", maxDirectory)

// encrypted is the flag of a member that needs a password. Package zip ignores the flag, so the
// member would not read as text.
const encrypted = 1 << 0

// source is where the text of a trace comes from; it can be read repeatedly.
type source struct {
	name    string // for errors: the file as named to Read, or "file.zip(member)"
	content io.ReaderAt
	size    int64
	member  *zip.File // nil: the file is the text
}

// newSource finds the text of a file: the file itself, or the only member of an archive.
func newSource(path string, content io.ReaderAt, size int64, most limits) (*source, error) {
	s := &source{name: path, content: content, size: size}
	var magic [2]byte
	if n, err := content.ReadAt(magic[:], 0); n < len(magic) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("trace: %w", err)
	}
	text := uint64(size)
	if string(magic[:]) == "PK" {
		if err := s.find(); err != nil {
			return nil, err
		}
		text = s.member.UncompressedSize64
	}
	if text > uint64(most.text) {
		return nil, fmt.Errorf("%w: %s: expected at most %d bytes of text, got %d: cut the recording",
			ErrLimit, s.name, most.text, text)
	}
	return s, nil
}

// find looks for the only member of the archive. Package zip holds all entries of a directory,
// however many there are and whatever number the archive gives; so it gets to read no more than one
// entry needs.
func (s *source) find() error {
	d := &directory{s.content, maxDirectory}
	r, err := zip.NewReader(d, s.size)
	d.left = math.MaxInt64 // the member is read through d, too
	if errors.Is(err, errDirectory) {
		return fmt.Errorf("%w: %s: expected a zip archive with one member, got %w", ErrFormat, s.name, err)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: expected a zip archive, for it starts with PK: %w", ErrFormat, s.name, err)
	}
	if len(r.File) != 1 {
		return fmt.Errorf("%w: %s: expected a zip archive with one member, got %d", ErrFormat, s.name, len(r.File))
	}
	s.member = r.File[0]
	s.name = fmt.Sprintf("%s(%s)", s.name, strings.Trim(strconv.Quote(quote([]byte(s.member.Name))), `"`))
	switch {
	case s.member.Mode().IsDir():
		return fmt.Errorf("%w: %s: expected a file in the archive, got a folder", ErrFormat, s.name)
	case s.member.Flags&encrypted != 0:
		return fmt.Errorf("%w: %s: expected a member without a password: unpack it", ErrFormat, s.name)
	case s.member.Method != zip.Store && s.member.Method != zip.Deflate:
		return fmt.Errorf("%w: %s: expected a member stored or deflated, got method %d: unpack it",
			ErrFormat, s.name, s.member.Method)
	}
	return nil
}

// open returns the text from its beginning.
func (s *source) open() (io.ReadCloser, error) {
	if s.member == nil {
		return io.NopCloser(io.NewSectionReader(s.content, 0, s.size)), nil
	}
	text, err := s.member.Open()
	if err != nil {
		return nil, s.torn(err)
	}
	return &unpacked{text, s}, nil
}

// torn is the error for an archive whose member cannot be unpacked.
func (s *source) torn(err error) error {
	return fmt.Errorf("%w: %s: expected a member that can be unpacked: %w", ErrFormat, s.name, err)
}

// directory is package zip's view of a file while it looks for members.
type directory struct {
	io.ReaderAt
	left int64
}

func (d *directory) ReadAt(b []byte, off int64) (int, error) {
	if d.left -= int64(len(b)); d.left < 0 {
		return 0, errDirectory
	}
	return d.ReaderAt.ReadAt(b, off)
}

// unpacked is the text of a member. Package zip ends it with an error if it is longer or shorter
// than recorded in the archive, or differs from the packed text.
type unpacked struct {
	io.ReadCloser
	s *source
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.ReadCloser.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.s.torn(err)
	}
	return n, err
}
