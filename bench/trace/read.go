package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Read reads the trace in a file. The content decides the form. A missing file gives the error of
// the operating system. An error about the content is a [*SyntaxError], or only matches [ErrFormat]
// if no line is to blame, or matches [ErrLimit]. Cost: 0.2 microseconds per line of the AOSP form,
// less for the others, and memory for 16 bytes per line and 40 bytes for each block live at once.
func Read(path string) (*Trace, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, _, err := parse(path, f, size, most)
	return t, err
}

// open opens a file that can be read repeatedly.
func open(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("trace: %w", err)
	}
	s, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("trace: %w", err)
	case !s.Mode().IsRegular():
		err = fmt.Errorf("%w: %s: expected an ordinary file, for it is read more than once", ErrFormat, path)
	default:
		return f, s.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

// parse reads a trace from the content of a file and also returns the source of its text. The path
// is used only for errors and the name. It reads twice: a malformed file is refused before any
// operation is held, and the second reading allocates exactly the room for the operations.
func parse(path string, content io.ReaderAt, size int64, most limits) (*Trace, *source, error) {
	src, err := newSource(path, content, size, most)
	if err != nil {
		return nil, nil, err
	}
	head := Trace{Name: path}
	if src.member != nil {
		head.Member = src.member.Name
	}
	if head.Form, err = src.form(most); err != nil {
		return nil, nil, err
	}
	_, ops, err := src.read(head, nil, most)
	if err != nil {
		return nil, nil, err
	}
	t, _, err := src.read(head, make([]Op, 0, ops), most)
	if err != nil {
		return nil, nil, err
	}
	return t, src, nil
}

// read reads the text and returns the number of operations. It keeps the operations if room is not
// nil.
func (s *source) read(head Trace, room []Op, most limits) (*Trace, int, error) {
	text, err := s.open()
	if err != nil {
		return nil, 0, err
	}
	defer text.Close()
	t := &head
	t.Ops = room
	b := newBuilder(t, s.name, text, most)
	switch t.Form {
	case AOSP:
		err = readAOSP(b)
	case Malloclab:
		err = readRep(b)
	case WeeAlloc:
		err = readWee(b)
	}
	if err != nil {
		return nil, 0, err
	}
	b.finish()
	return t, b.ops, nil
}

// form finds the form from the first line that is not blank: only the wee_alloc form begins with a
// letter; of the two that begin with a digit, the one with a colon is AOSP.
func (s *source) form(most limits) (Form, error) {
	in, err := s.open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	b := newBuilder(&Trace{}, s.name, in, most)
	for b.next() {
		text := bytes.TrimSpace(b.text)
		if len(text) == 0 {
			continue
		}
		switch c := text[0]; {
		case bytes.HasPrefix(text, []byte("PK\x03\x04")):
			return 0, b.bad("a trace, not an archive inside the archive: unpack it once")
		case c >= 'A' && c <= 'Z':
			return WeeAlloc, nil
		case c >= '0' && c <= '9' && bytes.IndexByte(text, ':') >= 0:
			return AOSP, nil
		case c >= '0' && c <= '9':
			return Malloclab, nil
		}
		return 0, b.bad("TID: and a call (AOSP), a number (malloclab) or Alloc(SIZE), (wee_alloc)")
	}
	return 0, b.ended("a trace of the AOSP, malloclab or wee_alloc form")
}
