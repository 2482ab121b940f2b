package entity

import "strconv"

// ID names an entity of one world. Its zero value names none.
//
//	bit 0                  27      31  32                        64
//	    +------------------+--------+--+--------------------------+
//	    | index 27         | world 4| P| version 32, odd = alive  |
//	    +------------------+--------+--+--------------------------+
//
// P is set in placeholders, which name an entity that a command buffer will create: the bits below
// P are then the entity's number in the buffer, and the version bits are the buffer's number.
type ID struct {
	ref     uint32 // index, tag, placeholder flag
	version uint32
}

// Tag is the bits of an ID that say which world made it.
type Tag uint32

const (
	indexBits = 27
	indexMask = 1<<indexBits - 1

	// MaxIDs is the number of indices of a store. Index 0 is nobody's, and some others are not, see
	// Store.
	MaxIDs = 1 << indexBits
	// Worlds is the number of tags.
	Worlds = 1 << tagBits

	tagBits         = 4
	tagMask         = (Worlds - 1) << indexBits
	placeholderFlag = 1 << 31
)

// TagOf returns the tag of a number below Worlds.
func TagOf(number uint32) Tag { return Tag(number << indexBits & tagMask) }

// Number returns the number of the tag, below Worlds.
func (t Tag) Number() uint32 { return uint32(t) >> indexBits }

// Make returns the ID with an index, a tag and a version.
func Make(index uint32, tag Tag, version uint32) ID {
	return ID{ref: index&indexMask | uint32(tag), version: version}
}

// MakePlaceholder returns the placeholder with a number below 2^31 and the number of a buffer.
func MakePlaceholder(number, buffer uint32) ID {
	return ID{ref: number | placeholderFlag, version: buffer}
}

// FromBits returns the ID whose Bits are bits.
func FromBits(bits uint64) ID { return ID{ref: uint32(bits), version: uint32(bits >> 32)} }

// Bits returns the 64 bits of the drawing.
func (e ID) Bits() uint64 { return uint64(e.version)<<32 | uint64(e.ref) }

// Index returns the index.
func (e ID) Index() uint32 { return e.ref & indexMask }

// Version returns the version: odd when the ID names an entity.
func (e ID) Version() uint32 { return e.version }

// Tag returns the tag of the world that made the ID.
func (e ID) Tag() Tag { return Tag(e.ref & tagMask) }

// Is reports whether the ID carries a tag, and is no placeholder.
func (e ID) Is(tag Tag) bool { return e.ref&^indexMask == uint32(tag) }

// In returns the ID with the same index and version and another tag.
func (e ID) In(tag Tag) ID { return ID{ref: e.ref&^tagMask | uint32(tag), version: e.version} }

// Retag replaces the tag of an ID that carries from by to. The zero ID stays.
func (e *ID) Retag(from, to Tag) {
	if e.Is(from) && *e != (ID{}) {
		e.ref ^= uint32(from ^ to)
	}
}

// IsPlaceholder reports whether the ID is a placeholder.
func (e ID) IsPlaceholder() bool { return e.ref&placeholderFlag != 0 }

// Placeholder returns the number of a placeholder and the number of its buffer.
func (e ID) Placeholder() (number, buffer uint32) { return e.ref &^ placeholderFlag, e.version }

// String prints index and version as 12v3, the zero ID as null, and placeholders as placeholder 5.
func (e ID) String() string {
	switch {
	case e == ID{}:
		return "null"
	case e.IsPlaceholder():
		number, _ := e.Placeholder()
		return "placeholder " + strconv.FormatUint(uint64(number), 10)
	}
	return strconv.FormatUint(uint64(e.Index()), 10) + "v" + strconv.FormatUint(uint64(e.version), 10)
}
