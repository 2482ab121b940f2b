package table

import (
	"fmt"
	"slices"
	"unsafe"
)

// Values of chunks. A chunk type has one value for each chunk, in Go memory, in the metadata:
//
//	chunk               0         1         2
//	values, 8 B words | v v v   | v v v   | v v v   |      a value of up to 24 B: three words
//	changed           |    2    |    7    |    7    |      its version, among those of all types
//
// The value belongs to the chunk. Rows that come, leave or fill a gap carry none and change none,
// so the version of a chunk type is that of the value alone, not of rows as for a column. These are
// all moments at which the library sets a value, and each of them marks it:
//
//	the chunk is born, for rows that come      enter           zero
//	it goes to another table                  Metadata.MoveChunks the value goes along; a type
//	                                           that only the target has is zero
//	its rows are copied, as a chunk, to a
//	  chunk that is born for them              Metadata.Inherit   the value goes along
//	  chunk that has rows                      Metadata.Inherit   the two merge: by the type's function, or zero
//
// Where rows of a chunk move to a larger or smaller one (Metadata.Promote), the value and its
// version stay. Where the last row goes (Metadata.Cut), the value ends.

// words returns the number of words of a value. A value without bytes has one, so that its address
// lies in the list.
func (c *ChunkType) words() int { return max(1, (c.Bytes+7)/8) }

func (v *chunkValues) at(pos int) []uint64 {
	n := v.of.words()
	return v.list[pos*n : pos*n+n]
}

func (v *chunkValues) address(pos int) unsafe.Pointer {
	// Safe because a value begins there: words are aligned as any Go type without pointers, and
	// words() of them hold the value.
	return unsafe.Pointer(&v.list[pos*v.of.words()])
}

// KeepValues makes metadata without chunks keep a value per chunk for the type in a slot. Slots
// come in rising order.
func (b *Metadata) KeepValues(slot uint16, of *ChunkType) {
	own := b.ownCold()
	own.values = append(own.values, chunkValues{slot: slot, of: of})
}

// valuesIn returns the values of the type in a slot, or nil if it is no chunk type.
func (b *Metadata) valuesIn(slot uint16) *chunkValues {
	for i := range b.values {
		if b.values[i].slot == slot {
			return &b.values[i]
		}
	}
	return nil
}

// Value returns the address of a chunk's value of the chunk type in a slot. It is valid until
// chunks come or go.
func (b *Metadata) Value(slot uint16, pos int) unsafe.Pointer { return b.valuesIn(slot).address(pos) }

// Valued calls visit for each chunk type: its slot, and the address of the value of chunk 0 and the
// distance in bytes between values, for all Len chunks.
func (b *Metadata) Valued(visit func(slot uint16, first unsafe.Pointer, stride uintptr)) {
	for i := range b.values {
		if v := &b.values[i]; len(v.list) > 0 {
			visit(v.slot, v.address(0), uintptr(v.of.words())*8)
		}
	}
}

// begin marks the zero values of a chunk that was added.
func (b *Metadata) begin(pos int, version uint32) {
	for i := range b.values {
		*b.Version(b.values[i].slot, pos) = version
	}
}

// markRows is markAll for metadata with values, whose versions stay.
func (b *Metadata) markRows(pos int, version uint32) {
	changed := b.Versions(pos)
	for slot := range changed {
		if b.valuesIn(uint16(slot)) == nil {
			changed[slot] = version
		}
	}
}

// Inherit notes that rows of chunk from of other metadata have come, as a chunk, to chunk pos, and
// are all of its rows or joined those that it had. shared lists the chunk types that both tables
// have.
func (b *Metadata) Inherit(pos int, all bool, other *Metadata, from int, shared []Slots, version uint32) {
	for _, s := range shared {
		v, theirs := b.valuesIn(s.To), other.valuesIn(s.From)
		switch {
		case all:
			copy(v.at(pos), theirs.at(from))
		case v.of.Merge != nil:
			v.of.Merge(v.address(pos), theirs.address(from))
		default:
			clear(v.at(pos))
		}
		*b.Version(s.To, pos) = version
	}
}

// giveValues moves the values of the first n chunks to position at of other metadata, whose
// versions have made room.
func (b *Metadata) giveValues(n int, to *Metadata, at int, shared []Slots) {
	for i := range to.values {
		v := &to.values[i]
		words := v.of.words()
		v.list = makeGap(v.list, at*words, n*words)
		if k := slices.IndexFunc(shared, func(s Slots) bool { return s.To == v.slot }); k >= 0 {
			copy(v.list[at*words:], b.valuesIn(shared[k].From).list[:n*words])
		}
	}
	for i := range b.values {
		v := &b.values[i]
		v.list = slices.Delete(v.list, 0, n*v.of.words())
	}
}

// verifyValues checks B3.
func (b *Metadata) verifyValues(chunks int) error {
	for i := range b.values {
		v := &b.values[i]
		if len(v.list) != chunks*v.of.words() {
			return fmt.Errorf("table: B3: %d words of values in slot %d for %d chunks of %d words",
				len(v.list), v.slot, chunks, v.of.words())
		}
	}
	return nil
}

// SetValue gives a chunk a value of the chunk type in a slot. Unless it is the first that the chunk
// gets, the two merge, as where rows come as chunks. The caller sets the version.
func (b *Metadata) SetValue(slot uint16, pos int, bytes []byte, first bool) {
	v := b.valuesIn(slot)
	words := make([]uint64, v.of.words())
	// Safe because a value is at most as long as its words.
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), v.of.Bytes), bytes)
	switch {
	case first:
		copy(v.at(pos), words)
	case v.of.Merge != nil:
		v.of.Merge(v.address(pos), unsafe.Pointer(&words[0])) // Safe because the words are aligned as in the list.
	default:
		clear(v.at(pos))
	}
}
