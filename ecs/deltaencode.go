package ecs

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/entity"
)

// The format of deltas. All numbers of the frame are little-endian:
//
//	"quarry\xce\x94"   8 B
//	format             4 B    1
//	length             8 B    of the content
//	content                   varints, texts and bytes, as deltaCoder.delta says
//	checksum           4 B    Castagnoli, of all before
//
// Reader and writer are one function for each part, so that they cannot differ.

const (
	deltaMagic  = "quarry\xce\x94"
	deltaFormat = 1
	deltaFrame  = 8 + 4 + 8 // bytes before the content
)

// EncodeDelta writes a delta for World.ApplyDelta. The error is w's. Cost: proportional to the
// delta.
func EncodeDelta(w io.Writer, d *Delta) error {
	if d == nil || d.ids == nil {
		panic("ecs: EncodeDelta: the delta is nil or the zero value; deltas come from Diff")
	}
	if w == nil {
		panic("ecs: EncodeDelta: the writer is nil")
	}
	if _, err := w.Write(d.appendTo(make([]byte, 0, deltaFrame+d.size()))); err != nil {
		// errors.md, Errors: `ecs: EncodeDelta: ...` | The writer failed. | What it says.
		return fmt.Errorf("ecs: EncodeDelta: %w", err)
	}
	return nil
}

// appendTo appends the encoding of a delta.
func (d *Delta) appendTo(dst []byte) []byte {
	c := deltaCoder{codec.Coder{Out: append(dst, make([]byte, deltaFrame)...)}}
	start := len(dst)
	copy(c.Out[start:], deltaMagic)
	c.delta(d)
	frame := c.Out[start:]
	binary.LittleEndian.PutUint32(frame[8:], deltaFormat)
	binary.LittleEndian.PutUint64(frame[12:], uint64(len(frame)-deltaFrame))
	return binary.LittleEndian.AppendUint32(c.Out, checksum(frame))
}

// size returns about the bytes of the encoding, so that it is not copied while it grows.
func (d *Delta) size() int {
	n := 4096
	for i := range d.tables {
		t := &d.tables[i]
		n += 16*len(t.rows) + 12*len(t.ids) + 128
		for k := range t.columns {
			n += len(t.columns[k].runs) + 16
		}
		for k := range t.buffers {
			n += len(t.buffers[k].edits) + 16
		}
	}
	for i := range d.sparse {
		n += len(d.sparse[i].ids.runs) + len(d.sparse[i].values.runs) + 32
	}
	return n + 16*len(d.ids.Steps)
}

// readDelta reads one delta, and nothing behind it. It takes memory as bytes arrive, whatever
// length the frame has.
func readDelta(r io.Reader) (*Delta, error) {
	frame := make([]byte, deltaFrame)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, refuseDelta("it is cut: %w", err)
	}
	if string(frame[:8]) != deltaMagic {
		return nil, refuseDelta("it begins with %q", frame[:8])
	}
	if format := binary.LittleEndian.Uint32(frame[8:]); format != deltaFormat {
		return nil, refuseDelta("its format is %d, this is a program for format %d", format, deltaFormat)
	}
	length := binary.LittleEndian.Uint64(frame[12:])
	if length > math.MaxInt64-4 {
		return nil, refuseDelta("its length is %d", length)
	}
	all, err := readUpTo(r, int64(length)+4)
	if err != nil || uint64(len(all)) != length+4 {
		return nil, refuseDelta("it is cut: %d of %d bytes: %w", len(all), length+4, orEOF(err))
	}
	content, sum := all[:length], binary.LittleEndian.Uint32(all[length:])
	if now := crc32.Update(checksum(frame), castagnoli, content); now != sum {
		return nil, refuseDelta("it is damaged: its checksum is %#x, not %#x", now, sum)
	}
	d := &Delta{ids: new(entity.Difference)}
	c := deltaCoder{codec.Coder{In: content, Reading: true}}
	if c.delta(d); !c.Ended() {
		return nil, refuseDelta("its content ends early, or goes on")
	}
	return d, nil
}

// readUpTo reads n bytes, or as many as there are. Where the reader says that it has them, as a
// bytes.Reader does, memory is taken at once, else as bytes arrive.
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
func refuseDelta(format string, values ...any) error {
	return fmt.Errorf("ecs: World.ApplyDelta: %w: "+format, append([]any{ErrDelta}, values...)...)
}

// deltaCoder codes the parts of a delta.
type deltaCoder struct{ codec.Coder }

func (c *deltaCoder) runs(r *deltaRuns) {
	c.Half(&r.sum)
	c.Bytes(&r.runs)
}

// ids codes entities of one tag.
func (c *deltaCoder) ids(list *[]entity.ID, tag entity.Tag) {
	last := int64(0)
	codec.List(&c.Coder, list, func(e *entity.ID) {
		step := int64(e.Index()) - last
		zigzag, version := uint64(step<<1^step>>63), e.Version()
		c.Word(&zigzag)
		c.Half(&version)
		last += int64(zigzag>>1) ^ -int64(zigzag&1)
		if c.Reading {
			if uint64(last) >= entity.MaxIDs {
				last = 0
				c.Fail()
			}
			*e = entity.Make(uint32(last), tag, version)
		}
	})
}
