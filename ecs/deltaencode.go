package ecs

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

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
	c := deltaCoder{out: make([]byte, deltaFrame, deltaFrame+d.size())}
	copy(c.out, deltaMagic)
	c.delta(d)
	binary.LittleEndian.PutUint32(c.out[8:], deltaFormat)
	binary.LittleEndian.PutUint64(c.out[12:], uint64(len(c.out)-deltaFrame))
	c.out = binary.LittleEndian.AppendUint32(c.out, checksum(c.out))
	if _, err := w.Write(c.out); err != nil {
		// errors.md, Errors: `ecs: EncodeDelta: ...` | The writer failed. | What it says.
		return fmt.Errorf("ecs: EncodeDelta: %w", err)
	}
	return nil
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
	all, err := io.ReadAll(io.LimitReader(r, int64(length)+4))
	if err != nil || uint64(len(all)) != length+4 {
		return nil, refuseDelta("it is cut: %d of %d bytes: %w", len(all), length+4, orEOF(err))
	}
	content, sum := all[:length], binary.LittleEndian.Uint32(all[length:])
	if now := checksum(append(frame, content...)); now != sum {
		return nil, refuseDelta("it is damaged: its checksum is %#x, not %#x", now, sum)
	}
	d := &Delta{ids: new(entity.Difference)}
	c := deltaCoder{in: content, reading: true}
	if c.delta(d); c.bad || len(c.in) > 0 {
		return nil, refuseDelta("its content ends early, or goes on")
	}
	return d, nil
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

// deltaCoder appends to out, or, if reading is set, takes from in.
type deltaCoder struct {
	out, in []byte
	reading bool
	bad     bool // in was not what was expected; all further values are zero
}

func (c *deltaCoder) fail() { c.bad, c.in = true, nil }

// word codes a number.
func (c *deltaCoder) word(p *uint64) {
	if !c.reading {
		c.out = binary.AppendUvarint(c.out, *p)
		return
	}
	v, n := binary.Uvarint(c.in)
	if n <= 0 {
		v, n = 0, 0
		c.fail()
	}
	*p, c.in = v, c.in[n:]
}

// number codes a number that is not negative; those that are read are below 2^48.
func (c *deltaCoder) number(p *int) {
	v := uint64(*p)
	c.word(&v)
	if v >= 1<<48 {
		v = 0
		c.fail()
	}
	*p = int(v)
}

// half codes a number of 32 bits.
func (c *deltaCoder) half(p *uint32) {
	v := uint64(*p)
	c.word(&v)
	if v > math.MaxUint32 {
		v = 0
		c.fail()
	}
	*p = uint32(v)
}

// bytes codes bytes. Those that are read are part of the input.
func (c *deltaCoder) bytes(p *[]byte) {
	n := len(*p)
	c.number(&n)
	switch {
	case !c.reading:
		c.out = append(c.out, *p...)
	case n > len(c.in):
		*p = nil
		c.fail()
	default:
		*p, c.in = c.in[:n:n], c.in[n:]
	}
}

func (c *deltaCoder) text(p *string) {
	b := []byte(*p)
	c.bytes(&b)
	*p = string(b)
}

// codeList codes a list. A list that is read grows as items come, so that its length costs nothing.
func codeList[T any](c *deltaCoder, list *[]T, item func(*T)) {
	n := len(*list)
	c.number(&n)
	for i := 0; i < n && !c.bad; i++ {
		if c.reading {
			*list = append(*list, *new(T))
		}
		item(&(*list)[i])
	}
}

func (c *deltaCoder) runs(r *deltaRuns) {
	c.half(&r.sum)
	c.bytes(&r.runs)
}

// ids codes entities of one tag.
func (c *deltaCoder) ids(list *[]entity.ID, tag entity.Tag) {
	last := int64(0)
	codeList(c, list, func(e *entity.ID) {
		step := int64(e.Index()) - last
		zigzag, version := uint64(step<<1^step>>63), e.Version()
		c.word(&zigzag)
		c.half(&version)
		last += int64(zigzag>>1) ^ -int64(zigzag&1)
		if c.reading {
			if uint64(last) >= entity.MaxIDs {
				last = 0
				c.fail()
			}
			*e = entity.Make(uint32(last), tag, version)
		}
	})
}
