package table

import "slices"

// What happens to the facts of a chunk: the chunk comes, rows come to it or fill its gaps, its rows
// move to another chunk, it ends or goes to another table. Facts with a file of their own have a
// part in each of these that they are in: bits.go, chunkvalues.go, rowversions.go, bounds.go.

// Add appends the metadata of a chunk with room for room rows, whose row 0 is at at.
func (b *Metadata) Add(room int, at Location) {
	b.chunkVersions = append(b.chunkVersions, chunkVersions{at: at})
	b.resetLast()
	b.changed = makeGap(b.changed, len(b.changed), b.types)
	for _, slot := range b.toggling {
		b.enabled[slot] = append(b.enabled[slot], b.spares.take(room, at))
	}
	for i := range b.values {
		v := &b.values[i]
		v.list = makeGap(v.list, len(v.list), v.of.words())
	}
	b.addRows(room)
	b.moreBounds(len(b.chunkVersions)-1, 1)
}

// Cut ends the metadata of the chunks starting with position keep, whose rows have gone.
func (b *Metadata) Cut(keep int) {
	b.cutVersions(keep)
	for _, slot := range b.toggling {
		b.spares.keep(b.enabled[slot][keep:])
		b.enabled[slot] = b.enabled[slot][:keep]
	}
}

func (b *Metadata) cutVersions(keep int) {
	b.fewerBounds(keep, len(b.chunkVersions)-keep)
	b.cutRows(keep)
	b.outlive(b.chunkVersions[keep:])
	b.chunkVersions = b.chunkVersions[:keep]
	b.resetLast()
	b.changed = b.changed[:keep*b.types]
	for i := range b.values {
		v := &b.values[i]
		v.list = v.list[:keep*v.of.words()]
	}
}

// outlive keeps what Latest needs of chunks that end.
func (b *Metadata) outlive(ended []chunkVersions) {
	for i := range ended {
		b.gone = Later(b.gone, ended[i].ordered)
	}
}

// Promote ends the metadata of the chunk at pos, whose rows have moved to the chunk at pos+1. That
// chunk gets the position, the bits and the versions. Chunks after it are new.
func (b *Metadata) Promote(pos int) {
	for _, slot := range b.toggling {
		bits := b.enabled[slot]
		bits[pos+1].CopyAll(bits[pos])
		b.spares.keep(bits[pos : pos+1])
		b.enabled[slot] = slices.Delete(bits, pos, pos+1)
	}
	b.promoteRows(pos)
	for i := pos; i < len(b.chunkVersions)-1; i++ {
		b.chunkVersions[i].at = b.chunkVersions[i+1].at
	}
	// The versions, values and bounds of pos stay; chunks after it have none yet.
	b.cutVersions(len(b.chunkVersions) - 1)
}

// MoveChunks moves the metadata of the first n chunks to position at of other metadata. shared
// lists the types that both tables have, whose bits move, and values the chunk types that both
// have. The bits of a type that only the target has start clear, for room(pos) rows, where pos is
// the chunk's position in the target. Locations stay. Versions and the other fields of
// chunkVersions start at 0; the caller calls Mark and Order.
func (b *Metadata) MoveChunks(n int, to *Metadata, at int, shared, values []Slots, room func(pos int) int) {
	b.outlive(b.chunkVersions[:n])
	to.chunkVersions = makeGap(to.chunkVersions, at, n)
	for i := range n {
		to.chunkVersions[at+i].at = b.chunkVersions[i].at
	}
	b.chunkVersions = slices.Delete(b.chunkVersions, 0, n)
	to.resetLast()
	b.resetLast()
	to.changed = makeGap(to.changed, at*to.types, n*to.types)
	b.changed = slices.Delete(b.changed, 0, n*b.types)
	b.giveValues(n, to, at, values)
	b.giveRows(n, to, at, room)
	b.fewerBounds(0, n)
	to.moreBounds(at, n)
	for _, slot := range to.toggling {
		to.enabled[slot] = makeGap(to.enabled[slot], at, n)
		if i := slices.IndexFunc(shared, func(s Slots) bool { return s.To == slot }); i >= 0 {
			from := shared[i].From
			copy(to.enabled[slot][at:], b.enabled[from][:n])
			clear(b.enabled[from][:n])
			continue
		}
		for pos := at; pos < at+n; pos++ {
			to.enabled[slot][pos] = to.spares.take(room(pos), to.at(pos))
		}
	}
	for _, slot := range b.toggling {
		b.spares.keep(b.enabled[slot][:n])
		b.enabled[slot] = slices.Delete(b.enabled[slot], 0, n)
	}
}

// Mark notes that n rows came into a chunk at a version: all types but chunk types have changed,
// and the order has.
func (b *Metadata) Mark(pos, row, n int, version uint32) {
	if b.chunkVersions[pos].marked != version {
		b.markAll(pos, row, n, version)
	}
}

func (b *Metadata) markAll(pos, row, n int, version uint32) {
	s := &b.chunkVersions[pos]
	s.ordered = version
	if b.rows == nil {
		s.marked = version
	} else {
		b.arriveRows(pos, row, n, version)
	}
	if b.values != nil {
		b.markRows(pos, version)
		return
	}
	changed := b.Versions(pos)
	for slot := range changed {
		changed[slot] = version
	}
}

// MarkLast is Mark of one row of the last chunk.
func (b *Metadata) MarkLast(row int, version uint32) {
	if b.last.marked != version {
		b.markAll(len(b.chunkVersions)-1, row, 1, version)
	}
}

// Carry notes that rows of chunk from filled gaps in chunk pos. Each type's version becomes the
// later of the two chunks' versions, so that a query with Changed misses no write. The values did
// not change, so no type is marked with the new version.
func (b *Metadata) Carry(pos, from int, version uint32) {
	s := &b.chunkVersions[pos]
	if s.ordered = version; s.marked != version {
		b.carry(pos, from)
	}
}

//go:noinline
func (b *Metadata) carry(pos, from int) {
	changed := b.Versions(pos)
	for slot, written := range b.Versions(from) {
		if int32(written-changed[slot]) > 0 && b.valuesIn(uint16(slot)) == nil {
			changed[slot] = written
		}
	}
}

// CopyRows copies the bits and versions of n rows of a span of the same metadata to n other rows.
func (b *Metadata) CopyRows(pos, row int, from MetadataRange, n int) {
	for _, slot := range b.toggling {
		b.Bits(slot, pos).ClearRange(row, n)
		b.CopyBits(slot, pos, row, from, slot, n)
	}
	b.carryRows(pos, row, from.Pos, from.Row, n)
}

// Close moves the bits and versions of the last row to a row that ends, which may be the last row
// itself.
func (b *Metadata) Close(pos, row, lastPos, lastRow int) {
	for _, slot := range b.toggling {
		last := b.Bits(slot, lastPos)
		b.Bits(slot, pos).Set(row, last.Has(lastRow))
		last.Set(lastRow, false)
	}
	b.carryRows(pos, row, lastPos, lastRow, 1)
}
