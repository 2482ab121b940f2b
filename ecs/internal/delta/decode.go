package delta

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// Decoding of deltas. Untrusted input is read within a bound, before the world is touched.

// MaxDelta is the largest number of bytes that ApplyDelta reads, unless the reader has a method Len
// that returns more.
const MaxDelta = 1 << 30

// ReadDelta is DecodeDelta for an operation.
func ReadDelta(op string, r io.Reader, most int) (*Delta, error) {
	return readDelta(op, r, most, readUpTo)
}

// readDelta is ReadDelta with a function that reads the content; the delta has its bytes.
func readDelta(op string, r io.Reader, most int, read func(r io.Reader, n int64) ([]byte, error)) (*Delta, error) {
	refuse := func(format string, values ...any) error { return refuseDelta(op, format, values...) }
	frame := make([]byte, DeltaFrame)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, refuse("it is cut: %w", err)
	}
	if err := checkFormat(op, frame); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint64(frame[12:])
	if rest := most - DeltaFrame - 4; rest < 0 || length > uint64(rest) {
		return nil, refuse("its content has %d bytes, and it may have %d in all", length, most)
	}
	all, err := read(r, int64(length)+4)
	if err != nil || uint64(len(all)) != length+4 {
		return nil, refuse("it is cut: %d of %d bytes: %w", len(all), length+4, orEOF(err))
	}
	content, sum := all[:length], binary.LittleEndian.Uint32(all[length:])
	if now := crc32.Update(world.Checksum(frame), world.Castagnoli, content); now != sum {
		return nil, refuse("it is damaged: its checksum is %#x, not %#x", now, sum)
	}
	d := new(Delta)
	return d, d.decode(op, frame, content, nil)
}

// checkFormat returns an error unless a frame begins a delta of a format that is known.
func checkFormat(op string, frame []byte) error {
	if string(frame[:8]) != deltaMagic {
		return refuseDelta(op, "it begins with %q", frame[:8])
	}
	if format := binary.LittleEndian.Uint32(frame[8:]); format != 1 && format != deltaFormat {
		return refuseDelta(op, "its format is %d, this is a program for formats 1 to %d", format, deltaFormat)
	}
	return nil
}

// decode makes d, which is empty, the delta of a content, parts of which it refers to. m may be
// nil.
func (d *Delta) decode(op string, frame, content []byte, m *memory) error {
	if d.IDs == nil {
		d.IDs = new(entity.Difference)
	}
	c := deltaCoder{Coder: codec.Coder{In: content, Reading: true}, memory: m}
	c.delta(d)
	if binary.LittleEndian.Uint32(frame[8:]) > 1 {
		c.roster(d)
	}
	if !c.Ended() {
		return refuseDelta(op, "its content ends early, or goes on")
	}
	return nil
}

// mostOf returns the bound for a reader: MaxDelta, or the reader's Len, as of a bytes.Reader, if
// that is more.
func mostOf(r io.Reader) int {
	if has, ok := r.(interface{ Len() int }); ok {
		return max(MaxDelta, has.Len())
	}
	return MaxDelta
}

// readInPlace is readUpTo that copies nothing if r is a bytes.Reader or a bytes.Buffer. The bytes
// are good until r's owner goes on.
func readInPlace(r io.Reader, n int64) ([]byte, error) {
	switch r := r.(type) {
	case *bytes.Reader:
		w := firstBytes{n: n}
		_, err := r.WriteTo(&w)
		return w.taken(err)
	case *bytes.Buffer:
		w := firstBytes{n: n}
		_, err := r.WriteTo(&w)
		return w.taken(err)
	}
	return readUpTo(r, n)
}

// firstBytes takes the first n bytes of what is written to it, and no more, so that its reader has
// the rest.
type firstBytes struct {
	n   int64
	all []byte
}

// Write keeps the first bytes of b where they lie: a bytes.Reader or Buffer writes all it has at
// once.
func (w *firstBytes) Write(b []byte) (int, error) {
	w.all = b[:min(w.n-int64(len(w.all)), int64(len(b)))]
	return len(w.all), nil
}

// taken returns the bytes, or the error of WriteTo, for which a short write is one.
func (w *firstBytes) taken(err error) ([]byte, error) {
	if int64(len(w.all)) == w.n {
		err = nil
	}
	return w.all, err
}

// readUpTo reads n bytes, or as many as there are. If the reader's length is known, memory is
// allocated at once, otherwise as bytes arrive.
func readUpTo(r io.Reader, n int64) ([]byte, error) {
	if has, ok := r.(interface{ Len() int }); ok && int64(has.Len()) >= n {
		all := make([]byte, n)
		_, err := io.ReadFull(r, all)
		return all, err
	}
	return io.ReadAll(io.LimitReader(r, n))
}

func orEOF(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// refuseDelta returns an error that wraps ErrDelta.
func refuseDelta(op, format string, values ...any) error {
	return fmt.Errorf("ecs: "+op+": %w: "+format, append([]any{ErrDelta}, values...)...)
}
