package delta

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Buffers in a delta. An edit counts the equal elements at both ends of a buffer and replaces those
// between:
//
//	gap in rows, elements kept before, new elements, elements kept after, bytes of the new elements
//
// The checksum covers all old elements of these buffers, kept ones too.

// bufferEdit is the difference of one row's buffer.
type bufferEdit struct {
	row          int
	before, tail int    // elements that are kept at the beginning and at the end
	n            int    // elements between
	bytes        []byte // of these
}

// length returns the number of elements that the buffer will have.
func (e *bufferEdit) length() int { return e.before + e.n + e.tail }

// editsWriter makes the edits of a column.
type editsWriter struct {
	edits []byte
	sum   uint32
	end   int // one more than the last row
}

// compare compares the buffer of a row, whose elements are size bytes long, and records an edit if
// it differs.
func (w *editsWriter) compare(row, size int, older, newer *value.Header, old, now *value.Spill, k *value.Shape) {
	n, before := newer.Len(), 0
	var empty value.Header
	if older == nil {
		older = &empty
	}
	a, b := old.Bytes(older, k, 0, older.Len()), now.Bytes(newer, k, 0, n)
	if older.Len() == n && bytes.Equal(a, b) {
		return
	}
	least := min(older.Len(), n)
	tail := least
	if size > 0 {
		before = equalBytes(a[:least*size], b[:least*size]) / size
		for tail = 0; tail < least-before &&
			bytes.Equal(a[len(a)-(tail+1)*size:len(a)-tail*size], b[len(b)-(tail+1)*size:len(b)-tail*size]); tail++ {
		}
	}
	w.sum = crc32.Update(w.sum, world.Castagnoli, a)
	for _, v := range [...]int{row - w.end, before, n - before - tail, tail} {
		w.edits = binary.AppendUvarint(w.edits, uint64(v))
	}
	w.edits = append(w.edits, b[before*size:(n-tail)*size]...)
	w.end = row + 1
}

// each calls visit with each edit. At the first that is malformed or beyond rows it stops and
// returns false.
func (b *deltaBuffers) each(rows, size int, visit func(bufferEdit)) bool {
	end := 0
	for rest := b.edits; len(rest) > 0; {
		var v [4]int
		for i := range v {
			x, n := binary.Uvarint(rest)
			if n <= 0 || x > value.MaxLen {
				return false
			}
			v[i], rest = int(x), rest[n:]
		}
		e := bufferEdit{row: end + v[0], before: v[1], n: v[2], tail: v[3]}
		if e.row >= rows || e.length() > value.MaxLen || size > 0 && e.n > len(rest)/size {
			return false
		}
		e.bytes, rest = rest[:e.n*size], rest[e.n*size:]
		end = e.row + 1
		visit(e)
	}
	return true
}
