package past

// The units written between the beginnings of two layers are those that the layers in between hold.

// Written is a set of units of a memory, a bit each; units behind its end are not in it.
type Written []uint64

// Written returns the units that may have been written between the beginnings of two layers,
// in the memory of the set, which may be nil. Any goroutine may call it. Cost: proportional to the
// units, and 1 bit for each of the memory up to the last of them.
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

// addTo adds the units of a part.
func (p *part) addTo(set Written) Written {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, unit := range p.units {
		for int(unit/64) >= len(set) {
			set = append(set, 0)
		}
		set[unit/64] |= 1 << (unit % 64)
	}
	return set
}

// Units returns a bit for each of n units, at most 64, from one on.
func (w Written) Units(first, n int) (mask uint64) {
	for i := 0; i < n; {
		at := first + i
		if at/64 >= len(w) {
			break
		}
		mask |= w[at/64] >> (at % 64) << i
		i += 64 - at%64
	}
	return mask & (^uint64(0) >> (64 - n))
}

// Empty reports whether there is no unit.
func (w Written) Empty() bool {
	for _, word := range w {
		if word != 0 {
			return false
		}
	}
	return true
}
