package table

import (
	"slices"
)

// The metadata of a table at one moment, for snapshots. save copies it to metadata without a table;
// restore and restoreIn copy it back.

// save copies the metadata to another, without bounds and spares, and reuses its memory.
func (b *Metadata) save(to *Metadata) {
	to.types, to.gone, to.byRow, to.toggling, to.spares = b.types, b.gone, b.byRow, b.toggling, nil
	to.changed, to.chunkVersions = append(to.changed[:0], b.changed...), append(to.chunkVersions[:0],
		b.chunkVersions...)
	to.resetLast()
	if to.enabled = resized(to.enabled, len(b.enabled)); len(b.toggling) > 0 {
		for _, slot := range b.toggling {
			to.enabled[slot] = resized(to.enabled[slot], len(b.enabled[slot]))
			for pos, bits := range b.enabled[slot] {
				to.enabled[slot][pos] = bits.CopyTo(to.enabled[slot][pos])
			}
		}
	}
	if b.coldMetadata == &noCold {
		to.coldMetadata = &noCold
		return
	}
	if to.coldMetadata == nil || to.coldMetadata == &noCold {
		to.coldMetadata = new(coldMetadata)
	}
	own := to.coldMetadata
	own.values = resized(own.values, len(b.values))
	for i := range b.values {
		v := &own.values[i]
		v.slot, v.of, v.list = b.values[i].slot, b.values[i].of, append(v.list[:0], b.values[i].list...)
	}
	own.rows = resized(own.rows, len(b.rows))
	for i := range b.rows {
		v := &own.rows[i]
		v.slot, v.list = b.rows[i].slot, resized(v.list, len(b.rows[i].list))
		for pos, list := range b.rows[i].list {
			v.list[pos] = append(v.list[pos][:0], list...)
		}
	}
}

// resized returns a slice of n elements, in the memory of s if that has room; the elements of s
// stay.
func resized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// restore fills metadata without chunks from a copy. The chunk at pos has room for room(pos) rows
// and has rows(pos). All types, and the order of rows, are marked changed at a version.
func (b *Metadata) restore(from *Metadata, room, rows func(pos int) int, version uint32) {
	for pos := range from.chunkVersions {
		b.Add(room(pos), from.at(pos))
		for _, slot := range b.toggling {
			b.Bits(slot, pos).CopyAll(from.Bits(slot, pos))
		}
		for i := range b.values {
			copy(b.values[i].at(pos), from.values[i].at(pos))
		}
		b.markAll(pos, 0, rows(pos), version)
		b.begin(pos, version)
	}
}

// restoreIn restores the enable bits and the chunk values of a chunk that has the rows of the copy.
// Types that differed are marked changed at a version.
func (b *Metadata) restoreIn(pos int, from *Metadata, rows int, version uint32) {
	for _, slot := range b.toggling {
		now, old := b.Bits(slot, pos), from.Bits(slot, pos)
		if !slices.Equal(now.Words(), old.Words()) {
			now.CopyOver(old)
			b.Touch(slot, pos, 0, rows, version)
		}
	}
	for i := range b.values {
		if now, old := b.values[i].at(pos), from.values[i].at(pos); !slices.Equal(now, old) {
			copy(now, old)
			*b.Version(b.values[i].slot, pos) = version
		}
	}
}

// differs reports whether the enable bits or the chunk values of a chunk differ from those in other
// metadata of the same types.
func (b *Metadata) differs(other *Metadata, pos int) bool {
	for _, slot := range b.toggling {
		if !slices.Equal(b.Bits(slot, pos).Words(), other.Bits(slot, pos).Words()) {
			return true
		}
	}
	for i := range b.values {
		if !slices.Equal(b.values[i].at(pos), other.values[i].at(pos)) {
			return true
		}
	}
	return false
}
