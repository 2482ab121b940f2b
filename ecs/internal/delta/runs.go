package delta

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"

	"quarry/ecs/internal/world"
)

// Runs of bytes that differ. The difference of a column is kept in its encoded form:
//
//	gap, length, length bytes    gap, length, length bytes    ...
//
// A gap is counted from the end of the previous run. A gap ends a run if it has 8 bytes, or as many
// as a value of the column has, so each value that a run touches differs. The checksum covers the
// replaced bytes in order.

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

// compare adds the runs in which newer differs from older. Both begin at byte at of the column; a
// nil older stands for zeros.
func (r *runsWriter) compare(at int, older, newer []byte) {
	if older != nil && bytes.Equal(older, newer) {
		return
	}
	for len(newer) > 0 {
		n := min(len(newer), deltaBlock)
		old := deltaZeros[:n]
		if older != nil {
			old, older = older[:n], older[n:]
		}
		if !bytes.Equal(old, newer[:n]) {
			r.compareBlock(at, old, newer[:n])
		}
		at, newer = at+n, newer[n:]
	}
}

func (r *runsWriter) compareBlock(at int, older, newer []byte) {
	for i := 0; i < len(newer); {
		i += equalBytes(older[i:], newer[i:])
		if i == len(newer) {
			return
		}
		end := i + 1
		for end < len(newer) {
			if r.step == 8 {
				for end+8 <= len(newer) &&
					binary.LittleEndian.Uint64(older[end:]) != binary.LittleEndian.Uint64(newer[end:]) {
					end += 8
				}
			} else {
				for end < len(newer) && older[end] != newer[end] {
					end++
				}
			}
			same := equalBytes(older[end:], newer[end:])
			if same >= r.least || end+same == len(newer) {
				break
			}
			end = min(end+same+r.step, len(newer))
		}
		for older[end-1] == newer[end-1] {
			end--
		}
		r.add(at+i, older[i:end], newer[i:end])
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
func (r *runsWriter) add(at int, older, newer []byte) {
	r.sum = crc32.Update(r.sum, world.Castagnoli, older)
	if more := len(newer) + 2*binary.MaxVarintLen64; cap(r.runs)-len(r.runs) < more {
		r.runs = slices.Grow(r.runs, more+len(r.runs)) // twice: append would copy large slices more often
	}
	r.runs = binary.AppendUvarint(r.runs, uint64(at-r.end))
	r.runs = binary.AppendUvarint(r.runs, uint64(len(newer)))
	r.runs = append(r.runs, newer...)
	r.end = at + len(newer)
}

// each calls visit with each run. At the first that is malformed or exceeds size bytes it stops and
// returns false.
func (r *deltaRuns) each(size int, visit func(at int, newer []byte)) bool {
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

// replaces calls visit, if not nil, with each run. It reports whether the runs lie within old and
// their checksum matches the bytes of old that they replace. visit may write old.
func (r *deltaRuns) replaces(old []byte, visit func(at int, newer []byte)) bool {
	sum := uint32(0)
	return r.each(len(old), func(at int, newer []byte) {
		sum = crc32.Update(sum, world.Castagnoli, old[at:at+len(newer)])
		if visit != nil {
			visit(at, newer)
		}
	}) && sum == r.sum
}

// rowSpans calls visit with the spans of rows that runs touch, in a column of values of size bytes.
func (r *deltaRuns) rowSpans(size, rows int, visit func(first, n int)) {
	first, end := 0, 0
	r.each(size*rows, func(at int, newer []byte) {
		from, to := at/size, (at+len(newer)-1)/size+1
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

// bit compares the bits of a row. Rows come in ascending order.
func (f *flipsWriter) bit(row int, older, newer bool) {
	switch {
	case older == newer:
	case f.n > 0 && f.at+f.n == row && f.on == newer:
		f.n++
	default:
		f.flush()
		f.at, f.n, f.on = row, 1, newer
	}
}

func (f *flipsWriter) flush() {
	if f.n > 0 {
		f.add(f.at, f.n, f.on)
	}
	f.n = 0
}
