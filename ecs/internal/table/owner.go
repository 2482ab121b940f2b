package table

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/internal/store"
)

// Owner names the table and chunk that a row block belongs to. The zero Owner is the owner of
// a row block that no table has.
type Owner struct {
	base  unsafe.Pointer // address of the chunk
	first Location       // of the chunk's row 0
	table uint32         // Index of the table, plus one; 0 if no table
	at    uint32         // position in the table's store 22 bits | scale of the chunk 10
}

// Table returns the index of the owning table.
func (o Owner) Table() uint32 { return o.table - 1 }

// Pos returns the position of the chunk in the table's store.
func (o Owner) Pos() int { return int(o.at & (1<<posBits - 1)) }

// Scale returns the scale of the chunk; see store.Store.Scale.
func (o Owner) Scale() uintptr { return uintptr(o.at >> posBits) }

// Row returns the index in the chunk of the row at a location.
func (o Owner) Row(l Location) int { return int(l - o.first) }

// RowAt returns the row at a location, with the address of the chunk.
func (o Owner) RowAt(l Location) store.Row {
	return store.Row{Base: o.base, Scale: uintptr(o.at >> posBits), Row: int(l - o.first)}
}

const (
	posBits = 22
	_       = uint(1<<(32-posBits) - 1 - 1<<store.MaxOrder) // there is room for the scale
	_       = uint(1<<posBits - entity.RowBlocks)           // and a position for each row block
)
