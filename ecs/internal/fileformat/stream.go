package fileformat

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"quarry/ecs/internal/worldfile"
)

// stream reads a world file front to back and covers each byte (F2). Memory is taken as bytes
// arrive, so a header that lies costs nothing.
type stream struct {
	header
	r    io.Reader
	at   int64 // bytes read
	part int   // bulk part that is read
	seen [worldfile.ImageBulk]tally
	err  error            // after which nothing is read
	gap  [len(zeros)]byte // bytes between sections
}

// openStream reads the header and the described sections.
func openStream(r io.Reader) (s *stream, meta [worldfile.ImageMeta][]byte, err error) {
	s = &stream{r: r}
	page := make([]byte, headerBytes)
	if err := s.fill("the header", page); err != nil {
		return nil, meta, err
	}
	if s.header, err = decode(page); err != nil {
		return nil, meta, err
	}
	for i := range meta {
		if err := s.skip(s.header.at[i]); err != nil {
			return nil, meta, err
		}
		if meta[i], err = s.take(sectionNames[i], s.n[i]); err != nil {
			return nil, meta, err
		}
		if err := s.checkMeta(i, meta[i]); err != nil {
			return nil, meta, err
		}
	}
	for part := range s.seen {
		s.seen[part].n = s.n[firstBulk+part]
	}
	return s, meta, nil
}

// checkMeta returns an error unless a described section has its checksum.
func (h *header) checkMeta(section int, b []byte) error {
	if sum := crc(b); sum != h.sums[section] {
		return refused("section %s at byte %d is damaged: its checksum is %08x, the header says %08x",
			sectionNames[section], h.at[section], sum, h.sums[section])
	}
	return nil
}

// read is worldfile.File.Read: parts come in order, and bytes of a part in order.
func (s *stream) read(part, at int, dst []byte) error {
	if s.err != nil {
		return s.err
	}
	if err := s.enter(part); err != nil {
		s.err = err
		return err
	}
	t := &s.seen[part]
	if int64(at) != t.at || t.n-t.at < int64(len(dst)) {
		return errOrder(part, at, len(dst), t)
	}
	for len(dst) > 0 {
		b := dst[:min(sumEvery, len(dst))] // while it is in the cache
		if s.err = s.fill(sectionNames[firstBulk+part], b); s.err != nil {
			return s.err
		}
		t.add(b)
		dst = dst[len(b):]
	}
	return nil
}

// errOrder is the error of a call that reads anything but the next bytes of a part.
func errOrder(part, at, n int, t *tally) error {
	return fmt.Errorf("section %s: %d bytes from its byte %d on are read, the next is %d of %d",
		sectionNames[firstBulk+part], n, at, t.at, t.n)
}

// enter goes on to a part, which is read next.
func (s *stream) enter(part int) error {
	for ; s.part < part; s.part++ {
		if t := &s.seen[s.part]; t.at < t.n {
			return fmt.Errorf("section %s is read, and %s only up to its byte %d of %d",
				sectionNames[firstBulk+part], sectionNames[firstBulk+s.part], t.at, t.n)
		}
	}
	return s.skip(s.header.at[firstBulk+part])
}

// finish reads what is after the parts, and returns an error unless all of the file was read and
// has its checksums.
func (s *stream) finish() error {
	if s.err != nil {
		return s.err
	}
	s.err = errFinished
	if err := s.enter(worldfile.ImageBulk); err != nil {
		return err
	}
	b, err := s.take(sectionNames[sums], s.n[sums])
	if err != nil {
		return err
	}
	said, err := s.decodeSums(b)
	if err != nil {
		return err
	}
	for part := range s.seen {
		if err := s.differing(part, 0, s.seen[part].sums, said); err != nil {
			return err
		}
	}
	return nil
}

var errFinished = errors.New("the file was read to its end")

// fill reads len(b) bytes of what is named.
func (s *stream) fill(what string, b []byte) error {
	n, err := io.ReadFull(s.r, b)
	s.at += int64(n)
	switch {
	case err == nil:
		return nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return refused("it ends in %s, after %d bytes%s", what, s.at, s.ofTotal())
	}
	return fmt.Errorf("%s from byte %d on: %w", what, s.at, err)
}

// ofTotal returns the part of a text with the number of bytes that there should be, once that is
// known.
func (s *stream) ofTotal() string {
	if s.total == 0 {
		return ""
	}
	return fmt.Sprintf(" of %d", s.total)
}

// take reads n bytes, and asks for memory as they arrive.
func (s *stream) take(what string, n int64) (b []byte, err error) {
	for int64(len(b)) < n {
		m := min(n-int64(len(b)), max(sumEvery, int64(len(b)))) // doubled, so each byte is copied once more
		b = append(b, make([]byte, m)...)
		if err := s.fill(what, b[int64(len(b))-m:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// zeros is written between sections, and compared with what is read there.
var zeros [64 << 10]byte

// skip reads up to an offset, where all bytes must be zero.
func (s *stream) skip(at int64) error {
	for s.at < at {
		from, b := s.at, s.gap[:min(int64(len(s.gap)), at-s.at)]
		if err := s.fill("the zeros between sections", b); err != nil {
			return err
		}
		if i := firstNonzero(b); i >= 0 {
			return errBetween(from+int64(i), b[i])
		}
	}
	return nil
}

// errBetween is the error of a byte between sections that is not zero.
func errBetween(at int64, b byte) error {
	return refused("byte %d, which lies between sections, is %02x instead of zero", at, b)
}

// firstNonzero returns the index of the first byte that is not zero, -1 if all are. b is no longer
// than zeros.
func firstNonzero(b []byte) int {
	if bytes.Equal(b, zeros[:len(b)]) {
		return -1
	}
	i := 0
	for b[i] == 0 {
		i++
	}
	return i
}
