package delta

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/world"
)

// The format of deltas. All numbers of the frame are little-endian:
//
//	"quarry\xce\x94"   8 B
//	format             4 B    2; 1 is the same without the roster, and is read too
//	length             8 B    of the content
//	content                   varints, texts and bytes, as deltaCoder.delta says
//	checksum           4 B    Castagnoli, of all bytes before it
//
// Reader and writer are one function for each part, so that they cannot differ.

const (
	deltaMagic  = "quarry\xce\x94"
	deltaFormat = 2
	DeltaFrame  = 8 + 4 + 8 // bytes before the content
)

// Encode writes the encoding of a delta. The error is w's. A small delta is written at once.
func (d *Delta) Encode(w io.Writer) error {
	c := deltaCoder{Coder: codec.Coder{Out: make([]byte, DeltaFrame, 4096)}, splits: true}
	c.delta(d)
	c.roster(d)
	length := len(c.Out) - DeltaFrame
	for _, p := range c.apart {
		length += len(p.bytes)
	}
	putFrame(c.Out, length)
	sum, done := uint32(0), 0
	for _, p := range c.apart {
		for _, b := range [...][]byte{c.Out[done:p.at], p.bytes} {
			sum = crc32.Update(sum, world.Castagnoli, b)
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		done = p.at
	}
	sum = crc32.Update(sum, world.Castagnoli, c.Out[done:])
	_, err := w.Write(binary.LittleEndian.AppendUint32(c.Out, sum)[done:])
	return err
}

// putFrame writes the frame of a content of so many bytes.
func putFrame(frame []byte, length int) {
	copy(frame, deltaMagic)
	binary.LittleEndian.PutUint32(frame[8:], deltaFormat)
	binary.LittleEndian.PutUint64(frame[12:], uint64(length))
}

// AppendTo appends the encoding of a delta.
func (d *Delta) AppendTo(dst []byte) []byte {
	c := deltaCoder{Coder: codec.Coder{Out: append(dst, make([]byte, DeltaFrame)...)}}
	start := len(dst)
	c.delta(d)
	c.roster(d)
	frame := c.Out[start:]
	putFrame(frame, len(frame)-DeltaFrame)
	return binary.LittleEndian.AppendUint32(c.Out, world.Checksum(frame))
}

// Size returns an estimate of the encoded bytes, to allocate once.
func (d *Delta) Size() int {
	n := 4096
	for i := range d.Tables {
		t := &d.Tables[i]
		n += 16*len(t.rows) + 12*len(t.ids) + 128
		for k := range t.columns {
			n += len(t.columns[k].runs) + 16
		}
		for k := range t.buffers {
			n += len(t.buffers[k].edits) + 16
		}
	}
	for i := range d.Sparse {
		n += len(d.Sparse[i].ids.runs) + len(d.Sparse[i].values.runs) + 32
	}
	return n + 16*len(d.IDs.Steps)
}
