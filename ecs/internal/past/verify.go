package past

import (
	"fmt"

	"quarry/internal/universe"
)

// Verify checks P1 to P3. No other call may be under way, but for Read, which waits.
func (p *Past) Verify() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	owner := map[universe.ChunkIndex]bool{}
	above := (*Layer)(nil)
	for l := p.newest.Load(); l != nil; l = l.below {
		below := uint64(0) // no layer has that number
		if l.below != nil {
			below = l.below.number
		}
		if l.number > p.number || below >= l.number || l.above != above || l.closed {
			return fmt.Errorf("past: P1: layer %d lies above layer %d, or is closed; the last to begin was %d",
				l.number, below, p.number)
		}
		above = l
		for at, part := range l.parts {
			for _, unit := range part.units {
				k := part.at(int(unit))
				c := k.chunk()
				if owner[c] || !p.u.InUse(c) || k.pieces() == 0 {
					return fmt.Errorf("past: P3: layer %d has unit %d of memory %d in chunk %d, which is another's",
						l.number, unit, at, c)
				}
				owner[c] = true
				s := p.memories[at].stateNow(int(unit))
				if s < stateOf(l.number) || s>>numberShift == l.number && k.pieces()&^savedIn(s) != 0 {
					return fmt.Errorf("past: P2: layer %d has unit %d of memory %d, which nobody has written since",
						l.number, unit, at)
				}
			}
		}
	}
	for _, m := range p.memories {
		if err := p.verifyStates(m); err != nil {
			return err
		}
	}
	return nil
}

// verifyStates checks P1 of the units of a memory. Pages without states have only zero ones.
func (p *Past) verifyStates(m *Memory) error {
	for at := range m.pages {
		page := m.pages[at].Load()
		if page == nil {
			continue
		}
		for i := range page {
			if s := page[i].Load(); s&busy != 0 || s > savedState(p.number, allPieces) {
				return fmt.Errorf("past: P1: unit %d of memory %d has state %#x, the last layer is %d",
					at*pageUnits+i, m.at, s, p.number)
			}
		}
	}
	return nil
}
