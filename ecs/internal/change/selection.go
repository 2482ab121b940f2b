package change

import (
	"slices"

	"quarry/asm"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Selections: the rows that a change by query or by list is about. Both kinds become whole tables,
// a bit for each row of a table or, if few rows of a large table are listed, a sorted list of rows.
// So rows are handled in the order of memory, an entity that is listed twice counts once, and both
// kinds of batch share one piece of code.

// Selection is the rows that a change is about, by table.
type Selection struct {
	Parts  []Part
	bits   []uint64     // masks
	listed []uint64     // rows of lists: index of the part 32 bits | row in its table 32
	states []tableState // by Index of the table
	serial uint32       // of the selection, never 0
	group  int          // index of the first part of the list being added
}

// tableState is what a selection knows of a table: its part and its target.
type tableState struct {
	serial uint32 // of the selection that noted the table
	part   int32  // index of the table's last part, plus one; 0 if none
	target int32  // index of the table's target, plus one; 0 if none
}

// begin empties the selection.
func (s *Selection) begin() {
	s.Parts, s.bits, s.listed = s.Parts[:0], s.bits[:0], s.listed[:0]
	if s.serial++; s.serial == 0 {
		clear(s.states)
		s.serial = 1
	}
}

// stateOf returns the state of the table with an Index in the current selection.
func (s *Selection) stateOf(index uint32) *tableState {
	for int(index) >= len(s.states) {
		s.states = append(s.states, tableState{})
	}
	at := &s.states[index]
	if at.serial != s.serial {
		*at = tableState{serial: s.serial}
	}
	return at
}

// Add adds a part of a table, without rows yet, and returns it. The pointer is valid until the next
// Add.
func (s *Selection) Add(t *table.Table) *Part {
	s.Parts = append(s.Parts, Part{Table: t, end: t.Store.Len()})
	return &s.Parts[len(s.Parts)-1]
}

// AddWhole adds all rows of a table, if it has any.
func (s *Selection) AddWhole(t *table.Table) {
	if n := t.Store.Len(); n > 0 {
		p := s.Add(t)
		p.Rows, p.Whole = n, true
	}
}

// AddMask gives a part a clear mask.
func (s *Selection) AddMask(p *Part) {
	at := len(s.bits)
	words := (p.Table.Store.Len()+63)/64 + len(p.Table.Store.Chunks())
	s.bits = slices.Grow(s.bits, words)[:at+words]
	p.mask = s.bits[at:]
	clear(p.mask)
}

// DropLast removes the last part.
func (s *Selection) DropLast() { s.Parts = s.Parts[:len(s.Parts)-1] }

// Rows returns the number of selected rows.
func (s *Selection) Rows() (n int) {
	for i := range s.Parts {
		n += s.Parts[i].Rows
	}
	return n
}

// rowsPerListed is the number of rows of a table per entity of a list from which on the rows are
// listed and not masked. Clearing and searching a mask takes about 1 ns for 64 rows; sorting a list
// takes 30 ns an entity.
const rowsPerListed = 1024

// rowsPerGrouped is the same for the lists after the first of a transaction. There may be
// thousands, all kept at once: from this many rows per entity on, a list of 8 bytes an entity is
// smaller than a mask.
const rowsPerGrouped = 64

// lister adds the entities of a list to a selection. While successive entities lie in one chunk, it
// only sets bits in that chunk's mask, without a look at the owners.
type lister struct {
	s      *Selection
	first  table.Location // of the chunk's row 0
	length table.Location // number of rows of the chunk; 0 if there is none
	mask   []uint64
	n      int         // bits that were set in mask
	at     int         // part that has the mask
	before table.Owner // of the previous entity, if it lay in another chunk
}

// SelectList adds the rows of the entities of a list to a selection, as separate parts. It returns
// the index of the first entity that may not be in the list, or -1. Entities of another world and
// placeholders never may; dead ones may not if alive is set. After such an entity the selection is
// useless.
func (r *Writer) SelectList(s *Selection, list []entity.ID, alive bool) (bad int) {
	l, listed := lister{s: s}, len(s.listed)
	s.group = len(s.Parts)
	far := len(list) > 2*recordsAhead && r.ids.Records() > farRecords
	for i, e := range list {
		if far && i%recordsAhead == 0 {
			r.prefetchRecords(list[min(i+recordsAhead, len(list)):])
		}
		record := r.ids.Find(e)
		if record == nil {
			if alive || e != (entity.ID{}) && !e.Is(r.ids.Tag()) {
				return i
			}
			continue
		}
		if at := record.Location; at-l.first < l.length {
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

// The records of a list are prefetched where they exceed a second-level cache of 1 MiB.
const (
	recordsAhead = 32
	farRecords   = 1 << 17
)

// prefetchRecords prefetches the records of the first entities of a list.
func (r *Writer) prefetchRecords(list []entity.ID) {
	var lines [recordsAhead]uintptr
	n := min(len(list), recordsAhead)
	for i, e := range list[:n] {
		lines[i] = r.ids.AddressOf(e)
	}
	asm.Prefetch(lines[:n])
}

// listRow adds a row outside the current chunk of l.
func (r *Writer) listRow(l *lister, at table.Location, listed int) {
	s, o := l.s, r.tables.OwnerOf(at)
	pos := o.Pos()
	row := o.Row(at)
	state := s.stateOf(o.Table())
	if int(state.part) <= s.group {
		per := rowsPerListed
		if s.group > 0 {
			per = rowsPerGrouped
		}
		if p := s.Add(r.calls.TableAt(o.Table())); p.Table.Store.Len()/per <= listed {
			s.AddMask(p)
		}
		state.part = int32(len(s.Parts))
	}
	index := int(state.part - 1)
	p := &s.Parts[index]
	t := p.Table
	if p.mask == nil {
		s.listed = append(s.listed, uint64(index)<<32|uint64(t.Store.Chunks()[pos].Start+row))
		return
	}
	if o == l.before { // a second entity of a chunk: more are likely
		l.end()
		*l = lister{s: s, first: at - table.Location(row), length: table.Location(t.Store.RowsOf(pos)),
			mask: p.Mask(pos),
			at:   index, before: o}
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

// end adds the bits that were set to the number of rows of the part.
func (l *lister) end() {
	if l.n > 0 {
		l.s.Parts[l.at].Rows += l.n
		l.n = 0
	}
}

// cutLists sorts the listed rows starting with an index, and gives each part its own.
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
