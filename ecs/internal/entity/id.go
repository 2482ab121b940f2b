package entity

import "strconv"

// ID names an entity of one world. The zero ID names none.
//
//	bit 0                  27      31  32                        64
//	    +------------------+--------+--+--------------------------+
//	    | index 27         | world 4| P| version 32, odd = alive  |
//	    +------------------+--------+--+--------------------------+
//
// P is set in a placeholder, which names an entity that a command buffer will create. In a
// placeholder the bits below P are the entity's number in the buffer, and the version bits are the
// buffer's number.
//
// A version has 32 bits elsewhere too: in Record (record.go), Store.start (store.go), indexBlock
// (reserve.go) and their images, and in code of package world (hashvalue.go, which reads an ID by
// reflection) and package ecs (parseEntity in entity.go).
type ID struct {
	ref     uint32 // index, tag, placeholder flag
	version uint32
}

// Tag is the part of an ID that identifies the world that made it.
type Tag uint32

const (
	indexBits = 27
	indexMask = 1<<indexBits - 1

	// MaxIDs is the number of indices of a store. Index 0 and some others are never used; see
	// Store.
	MaxIDs = 1 << indexBits
	// Worlds is the number of tags.
	Worlds = 1 << tagBits

	tagBits         = 4
	tagMask         = (Worlds - 1) << indexBits
	placeholderFlag = 1 << 31
)

// Untagged has the bits of an ID, as Bits returns them, that are not its tag.
const Untagged = ^uint64(tagMask)

// TagOf returns the tag with a number below Worlds.
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

// FromBits returns the ID with the given Bits.
func FromBits(bits uint64) ID { return ID{ref: uint32(bits), version: uint32(bits >> 32)} }

// Bits returns the ID as 64 bits, in the layout of the drawing above.
func (e ID) Bits() uint64 { return uint64(e.version)<<32 | uint64(e.ref) }

// Index returns the index.
func (e ID) Index() uint32 { return e.ref & indexMask }

// Version returns the version, which is odd if the ID names an entity.
func (e ID) Version() uint32 { return e.version }

// Tag returns the tag of the world that made the ID.
func (e ID) Tag() Tag { return Tag(e.ref & tagMask) }

// Is reports whether the ID has a tag and is not a placeholder.
func (e ID) Is(tag Tag) bool { return e.ref&^indexMask == uint32(tag) }

// In returns the ID with the same index and version and another tag.
func (e ID) In(tag Tag) ID { return ID{ref: e.ref&^tagMask | uint32(tag), version: e.version} }

// Retag replaces tag from with tag to. It leaves IDs with other tags, placeholders and the zero ID
// unchanged.
func (e *ID) Retag(from, to Tag) {
	if e.Is(from) && *e != (ID{}) {
		e.ref ^= uint32(from ^ to)
	}
}

// IsPlaceholder reports whether the ID is a placeholder.
func (e ID) IsPlaceholder() bool { return e.ref&placeholderFlag != 0 }

// Placeholder returns the number of a placeholder and the number of its buffer.
func (e ID) Placeholder() (number, buffer uint32) { return e.ref &^ placeholderFlag, e.version }

// String returns index and version, such as "12v3"; "null" for the zero ID; and "placeholder 5" for
// a placeholder.
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
