package life

import "fmt"

// Plain is the plain Go side: every live cell an object on the Go heap with
// pointers to its neighbours, a slice of all of them, and the collector to take
// the dead away. It does the same steps in the same order as World, so that
// what differs is where the cells live.
type Plain struct {
	rule           Rule
	cells          []*cell
	dying          []int32 // indexes into cells, rising; of this generation
	offers         *offers[*cell]
	births, deaths uint64
}

// cell is a live cell: 72 B, in the 80 B size class, of the Go heap.
type cell struct {
	place Cell
	links [sides]*cell // nil where the neighbouring place is dead
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

// Step makes one generation. It costs about 8 link reads a cell and one offer
// for each empty place beside it.
func (s *Plain) Step() error {
	s.judge()
	s.bear()
	s.bury()
	return nil
}

// judge decides who dies and gathers the offers.
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

// bear makes the newborn and links them to their parents, the dying too, and
// to each other.
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
		for d := sides / 2; d < sides; d++ { // the other half is their other half
			if other := s.offers.child(c.place.at(d)); other != nil {
				c.links[d] = other
				other.links[sides-1-d] = c
			}
		}
	}
	s.births += uint64(len(s.cells) - before)
}

// bury takes the dying out of their neighbours' links and out of the slice,
// from the end, so that the indexes still to come stay right.
func (s *Plain) bury() {
	for k := len(s.dying) - 1; k >= 0; k-- {
		i, last := s.dying[k], len(s.cells)-1
		c := s.cells[i]
		for d, other := range c.links {
			if other != nil {
				other.links[sides-1-d] = nil
			}
		}
		clear(c.links[:]) // or one dead cell that the scratch slices still name would keep all it knew
		s.cells[i] = s.cells[last]
		s.cells[last] = nil
		s.cells = s.cells[:last]
	}
	s.deaths += uint64(len(s.dying))
}

// Population is how many cells live.
func (s *Plain) Population() int { return len(s.cells) }

// Births is how many cells were born since the start, the pattern not counted.
func (s *Plain) Births() uint64 { return s.births }

// Deaths is how many cells have died since the start.
func (s *Plain) Deaths() uint64 { return s.deaths }

// Committed is the memory held outside the Go heap, in bytes: none.
func (s *Plain) Committed() int64 { return 0 }

// Close does nothing: the collector does it.
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
