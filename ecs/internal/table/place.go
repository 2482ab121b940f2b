package table

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/internal/store"
)

// Flags of a place: what may be done with the column.
const (
	Readable = 1 << iota
	Writable

	// Barrier stands for both if the rows have versions: opening the column then takes a longer
	// path, which writes them.
	Barrier = (Readable | Writable) << 2
)

// Place is where the column of a type is in a table's chunks.
type Place struct {
	Offset uint32 // bytes from a small chunk's start to the column, see Column
	use    uint32 // slot << 8 | flags
}

// MakePlace returns the place of the type in a slot, whose column has an offset.
func MakePlace(offset uint32, slot int, flags uint8) Place {
	return Place{offset, uint32(slot)<<8 | uint32(flags)}
}

// Slot returns the type's index in the table's types.
func (p Place) Slot() uint16 { return uint16(p.use >> 8) }

// Flags returns Readable | Writable, or Barrier, in a table, the flags that a query set in its own
// places, or 0 if the type is absent.
func (p Place) Flags() uint8 { return uint8(p.use) }

// With returns the place with other flags.
func (p Place) With(flags uint8) Place { return Place{p.Offset, p.use&^0xff | uint32(flags)} }

// Column is a type with storage in a table's chunks; its key is the TypeID.
type Column = store.Column

// IDs returns the entity column of a chunk that starts at base.
func IDs(base unsafe.Pointer, rows int) []entity.ID {
	// Safe because the entity column lies at offset 0 and holds as many entities as the chunk has
	// rows.
	return unsafe.Slice((*entity.ID)(base), rows)
}

// IDAt returns the entity of a row.
func IDAt(at store.Row) *entity.ID {
	// Safe because the entity column lies at offset 0 of the row's chunk.
	return (*entity.ID)(unsafe.Add(at.Base, uintptr(at.Row)*unsafe.Sizeof(entity.ID{})))
}
