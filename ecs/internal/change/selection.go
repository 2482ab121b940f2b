package change

import (
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Selections: the rows that a change by query or by list is about. A query and a list both become
// whole tables, a bit for each row of a table or, where few rows of a large table are listed, a
// sorted list of rows; so rows are handled in the order of memory, an entity that is listed twice
// counts once, and both kinds of batch are one piece of code.

// Selection is the rows that a change is about, by table.
type Selection struct {
	Parts  []Part
	bits   []uint64 // masks
	listed []uint64 // rows of lists: index of the part 32 bits | row of its table 32
	seats  []seat   // by Index of the table
	serial uint32   // of the selection, never 0
	group  int      // index of the first part of the list that is added
}

// seat says where a change has noted a table: among its parts and its targets.
type seat struct {
	serial uint32 // of the selection that noted the table
	part   int32  // index among its parts of the last one of the table, plus one; 0: none
	target int32  // index among its targets, plus one; 0: none
}

// begin empties the selection.
func (s *Selection) begin() {
	s.Parts, s.bits, s.listed = s.Parts[:0], s.bits[:0], s.listed[:0]
	if s.serial++; s.serial == 0 {
		clear(s.seats)
		s.serial = 1
	}
}

// seatOf returns the seat of the table with an Index in the selection under way.
func (s *Selection) seatOf(index uint32) *seat {
	for int(index) >= len(s.seats) {
		s.seats = append(s.seats, seat{})
	}
	at := &s.seats[index]
	if at.serial != s.serial {
		*at = seat{serial: s.serial}
	}
	return at
}

// Add begins a part of a table's rows, without rows yet, and returns it. It is good until the next
// Add.
func (s *Selection) Add(t *table.Table) *Part {
	s.Parts = append(s.Parts, Part{Table: t, end: t.Store.Len()})
	return &s.Parts[len(s.Parts)-1]
}

// AddWhole adds all rows of a table that has any.
func (s *Selection) AddWhole(t *table.Table) {
	if n := t.Store.Len(); n > 0 {
		p := s.Add(t)
		p.Rows, p.Whole = n, true
	}
}

// AddMask gives a part a mask, all clear.
func (s *Selection) AddMask(p *Part) {
	at := len(s.bits)
	words := (p.Table.Store.Len()+63)/64 + len(p.Table.Store.Chunks())
	s.bits = slices.Grow(s.bits, words)[:at+words]
	p.mask = s.bits[at:]
	clear(p.mask)
}

// DropLast removes the last part.
func (s *Selection) DropLast() { s.Parts = s.Parts[:len(s.Parts)-1] }

// Rows returns how many rows are selected.
func (s *Selection) Rows() (n int) {
	for i := range s.Parts {
		n += s.Parts[i].Rows
	}
	return n
}

// rowsPerListed is from how many rows of a table for each entity of a list on the rows are listed
// and not masked: clearing and searching a mask takes about 1 ns for 64 rows, sorting a list 30 ns
// an entity.
const rowsPerListed = 1024

// rowsPerGrouped is the same for the lists behind the first of a transaction, of which there may be
// thousands, all there at once: from so many rows for each entity on, a list of 8 bytes an entity
// is smaller than a mask.
const rowsPerGrouped = 64

// lister adds the entities of a list to a selection. While one after the other lies in the same
// chunk, their rows are bits of that chunk's mask, without a look at the owners.
type lister struct {
	s      *Selection
	first  table.Location // of the chunk's rows
	rows   table.Location // of the chunk; 0: there is none
	mask   []uint64
	n      int         // bits that were set in mask
	at     int         // part that the mask is of
	before table.Owner // of the entity before, when it lay in another chunk
}

// SelectList adds the rows of the entities of a list to a selection, as parts of their own. It
// returns the index of the first entity that cannot be in the list, or -1: entities of another
// world and placeholders never can, and dead ones cannot when all must be alive. The selection is
// of no use then.
func (r *Rows) SelectList(s *Selection, list []entity.ID, alive bool) (bad int) {
	l, listed := lister{s: s}, len(s.listed)
	s.group = len(s.Parts)
	for i, e := range list {
		record := r.ids.Find(e)
		if record == nil {
			if alive || e != (entity.ID{}) && !e.Is(r.ids.Tag()) {
				return i
			}
			continue
		}
		if at := record.Location; at-l.first < l.rows {
			l.set(at)
		} else {
			r.listRow(&l, at, len(list))
		}
	}
	l.end()
	s.cutLists(listed)
	for i := range s.Parts[s.group:] {
		p := &s.Parts[s.group+i]
		p.Whole = p.Rows == p.Table.Store.Len()
	}
	return -1
}

// listRow adds a row outside the chunk that l has at hand.
func (r *Rows) listRow(l *lister, at table.Location, listed int) {
	s, o := l.s, r.tables.OwnerOf(at)
	pos := o.Pos()
	row := o.Row(at)
	seat := s.seatOf(o.Table())
	if int(seat.part) <= s.group {
		per := rowsPerListed
		if s.group > 0 {
			per = rowsPerGrouped
		}
		if p := s.Add(r.calls.TableAt(o.Table())); p.Table.Store.Len()/per <= listed {
			s.AddMask(p)
		}
		seat.part = int32(len(s.Parts))
	}
	index := int(seat.part - 1)
	p := &s.Parts[index]
	t := p.Table
	if p.mask == nil {
		s.listed = append(s.listed, uint64(index)<<32|uint64(t.Store.Chunks()[pos].Start+row))
		return
	}
	if o == l.before { // a second one of a chunk: others are likely
		l.end()
		*l = lister{s: s, first: at - table.Location(row), rows: table.Location(t.Store.RowsOf(pos)), mask: p.Mask(pos), at: index, before: o}
		l.set(at)
		return
	}
	l.before = o
	word, bit := &p.mask[p.wordsAt(pos)+row/64], uint64(1)<<(row%64)
	if *word&bit == 0 {
		*word |= bit
		p.Rows++
	}
}

// set sets a row's bit.
func (l *lister) set(at table.Location) {
	row := at - l.first
	word, bit := &l.mask[row/64], uint64(1)<<(row%64)
	if *word&bit == 0 {
		*word |= bit
		l.n++
	}
}

// end counts the rows whose bits were set.
func (l *lister) end() {
	if l.n > 0 {
		l.s.Parts[l.at].Rows += l.n
		l.n = 0
	}
}

// cutLists sorts the listed rows from an index on and gives each part its own.
func (s *Selection) cutLists(at int) {
	slices.Sort(s.listed[at:])
	s.listed = s.listed[:at+len(slices.Compact(s.listed[at:]))]
	for at < len(s.listed) {
		p, end := &s.Parts[s.listed[at]>>32], at+1
		for end < len(s.listed) && s.listed[end]>>32 == s.listed[at]>>32 {
			end++
		}
		p.list, p.Rows = s.listed[at:end], end-at
		at = end
	}
}
