package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxTotal bounds the sum of all sizes of a trace, so that no sum in the books overflows: live
// bytes are never more than all bytes requested.
const maxTotal = 1 << 62

// maxLine bounds a line including its end, in bytes: the line is the only part of the text that is
// held. No call needs a hundred.
const maxLine = 64 << 10

// limits bound what is read, and so the memory for reading.
type limits struct {
	text    int64 // bytes, unpacked
	lines   int   // and so operations, 16 bytes each
	live    int   // blocks at once: about 40 bytes each, twice while tables grow
	threads int   // different numbers: the same
}

// most has the limits of Read: a gigabyte of operations, and 64 bytes of text for each.
var most = limits{text: 4 << 30, lines: 1 << 26, live: 1 << 23, threads: 1 << 16}

// slots hands out the numbers of blocks. A number given back last is handed out next, so there are
// no more numbers than the greatest number of live blocks, and the generator and the readers number
// alike.
type slots struct {
	free []uint32
	n    uint32 // numbers ever handed out
}

func (s *slots) take() uint32 {
	if k := len(s.free); k > 0 {
		slot := s.free[k-1]
		s.free = s.free[:k-1]
		return slot
	}
	s.n++
	return s.n - 1
}

func (s *slots) give(slot uint32) {
	s.free = append(s.free, slot)
}

// live is how many numbers are handed out now.
func (s *slots) live() int { return int(s.n) - len(s.free) }

// builder walks over the lines of a text and counts, or gathers, the operations that the reader of
// one form finds in them.
type builder struct {
	t      *Trace
	keep   bool   // gather the operations
	file   string // for errors
	in     *bufio.Reader
	limits limits
	text   []byte // the current line, without its end, up to the next line
	no     int    // the number of the current line, from 1
	err    error  // why there is no next line, if the text has not ended
	ops    int
	slots  slots
	total  uint64            // sum of the sizes so far
	tids   map[uint64]uint16 // thread number to index in t.Threads
	tid    uint64            // the last thread number seen, with its index: most lines repeat it
	index  uint16
}

// newBuilder makes a builder for a text. It keeps operations if t has room for them.
func newBuilder(t *Trace, file string, text io.Reader, most limits) *builder {
	return &builder{t: t, keep: t.Ops != nil, file: file, in: bufio.NewReaderSize(text, maxLine), limits: most,
		tids: map[uint64]uint16{}}
}

// next moves to the next line. The last line may lack its end. When next returns false, the text
// has ended, or err is the reason why it cannot be read further.
func (b *builder) next() bool {
	text, err := b.in.ReadSlice('\n')
	if len(text) == 0 && errors.Is(err, io.EOF) {
		b.text = nil
		return false
	}
	b.no++
	b.text = text
	b.t.Bytes += int64(len(text))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		b.err = b.bad("a line of at most %d bytes", maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		b.err = err
	case b.no > b.limits.lines:
		b.err = b.beyond("%d lines: cut the recording before this one", b.limits.lines)
	}
	if b.err != nil {
		return false
	}
	if k := len(b.text); k > 0 && b.text[k-1] == '\n' {
		b.text = b.text[:k-1]
	}
	if k := len(b.text); k > 0 && b.text[k-1] == '\r' {
		b.text = b.text[:k-1]
	}
	return true
}

// bad is the error for the current line.
func (b *builder) bad(format string, args ...any) error {
	return &SyntaxError{File: b.file, Line: b.no, Want: fmt.Sprintf(format, args...), Got: quote(b.text)}
}

// beyond is the error for a limit that the current line exceeds.
func (b *builder) beyond(format string, args ...any) error {
	return fmt.Errorf("%w: %s:%d: expected at most %s", ErrLimit, b.file, b.no, fmt.Sprintf(format, args...))
}

// ended is the error for a file that stops where more is expected.
func (b *builder) ended(format string, args ...any) error {
	if b.err != nil {
		return b.err
	}
	return &SyntaxError{File: b.file, Line: b.no + 1, Want: fmt.Sprintf(format, args...), End: true}
}

// thread returns the index of a thread number.
func (b *builder) thread(tid uint64) (uint16, error) {
	if tid == b.tid && len(b.t.Threads) > 0 {
		return b.index, nil
	}
	index, ok := b.tids[tid]
	if !ok {
		if len(b.t.Threads) == b.limits.threads {
			return 0, b.beyond("%d different threads: give threads that ended before others began one number",
				b.limits.threads)
		}
		index = uint16(len(b.t.Threads))
		b.t.Threads = append(b.t.Threads, tid)
		b.tids[tid] = index
	}
	b.tid, b.index = tid, index
	return index, nil
}

// take hands out the number of a new block.
func (b *builder) take() (uint32, error) {
	if b.slots.live() == b.limits.live {
		return 0, b.beyond("%d blocks live at once: cut the recording before this line", b.limits.live)
	}
	return b.slots.take(), nil
}

// add appends an operation of the given size. Only sizes that were allocated count for the limit: a
// call that failed may have failed because of its size.
func (b *builder) add(op Op, size uint64) error {
	if e := op.Effect(); e == Get || e == Resize {
		if size > maxTotal || b.total+size > maxTotal {
			return b.bad("at most %d bytes asked for in the whole file", uint64(maxTotal))
		}
		b.total += size
	}
	b.ops++
	if b.keep {
		op.Size = int64(min(size, math.MaxInt64))
		b.t.Ops = append(b.t.Ops, op)
	}
	return nil
}

// finish fills in what is known only at the end.
func (b *builder) finish() {
	b.t.Slots = int(b.slots.n)
	if len(b.t.Threads) == 0 {
		b.t.Threads = []uint64{0}
	}
}
