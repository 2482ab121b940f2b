package table

import (
	"fmt"
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// Owner says which table and chunk a stretch of rows belongs to. The zero Owner is the owner of a
// stretch that no table has.
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

// Scale returns the scale of the chunk; see alloc.ColumnStore.Scale.
func (o Owner) Scale() uintptr { return uintptr(o.at >> posBits) }

// Row returns the index in the chunk of the row at a location.
func (o Owner) Row(l Location) int { return int(l - o.first) }

// RowAt returns the row at a location, with the address of the chunk.
func (o Owner) RowAt(l Location) alloc.StoreRow {
	return alloc.StoreRow{Base: o.base, Scale: uintptr(o.at >> posBits), Row: int(l - o.first)}
}

const (
	posBits = 22
	_       = uint(1<<(32-posBits) - 1 - 1<<alloc.MaxStoreOrder) // there is room for the scale
	_       = uint(1<<posBits - entity.Stretches)                // and a position for each stretch
)

// OwnerOf returns the owner of the stretch that contains a location.
func (s *Tables) OwnerOf(l Location) Owner { return s.owners[l>>entity.RowBits] }

// FindOwner is OwnerOf for any location; false: no chunk has it.
func (s *Tables) FindOwner(l Location) (Owner, bool) {
	if i := int(l >> entity.RowBits); i < len(s.owners) {
		return s.owners[i], s.owners[i].table != 0
	}
	return Owner{}, false
}

// ownerOf returns the owner of the stretches of a chunk.
func (t *Table) ownerOf(pos int) Owner {
	at := t.Store.Row(pos, 0)
	return Owner{base: at.Base, first: t.At(pos, 0), table: t.Index + 1, at: uint32(pos) | uint32(at.Scale)<<posBits}
}

// stretchesAt returns the stretches of the chunk at a position, from first up to end.
func (t *Table) stretchesAt(pos int) (first, end int) {
	first = stretchOf(t.Books.at(pos))
	return first, first + stretchesFor(t.Store.Fits(t.Store.Chunks()[pos]))
}

// number takes stretches for a chunk that comes to the table, and returns the location of its row
// 0.
func (t *Table) number(c alloc.StoreChunk) Location {
	return locationOf(t.all.stretches.take(stretchesFor(t.Store.Fits(c))))
}

// place enters the chunk at a position in the owners and the directories, or updates its entries.
func (t *Table) place(pos int) {
	s, o := t.all, t.ownerOf(pos)
	first, end := t.stretchesAt(pos)
	s.reach(end)
	for i := first; i < end; i++ {
		s.owners[i] = o
	}
	t.note(pos)
}

// vacate removes the chunk at a position from the owners and the directories.
func (t *Table) vacate(pos int) {
	s := t.all
	first, end := t.stretchesAt(pos)
	clear(s.owners[first:end])
	for _, id := range t.Types {
		copy(s.directories[id].cells[first:end], s.blank)
	}
}

// retire is vacate for a chunk that leaves the world's tables: it also frees the stretches.
func (t *Table) retire(pos int) {
	t.vacate(pos)
	first, end := t.stretchesAt(pos)
	t.all.stretches.give(first, end-first)
}

// verifyOwners checks W3.
func (s *Tables) verifyOwners(all []*Table) error {
	stretches, owned, kept := 0, 0, s.waitingSmall()
	for _, o := range s.owners {
		if o.table != 0 {
			owned++
		}
	}
	for _, t := range all {
		for pos := range t.Store.Chunks() {
			first, end := t.stretchesAt(pos)
			stretches += end - first
			for i := first; i < end; i++ {
				if i == 0 || i >= len(s.owners) || s.owners[i] != t.ownerOf(pos) || !s.stretches.used.Has(i) {
					return fmt.Errorf("ecs: W3: stretch %d of the chunk at position %d of %v has no such owner", i, pos, t)
				}
			}
		}
		if t.Store.HasSmall() {
			kept++
		}
	}
	if owned != stretches || s.stretches.inUse() != stretches {
		return fmt.Errorf("ecs: W3: %d stretches are in use and %d have owners, the archetypes have %d", s.stretches.inUse(), owned, stretches)
	}
	if s.smallChunks.Live() != kept {
		return fmt.Errorf("ecs: W3: %d small chunks are handed out, the archetypes have %d", s.smallChunks.Live(), kept)
	}
	return s.smallChunks.Verify()
}
