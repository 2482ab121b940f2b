package table

// Corrupt breaks one numbered invariant of books with a chunk whose first type can be disabled,
// and returns what puts that right.
func (b *Books) Corrupt(invariant string) (restore func()) {
	slot := b.toggling[0]
	words := b.enabled[slot][0]
	switch invariant {
	case "B1":
		b.last = new(stamp)
		return b.turn
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
