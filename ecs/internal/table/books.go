package table

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// Invariants, checked by Verify:
//
//	B1 Each chunk has a stamp, and a version for each type. last points to the last stamp.
//	B2 Types that can be disabled have bits for each chunk, and no other types have any. Bits of
//	   rows beyond the last are 0. The bits know how many of them are set, and the location of
//	   row 0.
//	B3 Chunk types have a value for each chunk, and no other types have any.
//	B4 Bounds of a field have an entry for each chunk. An entry with the chunk's versions is the
//	   extent of the field in the chunk's rows.
//	B5 A type that tracks rows has a version, which is not 0, for each row.

// Books are the facts that a table keeps about its chunks, by the chunk's position and within a
// chunk by slot. A slot is the index of a type in the table's list of types.
type Books struct {
	types    int                    // number of types
	changed  []uint32               // [position*types + slot]: version of the last write
	last     *stamp                 // of the last chunk; nil without chunks
	stamps   []stamp                // [position]
	gone     uint32                 // latest ordered of chunks that have ended, see Latest
	byRow    bool                   // toggling or rows is not empty
	toggling []uint16               // slots of types that can be disabled
	enabled  [][]*entity.EnableBits // [slot][position]: a bit a row (B2); nil for types that cannot be disabled
	spares   *Spares                // enable bits and versions of rows for reuse
	*rare                           // of its own, or none
}

// rare is what few tables have. It lies apart, so that an archetype takes 896 bytes: with 1,024 the
// same fields of all archetypes would compete for few lines of the cache.
type rare struct {
	values []chunkValues // of the chunk types, by rising slot; nil without any
	bounds []*Bounds     // of fields that queries have ranges of
	rows   []rowVersions // of the types that track rows, by rising slot; nil without any
}

// none is rare of books that have nothing in it. Nobody writes it.
var none rare

// own gives the books a rare of their own.
func (b *Books) own() *rare {
	if b.rare == &none {
		b.rare = new(rare)
	}
	return b.rare
}

// stamp is the facts about a chunk besides the versions of its types.
type stamp struct {
	marked  uint32   // version at which all types were marked at once; 0 where rows have versions
	ordered uint32   // version at which rows last came, went or changed places
	at      Location // of the chunk's row 0
}

// NewBooks returns the books of a table without chunks. types is the number of its types. toggling
// lists, in rising order, the slots of types that can be disabled. Several Books may share spares,
// which Books without such types do not use.
func NewBooks(types int, toggling []uint16, spares *Spares) Books {
	b := Books{types: types, toggling: toggling, spares: spares, byRow: len(toggling) > 0, rare: &none}
	if len(toggling) > 0 {
		b.enabled = make([][]*entity.EnableBits, types)
	}
	return b
}

// Len returns the number of chunks.
func (b *Books) Len() int { return len(b.stamps) }

// ByRow reports whether the books keep bits or versions by row, which move with the rows.
func (b *Books) ByRow() bool { return b.byRow }

// Toggling returns the slots of types that can be disabled; read-only.
func (b *Books) Toggling() []uint16 { return b.toggling }

// resetLast points last to the last stamp, after stamps has moved or changed length.
func (b *Books) resetLast() {
	b.last = nil
	if n := len(b.stamps); n > 0 {
		b.last = &b.stamps[n-1]
	}
}

// Add appends the books of a chunk with room for room rows, whose row 0 is at at.
func (b *Books) Add(room int, at Location) {
	b.stamps = append(b.stamps, stamp{at: at})
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
	b.moreBounds(len(b.stamps)-1, 1)
}

// Cut ends the books of the chunks starting with position keep, whose rows have gone.
func (b *Books) Cut(keep int) {
	b.cutVersions(keep)
	for _, slot := range b.toggling {
		b.spares.keep(b.enabled[slot][keep:])
		b.enabled[slot] = b.enabled[slot][:keep]
	}
}

func (b *Books) cutVersions(keep int) {
	b.fewerBounds(keep, len(b.stamps)-keep)
	b.cutRows(keep)
	b.outlive(b.stamps[keep:])
	b.stamps = b.stamps[:keep]
	b.resetLast()
	b.changed = b.changed[:keep*b.types]
	for i := range b.values {
		v := &b.values[i]
		v.list = v.list[:keep*v.of.words()]
	}
}

// outlive keeps what Latest needs of chunks that end.
func (b *Books) outlive(ended []stamp) {
	for i := range ended {
		b.gone = Later(b.gone, ended[i].ordered)
	}
}

// Later returns the later of two versions; 0 is none.
func Later(a, b uint32) uint32 {
	if a == 0 || b != 0 && int32(b-a) > 0 {
		return b
	}
	return a
}

// Latest returns the version at which rows of any chunk last came, went or changed places, chunks
// that have ended included; 0 if there never was one. Cost: for each chunk.
func (b *Books) Latest() uint32 {
	v := b.gone
	for i := range b.stamps {
		v = Later(v, b.stamps[i].ordered)
	}
	return v
}

// Promote ends the books of the chunk at pos, whose rows have moved to the chunk at pos+1. That
// chunk gets the position, the bits and the versions. Chunks behind it are new.
func (b *Books) Promote(pos int) {
	for _, slot := range b.toggling {
		bits := b.enabled[slot]
		bits[pos+1].CopyAll(bits[pos])
		b.spares.keep(bits[pos : pos+1])
		b.enabled[slot] = slices.Delete(bits, pos, pos+1)
	}
	b.promoteRows(pos)
	for i := pos; i < len(b.stamps)-1; i++ {
		b.stamps[i].at = b.stamps[i+1].at
	}
	b.cutVersions(len(b.stamps) - 1) // the versions, values and bounds of pos stay; chunks behind it have none yet
}

// Slots are the slots of one type in two tables.
type Slots struct{ From, To uint16 }

// Give moves the books of the first n chunks to position at of other books. shared lists the types
// that both books have, whose bits move, and values the chunk types that both have. The bits of a
// type that only the target has start clear, for room(pos) rows, where pos is the chunk's position
// in the target. Locations stay. Versions and the other fields of stamps start at 0; the caller
// calls Mark and Order.
func (b *Books) Give(n int, to *Books, at int, shared, values []Slots, room func(pos int) int) {
	b.outlive(b.stamps[:n])
	to.stamps = makeGap(to.stamps, at, n)
	for i := range n {
		to.stamps[at+i].at = b.stamps[i].at
	}
	b.stamps = slices.Delete(b.stamps, 0, n)
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

// makeGap inserts n zeros at a position. slices.Insert would need a slice of zeros.
func makeGap[T any](s []T, at, n int) []T {
	s = slices.Grow(s, n)[:len(s)+n]
	copy(s[at+n:], s[at:])
	clear(s[at : at+n])
	return s
}

// Version returns the address of the version of a type in a chunk.
func (b *Books) Version(slot uint16, pos int) *uint32 { return &b.changed[pos*b.types+int(slot)] }

// Versions returns the versions of all types in a chunk, by slot.
func (b *Books) Versions(pos int) []uint32 { return b.changed[pos*b.types : pos*b.types+b.types] }

// Changed returns the version of a type in a chunk. Other goroutines may be writing it, by
// toggling.
func (b *Books) Changed(slot uint16, pos int) uint32 { return atomic.LoadUint32(b.Version(slot, pos)) }

// versions returns the address of the versions of all chunks, which may move when chunks are added.
func (b *Books) versions() *uint32 { return unsafe.SliceData(b.changed) }

// at returns the location of row 0 of a chunk.
func (b *Books) at(pos int) Location { return b.stamps[pos].at }

// renumber gives a new location to row 0 of a chunk, and so to all its rows.
func (b *Books) renumber(pos int, at Location) {
	b.stamps[pos].at = at
	for _, slot := range b.toggling {
		b.enabled[slot][pos].SetFirst(at)
	}
}

// LastAt returns the location of row 0 of the last chunk.
func (b *Books) LastAt() Location { return b.last.at }

// Mark notes that n rows came into a chunk at a version: all types but chunk types have changed,
// and the order has.
func (b *Books) Mark(pos, row, n int, version uint32) {
	if b.stamps[pos].marked != version {
		b.markAll(pos, row, n, version)
	}
}

func (b *Books) markAll(pos, row, n int, version uint32) {
	s := &b.stamps[pos]
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
func (b *Books) MarkLast(row int, version uint32) {
	if b.last.marked != version {
		b.markAll(len(b.stamps)-1, row, 1, version)
	}
}

// Order notes that rows of a chunk went or changed places at a version, while no type changed.
func (b *Books) Order(pos int, version uint32) { b.stamps[pos].ordered = version }

// OrderLast is Order of the last chunk.
func (b *Books) OrderLast(version uint32) { b.last.ordered = version }

// OrderFrom is Order for all chunks starting with a position.
func (b *Books) OrderFrom(pos int, version uint32) {
	for ; pos < len(b.stamps); pos++ {
		b.stamps[pos].ordered = version
	}
}

// Ordered returns the version at which rows of a chunk last came, went or changed places.
func (b *Books) Ordered(pos int) uint32 { return b.stamps[pos].ordered }

// Carry notes that rows of chunk from filled gaps in chunk pos. Each type's version becomes the
// later of the two chunks' versions, so that a query with Changed misses no write. The values did
// not change, so no type is marked with the new version.
func (b *Books) Carry(pos, from int, version uint32) {
	s := &b.stamps[pos]
	if s.ordered = version; s.marked != version {
		b.carry(pos, from)
	}
}

//go:noinline
func (b *Books) carry(pos, from int) {
	changed := b.Versions(pos)
	for slot, written := range b.Versions(from) {
		if int32(written-changed[slot]) > 0 && b.valuesIn(uint16(slot)) == nil {
			changed[slot] = written
		}
	}
}
