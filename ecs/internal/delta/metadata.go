package delta

import (
	"bytes"
	"slices"
	"unsafe"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
	"quarry/internal/store"
)

// Comparison of enable bits and chunk values.

// metadata compares the enable bits and the values of chunk types of a table.
func (x *differ) metadata(t *deltaTable) {
	for _, slot := range t.a.Table.Metadata.Toggling() {
		id := t.a.Table.Types[slot]
		var w flipsWriter
		x.eachRun(t.a, func(at, n, pos int, newer store.Row, from *table.Table, fromPos int, older store.Row) {
			w.compare(at, n, rowBits(&t.a.Table.Table, id, pos, newer.Row), rowBits(from, id, fromPos, older.Row))
		})
		if w.flush(); len(w.runs) > 0 {
			t.flips = append(t.flips, deltaBits{x.number(id), w.deltaFlips})
		}
	}
	for _, id := range t.a.Table.Types {
		of := x.Newer.Types.List[id]
		if of.Kind != world.KindChunk {
			continue
		}
		var old, now chunkValues
		now.read(&t.a.Table.Table, id, of.Chunk.Bytes)
		if t.old != nil {
			old.read(&t.old.Table.Table, id, of.Chunk.Bytes)
		}
		if !slices.Equal(old.starts, now.starts) || !bytes.Equal(old.values, now.values) {
			t.chunks = append(t.chunks, deltaChunks{x.number(id), now.rows, now.values})
		}
	}
}

// bitsOf is enable bits from a row on. In the zero value all are set.
type bitsOf struct {
	words []uint64 // nil: all are set
	row   int
}

// rowBits returns the enable bits of a type in a chunk, from a row on; all are set if the table,
// which may be nil, lacks the type.
func rowBits(t *table.Table, id world.TypeID, pos, row int) bitsOf {
	if t == nil || !t.Sig.Has(id) {
		return bitsOf{}
	}
	return bitsOf{t.Metadata.Bits(t.Places[id].Slot(), pos).Words(), row}
}

func (b *bitsOf) has(i int) bool {
	i += b.row
	return b.words == nil || b.words[i/64]>>(i%64)&1 != 0
}

// compare compares n bits and records the rows, from at on, where they differ.
func (w *flipsWriter) compare(at, n int, newer, older bitsOf) {
	for i := 0; i < n; {
		if a, b := newer.row+i, older.row+i; a%64 == 0 && n-i >= 64 && newer.words != nil { // most words are equal
			old := ^uint64(0)
			if older.words != nil && b%64 == 0 {
				old = older.words[b/64]
			}
			if (older.words == nil || b%64 == 0) && newer.words[a/64] == old {
				i += 64
				continue
			}
		}
		w.bit(at+i, older.has(i), newer.has(i))
		i++
	}
}

// chunkValues holds the values of a chunk type in a table.
type chunkValues struct {
	starts, rows []int
	values       []byte
}

func (l *chunkValues) read(t *table.Table, id world.TypeID, size int) {
	for pos, c := range t.Store.Chunks() {
		l.starts = append(l.starts, c.Start)
		l.rows = append(l.rows, t.Store.RowsOf(pos))
		// Safe because a value of size bytes lies there.
		l.values = append(l.values, unsafe.Slice((*byte)(t.Metadata.Value(t.Places[id].Slot(), pos)), size)...)
	}
}
