package change

import (
	"slices"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Groups. A transaction may have several lists of entities, each with an outcome of its own, as
// when commands are played. Then several parts may be of one table, and rows may come to a table
// that others leave. So rows that leave stay in place, void, until all have come; then Finish
// closes the gaps:
//
//	SelectGroup  rows of a list, as parts of their own
//	Reserve      room for all rows that come, while all others are there still
//	MoveGroup    the rows are copied to where they come, and Spans says where, until the next group or Finish
//	Finish       void rows leave; from now on rows that came may lie elsewhere

// SelectGroup selects the entities of a list, which must be alive and in no other group. by returns
// the outcome of each part. SelectGroup returns the group, which is the parts from first up to end,
// and the index of the first entity that is not alive here, or -1. If there is one, the transaction
// can only be canceled.
func (tx *Tx) SelectGroup(list []entity.ID, by func(p *Part) Outcome) (first, end, bad int) {
	first = len(tx.Parts)
	if bad = tx.writer.SelectList(&tx.Selection, list, true); bad >= 0 {
		return first, first, bad
	}
	for i := range tx.Parts[first:] {
		p := &tx.Parts[first+i]
		p.ofGroup, p.Whole, p.Outcome = true, false, by(p)
	}
	return first, len(tx.Parts), -1
}

// MoveGroup moves or ends the rows of a group, for which Reserve has made room. Spans has their new
// places until the next group moves.
func (tx *Tx) MoveGroup(first, end int) {
	tx.Spans = tx.Spans[:0]
	for i := range tx.Parts[first:end] {
		switch p := &tx.Parts[first+i]; {
		case p.Outcome.Transition() != nil:
			p.Outcome.Transition().Refresh()
			tx.send(p)
		case p.Outcome.Ends():
			tx.end(p)
		}
	}
}

// Finish removes the void rows that groups have left behind.
func (tx *Tx) Finish() {
	leaving := tx.Parts[:0]
	for _, p := range tx.Parts {
		if !p.Outcome.Stays() {
			leaving = append(leaving, p)
		}
	}
	slices.SortStableFunc(leaving, func(a, b Part) int { return int(a.Table.Index) - int(b.Table.Index) })
	for len(leaving) > 0 {
		n := 1
		for n < len(leaving) && leaving[n].Table == leaving[0].Table {
			n++
		}
		all := tx.join(leaving[:n])
		leaving = leaving[n:]
		runs := all.Backward()
		runs.prefetches = table.FillGaps
		for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
			all.Table.CloseGap(pos, row, n)
		}
	}
	tx.Parts, tx.Spans = tx.Parts[:0], tx.Spans[:0]
	tx.writer.Epoch++ // rows that came may have filled gaps: batches are void
}

// join returns a part with all rows of parts of the same table. It uses up those parts.
func (tx *Tx) join(parts []Part) Part {
	all := parts[0]
	if len(parts) == 1 {
		return all
	}
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.mask != nil }); i >= 0 {
		all = parts[i]
		parts[i].mask = nil
		for _, p := range parts {
			all.merge(&p)
		}
		return all
	}
	tx.leaving = tx.leaving[:0]
	for _, p := range parts {
		for _, row := range p.list {
			tx.leaving = append(tx.leaving, uint64(uint32(row))) // without the part
		}
	}
	slices.Sort(tx.leaving)
	all.list = tx.leaving
	return all
}

// merge adds the rows of another part of the same table to p, which has a mask.
func (p *Part) merge(other *Part) {
	for i, word := range other.mask {
		p.mask[i] |= word
	}
	for _, row := range other.list {
		pos, row := p.Table.Store.Find(int(uint32(row)))
		p.mask[p.wordsAt(pos)+row/64] |= 1 << (row % 64)
	}
}
