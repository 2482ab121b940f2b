package table

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/internal/store"
)

// Chunks come to the tables of a world and go. Each row block of a chunk has an owner, which leads
// from a record to the row, and a column address in the directory of each type of the table, which
// leads to the value. enter, leave, place, vacate and retire keep both up to date.

// leastRowBlocks is the number of row blocks that a world makes room for when its first chunk
// comes.
const leastRowBlocks = 8

// reach makes the owners and the directories long enough for end row blocks.
func (s *Tables) reach(end int) {
	if end <= len(s.owners) {
		return
	}
	n := max(len(s.owners), leastRowBlocks)
	for n < end {
		n *= 2
	}
	owners := make([]Owner, n)
	copy(owners, s.owners)
	s.owners, s.blank = owners, s.blanks(n)
	for id := range s.directories {
		d := &s.directories[id]
		if d.columns == nil {
			d.lookups.SetColumns(s.blank)
			continue
		}
		columns := s.blanks(n)
		copy(columns, d.columns)
		d.setColumns(columns)
	}
}

// blanks returns n column addresses without values.
func (s *Tables) blanks(n int) []entity.ColumnAddress {
	return slices.Repeat([]entity.ColumnAddress{entity.NoValues(&s.nowhere)}, n)
}

// OwnerOf returns the owner of the row block that contains a location.
func (s *Tables) OwnerOf(l Location) Owner { return s.owners[l>>entity.RowBits] }

// FindOwner is OwnerOf for any location; false: no chunk has it.
func (s *Tables) FindOwner(l Location) (Owner, bool) {
	if i := int(l >> entity.RowBits); i < len(s.owners) {
		return s.owners[i], s.owners[i].table != 0
	}
	return Owner{}, false
}

// ownerOf returns the owner of the row blocks of a chunk.
func (t *Table) ownerOf(pos int) Owner {
	at := t.Store.Row(pos, 0)
	return Owner{base: at.Base, first: t.At(pos, 0), table: t.Index + 1, at: uint32(pos) | uint32(at.Scale)<<posBits}
}

// rowBlocksAt returns the row blocks of the chunk at a position, from first up to end.
func (t *Table) rowBlocksAt(pos int) (first, end int) {
	first = rowBlockOf(t.Metadata.at(pos))
	return first, first + rowBlocksFor(t.Store.Fits(t.Store.Chunks()[pos]))
}

// number takes row blocks for a chunk that comes to the table, and returns the location of its row
// 0.
func (t *Table) number(c store.Chunk) Location {
	return locationOf(t.all.rowBlocks.take(rowBlocksFor(t.Store.Fits(c))))
}

// place enters the chunk at a position in the owners and the directories, or updates its entries.
func (t *Table) place(pos int) {
	s, o := t.all, t.ownerOf(pos)
	first, end := t.rowBlocksAt(pos)
	s.reach(end)
	for i := first; i < end; i++ {
		s.owners[i] = o
	}
	t.note(pos)
}

// countPlaced counts that a chunk has come, gone or moved, or its versions have.
func (t *Table) countPlaced() {
	t.Placed++
	t.all.Placed++
}

// vacate removes the chunk at a position from the owners and the directories.
func (t *Table) vacate(pos int) {
	s := t.all
	t.countPlaced()
	first, end := t.rowBlocksAt(pos)
	clear(s.owners[first:end])
	for _, id := range t.Types {
		copy(s.directories[id].columns[first:end], s.blank)
	}
}

// retire is vacate for a chunk that leaves the world's tables: it also frees the row blocks.
func (t *Table) retire(pos int) {
	t.vacate(pos)
	first, end := t.rowBlocksAt(pos)
	t.all.rowBlocks.free(first, end-first)
}

// enter begins the metadata of a chunk. leave ends the metadata of the last chunk, which is about
// to lose its last row.
func (t *Table) enter(c store.Chunk, pos int) {
	t.Metadata.Add(t.Store.Fits(c), t.number(c))
	t.Metadata.begin(pos, t.all.Version)
	t.place(pos)
	t.remark()
}

func (t *Table) leave(last int) {
	t.retire(last)
	t.Metadata.Cut(last)
}

// Renumber sets the table's Index and updates the owners of its chunks.
func (t *Table) Renumber(index uint32) {
	t.Index = index
	for pos := range t.Store.Chunks() {
		t.place(pos)
	}
}

// columnAddressOf returns the column address of the type in a slot, in the chunk at a position. at
// is the chunk's row 0.
func (t *Table) columnAddressOf(slot, pos int, at store.Row) entity.ColumnAddress {
	size := t.all.types[t.Types[slot]].Layout.Size
	p := at.Element(t.Places[t.Types[slot]].Offset, uint32(size))
	c := entity.MakeColumnAddress(p, t.Metadata.at(pos), uintptr(size), t.Metadata.Version(uint16(slot), pos))
	if b := t.Metadata.enabled; b != nil && b[slot] != nil {
		c.SetBits(b[slot][pos])
	}
	return c
}

// note enters a chunk in the directories of the table's types.
func (t *Table) note(pos int) {
	t.countPlaced()
	at := t.Store.Row(pos, 0)
	first, end := t.rowBlocksAt(pos)
	for slot, id := range t.Types {
		d := &t.all.directories[id]
		if d.columns == nil {
			d.setColumns(t.all.blanks(len(t.all.owners)))
		}
		c := t.columnAddressOf(slot, pos, at)
		for i := first; i < end; i++ {
			d.columns[i] = c
		}
	}
}

// remark enters all chunks again if the versions of the metadata have moved.
func (t *Table) remark() {
	now := t.Metadata.versions()
	if now == t.marked {
		return
	}
	t.marked = now
	for pos := range t.Metadata.Len() {
		t.note(pos)
	}
}

// verifyOwners checks W3.
func (s *Tables) verifyOwners(all []*Table) error {
	rowBlocks, owned, kept := 0, 0, s.waitingSmall()
	for _, o := range s.owners {
		if o.table != 0 {
			owned++
		}
	}
	for _, t := range all {
		for pos := range t.Store.Chunks() {
			first, end := t.rowBlocksAt(pos)
			rowBlocks += end - first
			for i := first; i < end; i++ {
				if i == 0 || i >= len(s.owners) || s.owners[i] != t.ownerOf(pos) || !s.rowBlocks.used.Has(i) {
					return fmt.Errorf("ecs: W3: row block %d of the chunk at position %d of %v has no such owner",
						i, pos, t)
				}
			}
		}
		if t.Store.HasSmall() {
			kept++
		}
	}
	if owned != rowBlocks || s.rowBlocks.inUse() != rowBlocks {
		return fmt.Errorf("ecs: W3: %d row blocks are in use and %d have owners, the archetypes have %d",
			s.rowBlocks.inUse(), owned, rowBlocks)
	}
	if s.smallChunks.Live() != kept {
		return fmt.Errorf("ecs: W3: %d small chunks are handed out, the archetypes have %d", s.smallChunks.Live(), kept)
	}
	return s.smallChunks.Verify()
}

// verifyDirectories checks L1.
func (s *Tables) verifyDirectories(all []*Table) error {
	for id := range s.directories {
		d, id := &s.directories[id], TypeID(id)
		if err := s.verifyDirectory(d, id, all); err != nil {
			return fmt.Errorf("ecs: L1: %s: %w", s.types[id].Layout.Name, err)
		}
	}
	return nil
}

func (s *Tables) verifyDirectory(d *directory, id TypeID, all []*Table) error {
	if d.columns != nil && len(d.columns) != len(s.owners) || len(s.blank) != len(s.owners) {
		return fmt.Errorf("the directory has %d column addresses, that of no type %d, the owners %d",
			len(d.columns), len(s.blank), len(s.owners))
	}
	want := s.blanks(len(s.owners))
	for _, t := range all {
		if !t.Sig.Has(id) {
			continue
		}
		slot := slices.Index(t.Types, id)
		for pos := range t.Store.Chunks() {
			first, end := t.rowBlocksAt(pos)
			for i := first; i < end; i++ {
				want[i] = t.columnAddressOf(slot, pos, t.Store.Row(pos, 0))
			}
		}
	}
	for i, c := range want {
		if have := d.lookups.ColumnAt(locationOf(i)); *have != c {
			return fmt.Errorf("row block %d has %v in the directory, %v in its chunk", i, *have, c)
		}
	}
	return nil
}
