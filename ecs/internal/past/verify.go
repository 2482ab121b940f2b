package past

import (
	"fmt"
	"math/bits"
)

// Verify checks P1 to P3. No other goroutine may use the past meanwhile.
func (p *Past) Verify() error {
	last := p.number
	for l := p.newest.Load(); l != nil; l = l.below {
		if l.closed || l.number > last || l.above != nil && l.above.below != l {
			return fmt.Errorf("past: P1: layer %d, closed %v, below one with at most %d", l.number, l.closed, last)
		}
		last = l.number - 1
		for at, part := range l.parts {
			if err := part.verify(l.number); err != nil {
				return err
			}
			if err := p.memories[at].verify(l); err != nil {
				return err
			}
		}
	}
	for _, m := range p.memories {
		for i := range m.pages {
			page := m.pages[i].Load()
			for k := 0; page != nil && k < pageUnits; k++ {
				if s := page[k].Load(); s&busy != 0 || s>>2 > p.number {
					return fmt.Errorf("past: P1: unit %d has state %d, the newest layer was %d", i*pageUnits+k, s, p.number)
				}
			}
		}
	}
	return nil
}

// verify checks P2 for the units of a memory that a layer lacks, and no newer one has.
func (m *Memory) verify(l *Layer) error {
	for unit := range m.units {
		page := m.pages[unit/pageUnits].Load()
		if page == nil {
			continue
		}
		s := page[unit%pageUnits].Load()
		if s < stateOf(l.number) || s&born != 0 {
			continue
		}
		of := l
		for of != nil && !of.parts[m.at].has(unit) {
			of = of.above
		}
		if of == nil {
			return fmt.Errorf("past: P2: layer %d lacks unit %d, which was saved for layer %d, and so do all newer ones", l.number, unit, s>>2)
		}
	}
	return nil
}

// verify checks P3.
func (p *part) verify(number uint64) error {
	has := 0
	for i := range p.pages {
		page := p.pages[i].Load()
		for k := 0; page != nil && k < len(page); k++ {
			has += bits.OnesCount64(page[k].Load())
		}
	}
	if has != len(p.units) {
		return fmt.Errorf("past: P3: layer %d has %d units and lists %d", number, has, len(p.units))
	}
	for _, unit := range p.units {
		if !p.has(int(unit)) {
			return fmt.Errorf("past: P3: layer %d lists unit %d, which it lacks", number, unit)
		}
	}
	return nil
}
