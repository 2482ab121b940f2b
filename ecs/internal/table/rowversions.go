package table

import (
	"fmt"
	"math/bits"
	"slices"

	"quarry/asm"
)

// Versions of rows. A type may have a version for each row, besides its version in each chunk: the
// version at which the row came to the table, or its value was last written.
//
//	chunk                0         1
//	changed              7         3
//	versions of rows   2 7 2     3 1 3        4 B a row: the row's version moves with the row
//
// A row's version is never later than that of its chunk, so a chunk that is not new has no new row.
// The chunk's may be later than all of them, when the row that was written last has gone.
//
// Rows of other goroutines lie beside a row, but each row has a word of its own.

// KeepVersions makes metadata without chunks keep a version per row for the type in a slot.
func (b *Metadata) KeepVersions(slot uint16) {
	own := b.ownCold()
	own.rows, b.byRow = append(own.rows, rowVersions{slot: slot}), true
}

// RowVersions returns the versions of the rows of a chunk, of the type in a slot, and nil if the
// type has none. The slice is as long as the chunk has room, and valid until chunks come or go.
func (b *Metadata) RowVersions(slot uint16, pos int) []uint32 {
	for i := range b.rows {
		if v := &b.rows[i]; v.slot == slot {
			return v.list[pos]
		}
	}
	return nil
}

// Touch notes that the type in a slot was written in n rows of a chunk.
func (b *Metadata) Touch(slot uint16, pos, row, n int, version uint32) {
	*b.Version(slot, pos) = version
	if b.rows != nil {
		b.touchRows(slot, pos, row, n, version)
	}
}

//go:noinline
func (b *Metadata) touchRows(slot uint16, pos, row, n int, version uint32) {
	fill(b.RowVersions(slot, pos), row, n, version)
}

// fill sets the versions of n rows; list may be nil.
func fill(list []uint32, row, n int, version uint32) {
	switch {
	case list == nil:
	case n == 1:
		list[row] = version
	default:
		asm.Fill(list[row:row+n], version)
	}
}

// arriveRows notes that n rows have come to a chunk.
func (b *Metadata) arriveRows(pos, row, n int, version uint32) {
	for i := range b.rows {
		fill(b.rows[i].list[pos], row, n, version)
	}
}

// carryRows copies the versions of n rows of chunk from to n rows of chunk pos.
func (b *Metadata) carryRows(pos, row, from, fromRow, n int) {
	for i := range b.rows {
		list := b.rows[i].list
		copy(list[pos][row:row+n], list[from][fromRow:fromRow+n])
	}
}

// promoteRows moves the versions of the chunk at pos to the chunk after it, which gets the
// position.
func (b *Metadata) promoteRows(pos int) {
	for i := range b.rows {
		v := &b.rows[i]
		copy(v.list[pos+1], v.list[pos])
		b.spares.keepVersions(v.list[pos : pos+1])
		v.list = slices.Delete(v.list, pos, pos+1)
	}
}

// takeVersions returns a slice of versions for a chunk with room for room rows; its contents are
// undefined.
func (s *Spares) takeVersions(room int) []uint32 {
	spare := &s.versions[bits.Len(uint(room-1))]
	if last := len(*spare) - 1; last >= 0 {
		list := (*spare)[last][:room]
		*spare = (*spare)[:last]
		return list
	}
	return make([]uint32, room, 1<<bits.Len(uint(room-1)))
}

// keepVersions adds the versions of chunks that end.
func (s *Spares) keepVersions(chunks [][]uint32) {
	for i, list := range chunks {
		spare := &s.versions[bits.Len(uint(cap(list)-1))]
		*spare = append(*spare, list)
		chunks[i] = nil
	}
}

// addRows begins the versions of a chunk that was added, with room for room rows.
func (b *Metadata) addRows(room int) {
	for i := range b.rows {
		b.rows[i].list = append(b.rows[i].list, b.spares.takeVersions(room))
	}
}

// cutRows ends the versions of the chunks from position keep on.
func (b *Metadata) cutRows(keep int) {
	for i := range b.rows {
		v := &b.rows[i]
		b.spares.keepVersions(v.list[keep:])
		v.list = v.list[:keep]
	}
}

// giveRows ends the versions of the first n chunks, and begins versions for as many chunks of other
// metadata at a position: their rows come to another table.
func (b *Metadata) giveRows(n int, to *Metadata, at int, room func(pos int) int) {
	for i := range b.rows {
		b.spares.keepVersions(b.rows[i].list[:n])
		b.rows[i].list = slices.Delete(b.rows[i].list, 0, n)
	}
	for i := range to.rows {
		v := &to.rows[i]
		v.list = makeGap(v.list, at, n)
		for pos := at; pos < at+n; pos++ {
			v.list[pos] = to.spares.takeVersions(room(pos))
		}
	}
}

// verifyRows checks B5.
func (b *Metadata) verifyRows(chunks int, rows func(pos int) int) error {
	for i := range b.rows {
		v := &b.rows[i]
		if len(v.list) != chunks {
			return fmt.Errorf("table: B5: %d chunks have versions of rows for %d, in slot %d",
				chunks, len(v.list), v.slot)
		}
		for pos, list := range v.list {
			n := rows(pos)
			if len(list) < n {
				return fmt.Errorf("table: B5: chunk %d, slot %d: %d rows, versions of %d", pos, v.slot, n, len(list))
			}
			if row := slices.Index(list[:n], 0); row >= 0 {
				return fmt.Errorf("table: B5: chunk %d, slot %d: row %d has no version", pos, v.slot, row)
			}
		}
	}
	return nil
}
