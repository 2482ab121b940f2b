package change

import (
	"math/bits"

	"quarry/ecs/internal/table"
	"quarry/internal/store"
)

// Part is the rows of one table that a change is about: all rows, or those in a mask or a list.
type Part struct {
	Table   *table.Table
	Rows    int     // number of rows
	Whole   bool    // all rows of the table
	Outcome Outcome // what the change does to them
	end     int     // rows of the table when the part was selected; others may come later
	mask    []uint64
	list    []uint64 // indices of rows in the table, rising, in the low 32 bits; used if mask is nil and Whole false
	all     bool     // every chunk changes hands, even a part-full one
	ofGroup bool     // the part is of a group: rows stay in place, void, until Finish
}

// wordsAt returns the index in the mask of a chunk's first word. Each chunk begins a new word.
func (p *Part) wordsAt(pos int) int { return p.Table.Store.Chunks()[pos].Start/64 + pos }

// Mask returns the mask of a chunk, one bit per row. The part must have a mask.
func (p *Part) Mask(pos int) []uint64 {
	at := p.wordsAt(pos)
	return p.mask[at : at+(p.rowsOf(pos)+63)/64]
}

// rowsOf returns the number of rows that a chunk had when the part was selected; 0 for a later
// chunk.
func (p *Part) rowsOf(pos int) int {
	return max(0, min(p.Table.Store.RowsOf(pos), p.end-p.Table.Store.Chunks()[pos].Start))
}

// Listed returns the rows of a part that has neither all rows nor a mask: their indices in the
// table, in rising order, in the low 32 bits of each word.
func (p *Part) Listed() []uint64 { return p.list }

// IsMasked reports whether the part's rows are in a mask.
func (p *Part) IsMasked() bool { return p.mask != nil }

// Runs walks the rows of a part from the end, so that removing the rows found does not move the
// rows still to come. The rows of a whole table come chunk by chunk, in order, since they are
// removed together; see takeOut.
type Runs struct {
	p    *Part
	pos  int      // current chunk; for a whole table the next one
	mask []uint64 // of the current chunk; nil if the next is to be opened
	hi   int      // rows of the chunk, or entries of the list, not walked yet

	// What the caller does to listed rows, whose lines are prefetched while it works on earlier
	// ones; and how many entries of the list are still to be prefetched, plus one.
	prefetches table.Purpose
	unasked    int
}

// purpose returns what a change prefetches the part's rows for.
func (p *Part) purpose() table.Purpose {
	if p.ofGroup {
		return table.LeaveRows
	}
	return table.FillGaps
}

// prefetchRows is how many listed rows are prefetched at once, and as many again are under way.
// A row has some ten lines, and a CPU handles some tens of lines at a time.
const prefetchRows = 8

// prefetch keeps two blocks of rows ahead of the walk.
func (r *Runs) prefetch() {
	if r.unasked == 0 {
		r.unasked = len(r.p.list) + 1
		if !r.p.Table.Far() {
			r.unasked = 1
		}
	}
	for r.unasked > 1 && r.hi-r.unasked < prefetchRows {
		end := r.unasked - 1
		from := max(0, end-prefetchRows)
		r.p.Table.Prefetch(r.p.list[from:end], r.hi-end, r.prefetches)
		r.unasked = from + 1
	}
}

// Backward begins a walk over the part's rows.
func (p *Part) Backward() Runs {
	if p.Whole {
		return Runs{p: p}
	}
	return Runs{p: p, pos: len(p.Table.Store.Chunks()), hi: len(p.list)}
}

// Next returns the next run of rows in one chunk.
func (r *Runs) Next() (pos, row, n int, ok bool) {
	if r.p.Whole {
		return r.nextChunk()
	}
	if r.p.mask == nil {
		return r.nextListed()
	}
	for {
		if r.hi = prevBit(r.mask, r.hi, 0); r.hi > 0 {
			end := r.hi
			r.hi = prevBit(r.mask, end, ^uint64(0))
			return r.pos, r.hi, end - r.hi, true
		}
		if r.pos == 0 {
			return 0, 0, 0, false
		}
		if r.pos--; r.p.rowsOf(r.pos) > 0 {
			r.mask, r.hi = r.p.Mask(r.pos), r.p.rowsOf(r.pos)
		}
	}
}

func (r *Runs) nextChunk() (pos, row, n int, ok bool) {
	g := &r.p.Table.Store
	if r.pos >= len(g.Chunks()) {
		return 0, 0, 0, false
	}
	r.pos++
	return r.pos - 1, 0, g.RowsOf(r.pos - 1), true
}

func (r *Runs) nextListed() (pos, row, n int, ok bool) {
	if r.hi == 0 {
		return 0, 0, 0, false
	}
	if r.prefetches != table.NoPurpose {
		r.prefetch()
	}
	list := r.p.list
	pos, row = r.p.Table.Store.Find(int(uint32(list[r.hi-1])))
	n = 1
	for r.hi--; r.hi > 0 && row > 0 && list[r.hi-1]+1 == list[r.hi]; r.hi-- {
		row--
		n++
	}
	return pos, row, n, true
}

// prevBit returns one more than the highest i below hi whose bit in mask differs from same, or 0.
func prevBit(mask []uint64, hi int, same uint64) int {
	for hi > 0 {
		i := (hi - 1) / 64
		word := (mask[i] ^ same) << (63 - (hi-1)%64)
		if word != 0 {
			return hi - bits.LeadingZeros64(word)
		}
		hi = i * 64
	}
	return 0
}

// EachRow calls visit for the part's rows, in the order in which they move.
func (p *Part) EachRow(visit func(store.Row) error) error {
	runs := p.Backward()
	for pos, row, n, ok := runs.Next(); ok; pos, row, n, ok = runs.Next() {
		at := p.Table.Store.Row(pos, row)
		for range n {
			if err := visit(at); err != nil {
				return err
			}
			at.Row++
		}
	}
	return nil
}

// takeOut removes rows that a walk has visited from their table. The rows of a whole table are
// removed together, after the last.
func (p *Part) takeOut(pos, row, n int) {
	switch {
	case p.ofGroup:
	case !p.Whole:
		p.Table.CloseGap(pos, row, n)
	case pos == len(p.Table.Store.Chunks())-1:
		p.Table.Cut(p.Table.Len())
	}
}
