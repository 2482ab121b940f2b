package trace

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
)

// maxText bounds the unpacked text of an archive, in bytes: 64 MB of zip can
// otherwise stand for tens of gigabytes.
const maxText = 2 << 30

// Read reads the trace in a file. The form is told from the content. A missing
// file is the error of the operating system, a malformed one a [*SyntaxError].
// Cost: 0.1 microseconds a line of the AOSP form, less for the others, and
// memory for the text and 24 bytes a line.
func Read(path string) (*Trace, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	t, _, err := parse(path, data)
	return t, err
}

// parse reads a trace from the content of a file and returns the unpacked text
// beside it. The name is for errors only.
func parse(path string, data []byte) (*Trace, []byte, error) {
	t := &Trace{Name: path}
	file := path
	if bytes.HasPrefix(data, []byte("PK")) {
		member, text, err := unpack(path, data)
		if err != nil {
			return nil, nil, err
		}
		t.Member, data = member, text
		file = fmt.Sprintf("%s(%s)", path, member)
	}
	t.Bytes = len(data)
	b := newBuilder(t, file, data)
	form, err := detect(file, data)
	if err != nil {
		return nil, nil, err
	}
	t.Form = form
	switch form {
	case AOSP:
		err = readAOSP(b)
	case Malloclab:
		err = readRep(b)
	case WeeAlloc:
		err = readWee(b)
	}
	if err != nil {
		return nil, nil, err
	}
	b.finish()
	return t, data, nil
}

// detect tells the form from the first line that is not blank: a letter opens
// only the wee_alloc form; of the two that open with a digit, the one with a
// colon is AOSP.
func detect(file string, data []byte) (Form, error) {
	b := builder{file: file, data: data}
	for b.next() {
		text := bytes.TrimSpace(b.text)
		if len(text) == 0 {
			continue
		}
		switch c := text[0]; {
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

// unpack returns the name and the content of the only member of an archive.
func unpack(path string, data []byte) (string, []byte, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s: expected a zip archive, for it starts with PK: %w", ErrFormat, path, err)
	}
	if len(r.File) != 1 {
		return "", nil, fmt.Errorf("%w: %s: expected a zip archive with one member, got %d", ErrFormat, path, len(r.File))
	}
	member := r.File[0]
	bad := func(err error) (string, []byte, error) {
		return "", nil, fmt.Errorf("%w: %s(%s): expected a member that can be unpacked: %w",
			ErrFormat, path, member.Name, err)
	}
	if member.UncompressedSize64 > maxText {
		return "", nil, fmt.Errorf("%w: %s(%s): expected at most %d bytes of text, got %d",
			ErrLimit, path, member.Name, int64(maxText), member.UncompressedSize64)
	}
	f, err := member.Open()
	if err != nil {
		return bad(err)
	}
	defer f.Close()
	// The reader stops with an error when the member is longer than it says,
	// so the size it says is the most that is read.
	var text bytes.Buffer
	text.Grow(int(min(member.UncompressedSize64, 64*uint64(len(data)))) + bytes.MinRead)
	if _, err := io.Copy(&text, f); err != nil {
		return bad(err)
	}
	return member.Name, text.Bytes(), nil
}
