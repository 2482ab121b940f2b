package past

// The pieces written between the beginnings of two layers are those that the layers in between
// hold.

// Written is a set of pieces of a memory, a bit each: four units a word. Units behind its end are
// not in it.
type Written []uint64

// unitsPerWord is the number of units of a word of Written.
const unitsPerWord = 64 / 16

// Written returns the pieces that may have been written between the beginnings of two layers, in
// the memory of the set, which may be nil. Any goroutine may call it. Cost: proportional to the
// units, and 2 bytes for each of the memory up to the last of them.
func (l *Layer) Written(m *Memory, until *Layer, set Written) Written {
	l.past.mu.RLock()
	defer l.past.mu.RUnlock()
	clear(set)
	for from := l; from != nil && from != until; from = from.above {
		if m.at < len(from.parts) {
			set = from.parts[m.at].addTo(set)
		}
	}
	return set
}

// addTo adds the pieces of a part.
func (p *part) addTo(set Written) Written {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, unit := range p.units {
		for int(unit/unitsPerWord) >= len(set) {
			set = append(set, 0)
		}
		set[unit/unitsPerWord] |= uint64(p.at(int(unit)).pieces()) << (unit % unitsPerWord * 16)
	}
	return set
}

// pieces returns the pieces of a unit.
func (w Written) pieces(unit int) pieces {
	if unit/unitsPerWord >= len(w) {
		return 0
	}
	return pieces(w[unit/unitsPerWord] >> (unit % unitsPerWord * 16))
}

// Units returns a bit for each of n units, at most 64, from one on.
func (w Written) Units(first, n int) (mask uint64) {
	for i := range n {
		if w.pieces(first+i) != 0 {
			mask |= 1 << i
		}
	}
	return mask
}

// Next returns the first bytes from at on, before end, that lie in pieces of the set, and in one
// unit; n is 0 if there are none.
func (w Written) Next(at, end int) (from, n int) {
	for at < end {
		unit, first := at/UnitSize, at%UnitSize/PieceSize
		set := w.pieces(unit) >> first << first
		if set == 0 {
			at = (unit + 1) * UnitSize
			continue
		}
		lo, size := set.run()
		from = max(at, unit*UnitSize+lo)
		return from, max(0, min(end, unit*UnitSize+lo+size)-from)
	}
	return end, 0
}

// Empty reports whether there is no piece.
func (w Written) Empty() bool {
	for _, word := range w {
		if word != 0 {
			return false
		}
	}
	return true
}
