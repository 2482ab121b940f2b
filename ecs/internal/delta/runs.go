package delta

import (
	"encoding/binary"
	"math/bits"

	"quarry/asm"
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
	runs  []byte
	end   int // of the last run
	least int // gap that ends a run
	total int // bytes of the column
	sum   checksum
}

// writerOf returns a writer of runs of a column of n values of size bytes, in memory that it may
// use.
func writerOf(size, n int, memory []byte) *runsWriter {
	return &runsWriter{runs: memory, least: min(size, 8), total: size * n}
}

// done returns the runs.
func (r *runsWriter) done() deltaRuns { return deltaRuns{r.sum.end(), r.runs} }

// deltaBlock is how many bytes are compared at once before runs are looked for.
const deltaBlock = 4096

var deltaZeros [deltaBlock]byte

// compare adds the runs in which newer differs from older. Both begin at byte at of the column; a
// nil older stands for zeros.
func (r *runsWriter) compare(at int, older, newer []byte) {
	var differ [deltaBlock / 64]uint64
	for len(newer) > 0 {
		n := min(len(newer), deltaBlock)
		old := deltaZeros[:n]
		if older != nil {
			old, older = older[:n], older[n:]
		}
		if asm.NotEqual(differ[:], newer[:n], old) {
			r.addBlock(at, differ[:(n+63)/64], old, newer[:n])
		}
		at, newer = at+n, newer[n:]
	}
}

// addBlock adds the runs of a block, of which differ has the bytes that differ.
func (r *runsWriter) addBlock(at int, differ []uint64, older, newer []byte) {
	start, end := 0, -1 // of the run; end is -1 before the first
	for w, word := range differ {
		for word != 0 {
			first := bits.TrailingZeros64(word)
			n := bits.TrailingZeros64(^(word >> first)) // bytes in a row that differ
			word &^= (1<<n - 1) << first
			if first += 64 * w; end >= 0 && first-end >= r.least {
				r.add(at+start, older[start:end], newer[start:end])
				end = -1
			}
			if end < 0 {
				start = first
			}
			end = first + n
		}
	}
	r.add(at+start, older[start:end], newer[start:end])
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

// add adds a run of len(newer) bytes at byte at.
func (r *runsWriter) add(at int, older, newer []byte) {
	r.sum.add(older)
	if more := len(newer) + 2*binary.MaxVarintLen64; cap(r.runs)-len(r.runs) < more {
		r.grow(at, more)
	}
	r.runs = binary.AppendUvarint(r.runs, uint64(at-r.end))
	r.runs = binary.AppendUvarint(r.runs, uint64(len(newer)))
	r.runs = append(r.runs, newer...)
	r.end = at + len(newer)
}

// grow makes room for more bytes, and for what the rest of the column will need if it is like the
// bytes before at: a large slice that grows by halves would be copied several times.
func (r *runsWriter) grow(at, more int) {
	n := len(r.runs) + more
	like := int(float64(n) * float64(r.total) / float64(at+more) * 1.1)
	r.runs = append(make([]byte, 0, n+max(n/2, min(like, 16*n)-n, 256)), r.runs...)
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
	var sum checksum
	return r.each(len(old), func(at int, newer []byte) {
		sum.add(old[at : at+len(newer)])
		if visit != nil {
			visit(at, newer)
		}
	}) && sum.end() == r.sum
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
