package table

import "quarry/ecs/internal/entity"

// Corrupt breaks one numbered invariant of metadata with a chunk whose first type can be disabled,
// and returns what puts that right.
func (b *Metadata) Corrupt(invariant string) (restore func()) {
	slot := b.toggling[0]
	words := b.Bits(slot, 0).Words()
	switch invariant {
	case "B1":
		b.last = new(chunkVersions)
		return b.resetLast
	case "B1 versions":
		changed := b.changed
		b.changed = changed[:len(changed)-1]
		return func() { b.changed = changed }
	case "B2":
		behind, bits := len(words)*64-1, b.Bits(slot, 0)
		bits.Set(behind, true)
		return func() { bits.Set(behind, false) }
	case "B2 count":
		words[0] ^= 1
		return func() { words[0] ^= 1 }
	case "B2 chunks":
		all := b.enabled[slot]
		b.enabled[slot] = all[:len(all)-1]
		return func() { b.enabled[slot] = all }
	case "B2 first":
		at := &b.chunkVersions[0].at
		*at++
		return func() { *at-- }
	case "B5":
		version := &b.rows[0].list[0][0]
		before := *version
		*version = 0
		return func() { *version = before }
	case "B5 chunks":
		v := &b.rows[0]
		all := v.list
		v.list = all[:len(all)-1]
		return func() { v.list = all }
	}
	return nil
}

// At returns the location of row 0 of a chunk.
func (b *Metadata) At(pos int) Location { return b.at(pos) }

// Count returns how many bits are kept for chunks that come.
func (s *Spares) Count() (n int) {
	for _, list := range s.bits {
		n += len(list)
	}
	return n
}

// Corrupt breaks one numbered invariant of a table with rows, at least one transition, and marks of
// its last type, and returns what puts that right.
func (t *Table) Corrupt(invariant string) (restore func()) {
	s, first := t.all, rowBlockOf(t.At(0, 0))
	o, d := &s.owners[first], &s.directories[t.Types[len(t.Types)-1]]
	switch invariant {
	case "W1":
		r := s.ids.Find(*IDAt(t.Store.Row(0, 0)))
		r.Location++
		return func() { r.Location-- }
	case "W2":
		t.Store.Push(t.Store.PerUnit())
		return func() { t.Store.Push(-t.Store.PerUnit()) }
	case "W3":
		o.at++
		return func() { o.at-- }
	case "W3 row block":
		n := s.rowBlocks.take(1)
		return func() { s.rowBlocks.free(n, 1) }
	case "W3 leak":
		e, err := s.smallChunks.Alloc()
		if err != nil {
			return nil
		}
		return func() { s.smallChunks.Free(e) }
	case "W6":
		return t.Metadata.Corrupt("B2")
	case "W9":
		t.Places[t.Types[0]].Offset += 64
		return func() { t.Places[t.Types[0]].Offset -= 64 }
	case "W9 hole":
		t.ownRows *= 2
		return func() { t.ownRows /= 2 }
	case "W9 transition":
		x := t.transitions[0]
		x.MovesChunks = !x.MovesChunks
		return func() { x.MovesChunks = !x.MovesChunks }
	case "L1":
		old := d.columns[first]
		d.columns[first] = d.columns[0]
		return func() { d.columns[first] = old }
	case "L1 length":
		all := d.columns
		d.columns = all[:len(all)-1]
		return func() { d.columns = all }
	case "L1 mark":
		old := d.columns[first]
		d.columns[first] = entity.MakeColumnAddress(old.ValueAt(locationOf(first)), locationOf(first), 4, new(uint32))
		return func() { d.columns[first] = old }
	}
	return nil
}
