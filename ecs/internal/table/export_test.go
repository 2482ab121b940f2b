package table

// Corrupt breaks one numbered invariant of books with a chunk whose first type can be disabled,
// and returns what puts that right.
func (b *Books) Corrupt(invariant string) (restore func()) {
	slot := b.toggling[0]
	words := b.enabled[slot][0]
	switch invariant {
	case "B1":
		b.last = new(stamp)
		return b.resetLast
	case "B1 versions":
		changed := b.changed
		b.changed = changed[:len(changed)-1]
		return func() { b.changed = changed }
	case "B2":
		words[len(words)-1] ^= 1 << 63
		b.on[slot][0]++
		return func() { words[len(words)-1] ^= 1 << 63; b.on[slot][0]-- }
	case "B2 count":
		b.on[slot][0]--
		return func() { b.on[slot][0]++ }
	case "B2 chunks":
		on := b.on[slot]
		b.on[slot] = on[:len(on)-1]
		return func() { b.on[slot] = on }
	}
	return nil
}

// Count returns how many bits are kept for chunks that come.
func (s *Spares) Count() (n int) {
	for _, list := range s {
		n += len(list)
	}
	return n
}

// Corrupt breaks one numbered invariant of a table with rows and at least one transition, or of a
// directory of one of its types, and returns what puts that right; nil where the table has no such part.
func (t *Table) Corrupt(invariant string, d *Directory) (restore func()) {
	s, first := t.all, t.Grid.Chunks()[0].First
	unit := &s.units[first.Chunk()]
	small := t.Grid.Chunks()[0].Small()
	switch invariant {
	case "W1":
		r := s.ids.Find(*IDAt(t.Grid.Row(0, 0)))
		r.Location++
		return func() { r.Location-- }
	case "W2":
		t.Grid.Push(t.Grid.PerUnit())
		return func() { t.Grid.Push(-t.Grid.PerUnit()) }
	case "W3":
		unit.at++
		return func() { unit.at-- }
	case "W3 tenant":
		if !small {
			return nil
		}
		shared := &s.tenants[unit.at]
		shared[7] = 1
		return func() { shared[7] = 0 }
	case "W3 leak":
		e, err := s.shelf.Alloc()
		if err != nil {
			return nil
		}
		return func() { s.shelf.Free(e) }
	case "W6":
		return t.Books.Corrupt("B2")
	case "W9":
		t.Places[t.Types[0]].Offset += 64
		return func() { t.Places[t.Types[0]].Offset -= 64 }
	case "W9 hole":
		t.ownRows *= 2
		return func() { t.ownRows /= 2 }
	case "W9 transition":
		x := t.paths[0]
		x.Relabels = !x.Relabels
		return func() { x.Relabels = !x.Relabels }
	case "L1":
		if small {
			return nil
		}
		d.Starts[first.Chunk()] += 2
		return func() { d.Starts[first.Chunk()] -= 2 }
	case "L1 length":
		all := d.Starts
		d.Starts = all[:len(all)-1]
		return func() { d.Starts = all }
	}
	return nil
}
