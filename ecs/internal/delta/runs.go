package delta

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"

	"quarry/ecs/internal/world"
)

// Runs of bytes that differ. What differs in a column is kept as it is encoded:
//
//	gap, length, length bytes    gap, length, length bytes    ...
//
// A gap is counted from the end of the run before. Gaps of fewer than 8 bytes do not end a run,
// unless a value fits them: each value that a run touches differs. The checksum is of the bytes
// that runs replace, one after the other.

// deltaRuns is the runs of one column, or of the values of a sparse type.
type deltaRuns struct {
	sum  uint32 // of the old bytes
	runs []byte
}

// runsWriter makes runs.
type runsWriter struct {
	deltaRuns
	end   int // of the last run
	least int // gap that ends a run
	step  int // bytes that are passed at once: 8 where a value is longer than the two gaps beside a word that differs
}

// writerOf returns a writer of runs of values of size bytes.
func writerOf(size int) runsWriter {
	w := runsWriter{least: min(size, 8), step: 1}
	if size > 2*7 {
		w.step = 8
	}
	return w
}

// deltaBlock is how many bytes are compared at once before runs are looked for.
const deltaBlock = 512

var deltaZeros [deltaBlock]byte

// compare adds the runs in which is differs from was. Both begin at byte at of the column; a nil
// was stands for zeros.
func (r *runsWriter) compare(at int, was, is []byte) {
	if was != nil && bytes.Equal(was, is) {
		return
	}
	for len(is) > 0 {
		n := min(len(is), deltaBlock)
		old := deltaZeros[:n]
		if was != nil {
			old, was = was[:n], was[n:]
		}
		if !bytes.Equal(old, is[:n]) {
			r.compareBlock(at, old, is[:n])
		}
		at, is = at+n, is[n:]
	}
}

func (r *runsWriter) compareBlock(at int, was, is []byte) {
	for i := 0; i < len(is); {
		i += equalBytes(was[i:], is[i:])
		if i == len(is) {
			return
		}
		end := i + 1
		for end < len(is) {
			if r.step == 8 {
				for end+8 <= len(is) && binary.LittleEndian.Uint64(was[end:]) != binary.LittleEndian.Uint64(is[end:]) {
					end += 8
				}
			} else {
				for end < len(is) && was[end] != is[end] {
					end++
				}
			}
			same := equalBytes(was[end:], is[end:])
			if same >= r.least || end+same == len(is) {
				break
			}
			end = min(end+same+r.step, len(is))
		}
		for was[end-1] == is[end-1] {
			end--
		}
		r.add(at+i, was[i:end], is[i:end])
		i = end
	}
}

// equalBytes returns the number of equal bytes at the beginning of two slices of one length.
func equalBytes(a, b []byte) (n int) {
	for ; n+8 <= len(a); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// add adds a run of len(is) bytes at byte at.
func (r *runsWriter) add(at int, was, is []byte) {
	r.sum = crc32.Update(r.sum, world.Castagnoli, was)
	if more := len(is) + 2*binary.MaxVarintLen64; cap(r.runs)-len(r.runs) < more {
		r.runs = slices.Grow(r.runs, more+len(r.runs)) // twice: append would copy large slices more often
	}
	r.runs = binary.AppendUvarint(r.runs, uint64(at-r.end))
	r.runs = binary.AppendUvarint(r.runs, uint64(len(is)))
	r.runs = append(r.runs, is...)
	r.end = at + len(is)
}

// each calls visit with each run. It returns false, after the runs before, if the encoding is not
// one of runs within size bytes.
func (r *deltaRuns) each(size int, visit func(at int, is []byte)) bool {
	at := 0
	for rest := r.runs; len(rest) > 0; {
		gap, n := binary.Uvarint(rest)
		if n <= 0 || gap > uint64(size-at) {
			return false
		}
		length, m := binary.Uvarint(rest[n:])
		if at += int(gap); m <= 0 || length == 0 || length > uint64(size-at) || length > uint64(len(rest)-n-m) {
			return false
		}
		rest = rest[n+m:]
		visit(at, rest[:length])
		at, rest = at+int(length), rest[length:]
	}
	return true
}

// replaces calls visit, unless it is nil, with each run, and reports whether the runs are within
// old and replace the bytes that they replaced when they were made. visit may write old.
func (r *deltaRuns) replaces(old []byte, visit func(at int, is []byte)) bool {
	sum := uint32(0)
	return r.each(len(old), func(at int, is []byte) {
		sum = crc32.Update(sum, world.Castagnoli, old[at:at+len(is)])
		if visit != nil {
			visit(at, is)
		}
	}) && sum == r.sum
}

// rowSpans calls visit with the rows in which runs of a column of values of size bytes lie; rows
// that follow one another, or are the same, come as one.
func (r *deltaRuns) rowSpans(size, rows int, visit func(first, n int)) {
	first, end := 0, 0
	r.each(size*rows, func(at int, is []byte) {
		from, to := at/size, (at+len(is)-1)/size+1
		if from > end && end > 0 {
			visit(first, end-first)
			first = from
		} else if end == 0 {
			first = from
		}
		end = to
	})
	if end > 0 {
		visit(first, end-first)
	}
}

// deltaFlips is rows, or entries, whose enable bits differ: runs of gap and length*2, plus 1 where
// the bits are set now.
type deltaFlips struct {
	runs []byte
	end  int // of the last run, while runs are made
}

// add adds n rows whose bits are on now.
func (f *deltaFlips) add(at, n int, on bool) {
	f.runs = binary.AppendUvarint(f.runs, uint64(at-f.end))
	length := uint64(n) * 2
	if on {
		length++
	}
	f.runs = binary.AppendUvarint(f.runs, length)
	f.end = at + n
}

// each calls visit with each run, and returns false as deltaRuns.each does.
func (f *deltaFlips) each(rows int, visit func(at, n int, on bool)) bool {
	at := 0
	for rest := f.runs; len(rest) > 0; {
		gap, n := binary.Uvarint(rest)
		if n <= 0 || gap > uint64(rows-at) {
			return false
		}
		length, m := binary.Uvarint(rest[n:])
		if at += int(gap); m <= 0 || length < 2 || length/2 > uint64(rows-at) {
			return false
		}
		rest = rest[n+m:]
		visit(at, int(length/2), length&1 != 0)
		at += int(length / 2)
	}
	return true
}

// flipsWriter makes runs of single bits.
type flipsWriter struct {
	deltaFlips
	at, n int // of the run that is being made
	on    bool
}

// bit notes the bit of a row, which comes after all before.
func (f *flipsWriter) bit(row int, was, is bool) {
	switch {
	case was == is:
	case f.n > 0 && f.at+f.n == row && f.on == is:
		f.n++
	default:
		f.flush()
		f.at, f.n, f.on = row, 1, is
	}
}

func (f *flipsWriter) flush() {
	if f.n > 0 {
		f.add(f.at, f.n, f.on)
	}
	f.n = 0
}
