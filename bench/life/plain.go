package life

import "fmt"

// Plain is the plain Go side: every live cell is an object on the Go heap with pointers to its
// neighbours, a slice holds them all, and the collector frees the dead. It does the same steps in
// the same order as World, so that only the place of the cells in memory differs.
type Plain struct {
	rule           Rule
	cells          []*cell
	dying          []int32 // indexes into cells, rising; in this generation
	offers         *offers[*cell]
	births, deaths uint64
}

// cell is a live cell: 80 B, a size class of the Go heap.
type cell struct {
	place Cell
	links [sides]*cell // nil where the neighbouring place is dead
	at    int          // index in cells; of CopyTo alone
}

// NewPlain sets up the pattern, which must not hold a cell twice.
func NewPlain(p Pattern) (*Plain, error) {
	s := &Plain{rule: p.Rule, offers: newOffers[*cell]()}
	index := make(map[Cell]*cell, len(p.Cells))
	for _, place := range p.Cells {
		if index[place] != nil {
			return nil, fmt.Errorf("life: NewPlain: cell %v is given twice", place)
		}
		c := &cell{place: place}
		index[place] = c
		s.cells = append(s.cells, c)
	}
	for _, c := range s.cells {
		for d := range c.links {
			c.links[d] = index[c.place.at(d)]
		}
	}
	return s, nil
}

// Step advances one generation. It costs about 8 link reads per cell and one offer per empty place
// next to it.
func (s *Plain) Step() error {
	s.judge()
	s.bear()
	s.bury()
	return nil
}

// judge decides which cells die and gathers the offers.
func (s *Plain) judge() {
	s.offers.clear()
	s.dying = s.dying[:0]
	for i, c := range s.cells {
		n := 0
		for d, other := range c.links {
			if other != nil {
				n++
			} else {
				s.offers.add(c, d, c.place.at(d))
			}
		}
		if !s.rule.Survives(n) {
			s.dying = append(s.dying, int32(i))
		}
	}
}

// bear creates the newborn and links them to their parents, including dying ones, and to each
// other.
func (s *Plain) bear() {
	before := len(s.cells)
	for i := range s.offers.groups {
		g := &s.offers.groups[i]
		if !s.rule.Births(int(g.count)) {
			continue
		}
		c := &cell{place: g.place}
		g.child = c
		s.cells = append(s.cells, c)
		for k := g.first; k >= 0; k = s.offers.list[k].next {
			o := &s.offers.list[k]
			o.from.links[o.side] = c
			c.links[sides-1-o.side] = o.from
		}
	}
	for _, c := range s.cells[before:] {
		for d := sides / 2; d < sides; d++ { // the other sides are covered from the neighbour
			if other := s.offers.child(c.place.at(d)); other != nil {
				c.links[d] = other
				other.links[sides-1-d] = c
			}
		}
	}
	s.births += uint64(len(s.cells) - before)
}

// bury takes the dying out of their neighbours' links and out of the slice, from the end, so that
// the remaining indexes stay right.
func (s *Plain) bury() {
	for k := len(s.dying) - 1; k >= 0; k-- {
		i, last := s.dying[k], len(s.cells)-1
		c := s.cells[i]
		for d, other := range c.links {
			if other != nil {
				other.links[sides-1-d] = nil
			}
		}
		clear(c.links[:]) // or a dead cell that a scratch slice still names would keep all its neighbours
		s.cells[i] = s.cells[last]
		s.cells[last] = nil
		s.cells = s.cells[:last]
	}
	s.deaths += uint64(len(s.dying))
}

// CopyTo makes to, which may be zero, a copy of all cells and counts. It uses the cells that to
// has.
func (s *Plain) CopyTo(to *Plain) {
	for i, c := range s.cells {
		c.at = i
	}
	for n := len(to.cells); n < len(s.cells); n++ {
		to.cells = append(to.cells, new(cell))
	}
	clear(to.cells[len(s.cells):])
	to.cells = to.cells[:len(s.cells)]
	for i, c := range s.cells {
		own := to.cells[i]
		own.place = c.place
		for d, other := range c.links {
			if own.links[d] = nil; other != nil {
				own.links[d] = to.cells[other.at]
			}
		}
	}
	if to.offers == nil {
		to.offers = newOffers[*cell]()
	}
	to.rule, to.births, to.deaths = s.rule, s.births, s.deaths
}

// Population is the number of live cells.
func (s *Plain) Population() int { return len(s.cells) }

// Births is the number of cells born since the start, without the pattern.
func (s *Plain) Births() uint64 { return s.births }

// Deaths is the number of cells that died since the start.
func (s *Plain) Deaths() uint64 { return s.deaths }

// Committed is the memory held outside the Go heap, in bytes: none.
func (s *Plain) Committed() int64 { return 0 }

// Close does nothing: the collector frees everything.
func (s *Plain) Close() error { return nil }

// Cells appends the live places to dst, in no order.
func (s *Plain) Cells(dst []Cell) []Cell {
	for _, c := range s.cells {
		dst = append(dst, c.place)
	}
	return dst
}

// Verify checks every cell against an index of all places: it costs about a
// microsecond a cell and is for tests and the end of a run.
func (s *Plain) Verify() error {
	index := make(map[Cell]*cell, len(s.cells))
	for _, c := range s.cells {
		if index[c.place] != nil {
			return fmt.Errorf("life: two cells at %v", c.place)
		}
		index[c.place] = c
	}
	for _, c := range s.cells {
		for d, other := range c.links {
			if want := index[c.place.at(d)]; other != want {
				return fmt.Errorf("life: side %d of the cell at %v: got %p want %p", d, c.place, other, want)
			}
		}
	}
	return nil
}
