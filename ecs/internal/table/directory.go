package table

import (
	"fmt"
	"slices"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
)

// A directory says, for look-ups, where the values of one type are. It has a cell for each stretch
// of rows. Until the first chunk with the type comes, the Sight uses blank cells, which all such
// types share, so that a look-up never asks whether cells exist. place and vacate see every chunk
// come and go and keep the directories up to date. Rows that move only change their records.
type directory struct {
	sight *entity.Sight
	cells []entity.Cell // by stretch, as many as owners; nil if no chunk has had the type
}

// leastStretches is the number of stretches that a world makes room for when its first chunk comes.
const leastStretches = 8

// reach makes the owners and the directories long enough for end stretches.
func (s *Tables) reach(end int) {
	if end <= len(s.owners) {
		return
	}
	n := max(len(s.owners), leastStretches)
	for n < end {
		n *= 2
	}
	owners := make([]Owner, n)
	copy(owners, s.owners)
	s.owners, s.blank = owners, s.blanks(n)
	for id := range s.directories {
		d := &s.directories[id]
		if d.cells == nil {
			d.sight.SetCells(s.blank)
			continue
		}
		cells := s.blanks(n)
		copy(cells, d.cells)
		d.setCells(cells)
	}
}

// blanks returns n cells without values.
func (s *Tables) blanks(n int) []entity.Cell {
	return slices.Repeat([]entity.Cell{entity.NoValues(&s.nowhere)}, n)
}

func (d *directory) setCells(cells []entity.Cell) {
	d.cells = cells
	d.sight.SetCells(cells)
}

// cellOf returns the cell of the type in a slot, in the chunk at a position. at is the chunk's row
// 0.
func (t *Table) cellOf(slot, pos int, at alloc.StoreRow) entity.Cell {
	size := t.all.types[t.Types[slot]].Layout.Size
	p := at.Element(t.Places[t.Types[slot]].Offset, uint32(size))
	c := entity.MakeCell(p, t.Books.at(pos), uintptr(size), t.Books.Version(uint16(slot), pos))
	if b := t.Books.enabled; b != nil && b[slot] != nil {
		c.SetBits(b[slot][pos])
	}
	return c
}

// note enters a chunk in the directories of the table's types.
func (t *Table) note(pos int) {
	at := t.Store.Row(pos, 0)
	first, end := t.stretchesAt(pos)
	for slot, id := range t.Types {
		d := &t.all.directories[id]
		if d.cells == nil {
			d.setCells(t.all.blanks(len(t.all.owners)))
		}
		c := t.cellOf(slot, pos, at)
		for i := first; i < end; i++ {
			d.cells[i] = c
		}
	}
}

// remark enters all chunks again if the versions of the books have moved.
func (t *Table) remark() {
	now := t.Books.versions()
	if now == t.marked {
		return
	}
	t.marked = now
	for pos := range t.Books.Len() {
		t.note(pos)
	}
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
	if d.cells != nil && len(d.cells) != len(s.owners) || len(s.blank) != len(s.owners) {
		return fmt.Errorf("the directory has %d cells, that of no type %d, the owners %d", len(d.cells), len(s.blank), len(s.owners))
	}
	want := s.blanks(len(s.owners))
	for _, t := range all {
		if !t.Sig.Has(id) {
			continue
		}
		slot := slices.Index(t.Types, id)
		for pos := range t.Store.Chunks() {
			first, end := t.stretchesAt(pos)
			for i := first; i < end; i++ {
				want[i] = t.cellOf(slot, pos, t.Store.Row(pos, 0))
			}
		}
	}
	for i, c := range want {
		if have := d.sight.CellOf(locationOf(i)); *have != c {
			return fmt.Errorf("stretch %d has %v in the directory, %v in its chunk", i, *have, c)
		}
	}
	return nil
}
