package trace

import (
	"bytes"
	"fmt"
	"math"
)

// maxTotal bounds the sum of all sizes of a trace, so that no sum of the books
// overflows: what is live is never more than what was asked for in all.
const maxTotal = 1 << 62

// maxThreads bounds the different thread numbers of a trace.
const maxThreads = 1 << 20

// slots hands out the numbers of blocks. The last one given back is the next
// one handed out, so the numbers stay as few as the greatest number of live
// blocks, and the generator and the readers number alike.
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

// builder walks over the lines of a text and gathers the operations that a
// reader of one form finds in them.
type builder struct {
	t     *Trace
	file  string // for errors
	data  []byte // what was not walked over yet
	text  []byte // the current line, without its end
	no    int    // the number of the current line, from 1
	slots slots
	total uint64            // sum of the sizes so far
	tids  map[uint64]uint32 // thread number to index in t.Threads
	tid   uint64            // the last thread number seen, and its index: most lines repeat it
	index uint32
}

func newBuilder(t *Trace, file string, text []byte) *builder {
	// No operation takes less than the four bytes of "f 1" and its end.
	lines := min(bytes.Count(text, []byte{'\n'}), len(text)/4) + 1
	t.Ops = make([]Op, 0, lines)
	return &builder{t: t, file: file, data: text, tids: map[uint64]uint32{}}
}

// next moves to the next line. The last line may lack its end.
func (b *builder) next() bool {
	if len(b.data) == 0 {
		return false
	}
	n := bytes.IndexByte(b.data, '\n')
	if n < 0 {
		b.text, b.data = b.data, nil
	} else {
		b.text, b.data = b.data[:n], b.data[n+1:]
	}
	if k := len(b.text); k > 0 && b.text[k-1] == '\r' {
		b.text = b.text[:k-1]
	}
	b.no++
	return true
}

// bad is the error for the current line.
func (b *builder) bad(format string, args ...any) error {
	return &SyntaxError{File: b.file, Line: b.no, Want: fmt.Sprintf(format, args...), Got: quote(b.text)}
}

// ended is the error for a file that stops where more is expected.
func (b *builder) ended(format string, args ...any) error {
	return &SyntaxError{File: b.file, Line: b.no + 1, Want: fmt.Sprintf(format, args...), End: true}
}

// thread returns the index of a thread number.
func (b *builder) thread(tid uint64) (uint32, error) {
	if tid == b.tid && len(b.t.Threads) > 0 {
		return b.index, nil
	}
	index, ok := b.tids[tid]
	if !ok {
		if len(b.t.Threads) == maxThreads {
			return 0, b.bad("at most %d different threads", maxThreads)
		}
		index = uint32(len(b.t.Threads))
		b.t.Threads = append(b.t.Threads, tid)
		b.tids[tid] = index
	}
	b.tid, b.index = tid, index
	return index, nil
}

// add appends an operation of the given size. Only sizes that were got count
// for the limit: a call that failed may have failed because of its size.
func (b *builder) add(op Op, size uint64) error {
	if op.Effect == Get || op.Effect == Resize {
		if size > maxTotal || b.total+size > maxTotal {
			return b.bad("at most %d bytes asked for in the whole file", uint64(maxTotal))
		}
		b.total += size
	}
	op.Size = int64(min(size, math.MaxInt64))
	b.t.Ops = append(b.t.Ops, op)
	return nil
}

// finish fills what is known at the end.
func (b *builder) finish() {
	b.t.Slots = int(b.slots.n)
	if len(b.t.Threads) == 0 {
		b.t.Threads = []uint64{0}
	}
}
