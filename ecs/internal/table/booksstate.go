package table

import (
	"slices"
)

// Books at one moment. Save copies them to books that hold nothing of the table; Restore puts a
// copy back.

// save makes to a copy of the books, bounds and spares left out. It uses the memory of to.
func (b *Books) save(to *Books) {
	to.types, to.gone, to.byRow, to.toggling, to.spares = b.types, b.gone, b.byRow, b.toggling, nil
	to.changed, to.stamps = append(to.changed[:0], b.changed...), append(to.stamps[:0], b.stamps...)
	to.resetLast()
	if to.enabled = resized(to.enabled, len(b.enabled)); len(b.toggling) > 0 {
		for _, slot := range b.toggling {
			to.enabled[slot] = resized(to.enabled[slot], len(b.enabled[slot]))
			for pos, bits := range b.enabled[slot] {
				to.enabled[slot][pos] = bits.CopyTo(to.enabled[slot][pos])
			}
		}
	}
	if b.rare == &none {
		to.rare = &none
		return
	}
	if to.rare == nil || to.rare == &none {
		to.rare = new(rare)
	}
	own := to.rare
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

// resized returns a slice of n elements, in the memory of s if it is enough; elements that s had
// before stay.
func resized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}

// restore fills books without chunks with those of a copy, whose chunks have room(pos) rows, of
// which rows(pos) are there. All types are marked changed at a version, and the order.
func (b *Books) restore(from *Books, room, rows func(pos int) int, version uint32) {
	for pos := range from.stamps {
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

// restoreIn restores the books of a chunk that has the rows of the copy: bits and the values of
// chunk types. Types that differed are marked changed at a version.
func (b *Books) restoreIn(pos int, from *Books, rows int, version uint32) {
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

// differs reports whether the bits or the values of chunk types of a chunk differ in other books of
// the same types.
func (b *Books) differs(other *Books, pos int) bool {
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
