package change

import (
	"slices"

	"quarry/ecs/internal/entity"
)

// Groups. A transaction may be about several lists of entities, each with an outcome of its own, as when commands are
// played. Then parts may be of one table, and rows may come to a table that others leave. So the rows that leave stay
// where they were, void, until all have come, and Finish closes the gaps:
//
//	SelectGroup  rows of a list, as parts of their own
//	Reserve      room for all rows that come, while all others are there still
//	MoveGroup    the rows are copied to where they come, and Spans says where
//	Finish       void rows leave; from now on rows that came may lie elsewhere

// SelectGroup selects the entities of a list, which are alive and in no other group. by returns the outcome of those of a
// part. It returns the group, which is the parts from first to end, and the index of the first entity that is not alive here,
// or -1: the transaction is of no use then but to Cancel.
func (tx *Tx) SelectGroup(list []entity.ID, by func(p *Part) Outcome) (first, end, bad int) {
	first = len(tx.Parts)
	if bad = tx.rows.SelectList(&tx.Selection, list, true); bad >= 0 {
		return first, first, bad
	}
	for i := range tx.Parts[first:] {
		p := &tx.Parts[first+i]
		p.shared, p.Whole, p.Outcome = true, false, by(p)
	}
	return first, len(tx.Parts), -1
}

// MoveGroup moves or ends the rows of the parts of a group, which Reserve has made room for. Spans is where they are until
// the next group moves.
func (tx *Tx) MoveGroup(first, end int) {
	tx.Spans = tx.Spans[:0]
	for i := range tx.Parts[first:end] {
		switch p := &tx.Parts[first+i]; {
		case p.Outcome.Path() != nil:
			p.Outcome.Path().Refresh()
			tx.send(p)
		case p.Outcome.Ends():
			tx.end(p)
		}
	}
}

// Finish removes the void rows that groups have left.
func (tx *Tx) Finish() {
	leaving := tx.Parts[:0]
	for _, p := range tx.Parts {
		if !p.Outcome.Stays() {
			leaving = append(leaving, p)
		}
	}
	slices.SortStableFunc(leaving, func(a, b Part) int { return int(a.Table.Index) - int(b.Table.Index) })
	for i := 0; i < len(leaving); {
		all := &leaving[i]
		for i++; i < len(leaving) && leaving[i].Table == all.Table; i++ {
			tx.join(all, &leaving[i])
		}
		if all.mask == nil {
			for i, row := range all.list {
				all.list[i] = uint64(uint32(row)) // without the parts
			}
			slices.Sort(all.list)
		}
		runs := all.Backward()
		for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
			all.Table.CloseGap(pos, row, n)
		}
	}
	tx.Parts, tx.Spans = tx.Parts[:0], tx.Spans[:0]
}

// join adds the rows of another part of the same table to a part.
func (tx *Tx) join(p, other *Part) {
	if p.mask == nil && other.mask != nil {
		p.mask, other.mask = other.mask, nil
		p.list, other.list = nil, p.list
	}
	p.Rows += other.Rows
	switch {
	case p.mask == nil:
		p.list = slices.Concat(p.list, other.list)
	case other.mask == nil:
		for _, row := range other.list {
			pos, row := p.Table.Grid.Find(int(uint32(row)))
			p.mask[p.wordsAt(pos)+row/64] |= 1 << (row % 64)
		}
	default:
		for i, word := range other.mask {
			p.mask[i] |= word
		}
	}
}
