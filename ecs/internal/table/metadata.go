package table

import (
	"slices"
	"sync/atomic"
	"unsafe"

	"quarry/ecs/internal/entity"
)

// Invariants, checked by Verify:
//
//	B1 Each chunk has its chunkVersions, and a version for each type. last points to the last ones.
//	B2 Types that can be disabled have bits for each chunk, and no other types have any. Bits of
//	   rows beyond the last are 0. The bits know how many of them are set, and the location of
//	   row 0.
//	B3 Chunk types have a value for each chunk, and no other types have any.
//	B4 Bounds of a field have an entry for each chunk. An entry with the chunk's versions is the
//	   extent of the field in the chunk's rows.
//	B5 A type that tracks rows has a version, which is not 0, for each row.

// Metadata is the facts that a table keeps about its chunks, by the chunk's position and within a
// chunk by slot. A slot is the index of a type in the table's list of types.
type Metadata struct {
	types         int                    // number of types
	changed       []uint32               // [position*types + slot]: version of the last write
	last          *chunkVersions         // of the last chunk; nil without chunks
	chunkVersions []chunkVersions        // [position]
	gone          uint32                 // latest ordered of chunks that have ended, see Latest
	byRow         bool                   // toggling or rows is not empty
	toggling      []uint16               // slots of types that can be disabled
	enabled       [][]*entity.EnableBits // [slot][position]: a bit a row (B2); nil for types that cannot be disabled
	spares        *Spares                // enable bits and versions of rows for reuse
	*coldMetadata                        // of its own, or none
}

// coldMetadata is what few tables have. It lies apart, so that an archetype takes 896 bytes: with
// 1,024 the same fields of all archetypes would compete for few lines of the cache.
type coldMetadata struct {
	values []chunkValues // of the chunk types, by rising slot; nil without any
	bounds []*Bounds     // of fields that queries have ranges of
	rows   []rowVersions // of the types that track rows, by rising slot; nil without any
}

// noCold is the coldMetadata of metadata that has nothing in it. Nobody writes it.
var noCold coldMetadata

// ownCold gives the metadata a coldMetadata of its own.
func (b *Metadata) ownCold() *coldMetadata {
	if b.coldMetadata == &noCold {
		b.coldMetadata = new(coldMetadata)
	}
	return b.coldMetadata
}

// chunkVersions is the facts about a chunk besides the versions of its types.
type chunkVersions struct {
	marked  uint32   // version at which all types were marked at once; 0 where rows have versions
	ordered uint32   // version at which rows last came, went or changed places
	at      Location // of the chunk's row 0
}

// ChunkType is what tables know about a type with a value per chunk.
type ChunkType struct {
	Bytes int                             // of a value
	Merge func(into, from unsafe.Pointer) // makes one value of two, in into; nil: the merged value is zero
}

// chunkValues are the values of one chunk type in the chunks of a table.
type chunkValues struct {
	slot uint16
	of   *ChunkType
	list []uint64 // [position*words]
}

// rowVersions are the versions of the rows of one type in the chunks of a table.
type rowVersions struct {
	slot uint16
	list [][]uint32 // [position][row], with room for as many rows as the chunk has
}

// Bounds are the bounds of a field in the chunks of a table.
type Bounds struct {
	slot  uint16
	field Field
	list  []bound // [position]
}

// bound is the extent of a field in a chunk.
type bound struct {
	key             uint64 // version of the type << 32 | order version; 0: none
	least, greatest uint64
	nans            uint32
}

// Spares holds enable bits and versions of rows of former chunks for reuse by new chunks. Without
// spares a batch would allocate for each chunk. The zero value is ready to use.
type Spares struct {
	// List k has bits with room for 2^k words, at most 2,048: 2^17 rows of 8 bytes fill a
	// megachunk.
	bits     [12][]*entity.EnableBits
	versions [18][][]uint32 // list k has versions with room for 2^k rows
}

// Slots are the slots of one type in two tables.
type Slots struct{ From, To uint16 }

// NewMetadata returns the metadata of a table without chunks. types is the number of its types.
// toggling lists, in rising order, the slots of types that can be disabled. Metadata of several
// tables may share spares, which those without such types do not use.
func NewMetadata(types int, toggling []uint16, spares *Spares) Metadata {
	b := Metadata{types: types, toggling: toggling, spares: spares, byRow: len(toggling) > 0, coldMetadata: &noCold}
	if len(toggling) > 0 {
		b.enabled = make([][]*entity.EnableBits, types)
	}
	return b
}

// Len returns the number of chunks.
func (b *Metadata) Len() int { return len(b.chunkVersions) }

// ByRow reports whether the metadata keeps bits or versions by row, which move with the rows.
func (b *Metadata) ByRow() bool { return b.byRow }

// Toggling returns the slots of types that can be disabled; read-only.
func (b *Metadata) Toggling() []uint16 { return b.toggling }

// resetLast points last to the last stamp, after chunkVersions has moved or changed length.
func (b *Metadata) resetLast() {
	b.last = nil
	if n := len(b.chunkVersions); n > 0 {
		b.last = &b.chunkVersions[n-1]
	}
}

// Later returns the later of two versions; 0 is no version.
func Later(a, b uint32) uint32 {
	if a == 0 || b != 0 && int32(b-a) > 0 {
		return b
	}
	return a
}

// Latest returns the version at which rows of any chunk last came, went or changed places, chunks
// that have ended included; 0 if there never was one. Cost: for each chunk.
func (b *Metadata) Latest() uint32 {
	v := b.gone
	for i := range b.chunkVersions {
		v = Later(v, b.chunkVersions[i].ordered)
	}
	return v
}

// makeGap inserts n zeros at a position. slices.Insert would need a slice of zeros.
func makeGap[T any](s []T, at, n int) []T {
	s = slices.Grow(s, n)[:len(s)+n]
	copy(s[at+n:], s[at:])
	clear(s[at : at+n])
	return s
}

// Version returns the address of the version of a type in a chunk.
func (b *Metadata) Version(slot uint16, pos int) *uint32 { return &b.changed[pos*b.types+int(slot)] }

// Versions returns the versions of all types in a chunk, by slot.
func (b *Metadata) Versions(pos int) []uint32 { return b.changed[pos*b.types : pos*b.types+b.types] }

// Changed returns the version of a type in a chunk. Other goroutines may be writing it, by
// toggling.
func (b *Metadata) Changed(slot uint16, pos int) uint32 {
	return atomic.LoadUint32(b.Version(slot, pos))
}

// versions returns the address of the versions of all chunks, which may move when chunks are added.
func (b *Metadata) versions() *uint32 { return unsafe.SliceData(b.changed) }

// at returns the location of row 0 of a chunk.
func (b *Metadata) at(pos int) Location { return b.chunkVersions[pos].at }

// renumber gives a new location to row 0 of a chunk, and so to all its rows.
func (b *Metadata) renumber(pos int, at Location) {
	b.chunkVersions[pos].at = at
	for _, slot := range b.toggling {
		b.enabled[slot][pos].SetFirst(at)
	}
}

// LastAt returns the location of row 0 of the last chunk.
func (b *Metadata) LastAt() Location { return b.last.at }

// Order notes that rows of a chunk went or changed places at a version, while no type changed.
func (b *Metadata) Order(pos int, version uint32) { b.chunkVersions[pos].ordered = version }

// OrderLast is Order of the last chunk.
func (b *Metadata) OrderLast(version uint32) { b.last.ordered = version }

// OrderFrom is Order for all chunks starting with a position.
func (b *Metadata) OrderFrom(pos int, version uint32) {
	for ; pos < len(b.chunkVersions); pos++ {
		b.chunkVersions[pos].ordered = version
	}
}

// Ordered returns the version at which rows of a chunk last came, went or changed places.
func (b *Metadata) Ordered(pos int) uint32 { return b.chunkVersions[pos].ordered }
