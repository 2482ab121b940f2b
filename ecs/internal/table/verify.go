package table

import "fmt"

// Verify checks W1 from the rows' side, W2, W6 and W9.
func (t *Table) Verify() error {
	if err := t.Store.Verify(t.Plan()); err != nil {
		return fmt.Errorf("ecs: W2: %v: %w", t, err)
	}
	if err := t.Metadata.Verify(len(t.Store.Chunks()), t.Store.RowsOf); err != nil {
		return fmt.Errorf("ecs: W6: %v: %w", t, err)
	}
	if err := t.verifyLayout(); err != nil {
		return err
	}
	measure := func(slot uint16, field Field, pos int) Extent {
		return t.Measure(t.Types[slot], field, pos, 0, t.Store.RowsOf(pos))
	}
	if slot, pos, ok := t.Metadata.verifyBounds(measure); !ok {
		return fmt.Errorf("ecs: W6: %v: table: B4: the bounds of a field of slot %d in chunk %d are not those of its rows, or missing",
			t, slot, pos)
	}
	for pos := range t.Store.Chunks() {
		for row, e := range IDs(t.Store.Row(pos, 0).Base, t.Store.RowsOf(pos)) {
			r := t.all.ids.Find(e)
			if r == nil || r.Location != t.At(pos, row) || !e.Is(t.all.ids.Tag()) {
				return fmt.Errorf("ecs: W1: row %d of chunk %d of %v holds %v, whose record does not lead back",
					row, pos, t, e)
			}
		}
	}
	return nil
}

// Verify checks W3 and L1. all lists the tables of the world.
func (s *Tables) Verify(all []*Table) error {
	if err := s.verifyOwners(all); err != nil {
		return err
	}
	return s.verifyDirectories(all)
}

// Verify checks B1 to B3, and B5. chunks is the number of the table's chunks; rows returns the
// number of rows of a chunk.
func (b *Metadata) Verify(chunks int, rows func(pos int) int) error {
	if n := len(b.chunkVersions); n != chunks || len(b.changed) != n*b.types || n > 0 &&
		b.last != &b.chunkVersions[n-1] || n == 0 && b.last != nil {
		return fmt.Errorf("table: B1: %d chunks have %d orders and %d versions of %d types, or another order is at hand than the last",
			chunks, n, len(b.changed), b.types)
	}
	for _, slot := range b.toggling {
		if len(b.enabled[slot]) != chunks {
			return fmt.Errorf("table: B2: %d chunks have bits for %d of slot %d", chunks, len(b.enabled[slot]), slot)
		}
		for pos, bits := range b.enabled[slot] {
			if err := bits.Verify(rows(pos), b.at(pos)); err != nil {
				return fmt.Errorf("table: B2: chunk %d, slot %d: %w", pos, slot, err)
			}
		}
	}
	if err := b.verifyRows(chunks, rows); err != nil {
		return err
	}
	return b.verifyValues(chunks)
}
