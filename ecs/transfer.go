package ecs

import (
	"quarry/alloc"
	"quarry/ecs/internal/table"
	"quarry/internal/debug"
)

// Rows on the move. Everything that can fail comes before: archetypes are made and
// have room. A transfer is two steps, of one row or of many: rows go behind the last
// ones of the target, then the gap that they leave is filled from the end.

// berth is room for rows behind the last ones of an archetype, all of one chunk.
type berth struct {
	pos int           // the chunk
	at  alloc.GridRow // the first
	loc location      // of the first
	ids []Entity      // the entity column there, as many as there are rows
}

// berth returns the place of the next n rows, or of as many as the chunk still takes.
// There must be room.
func (a *Archetype) berth(n int) berth {
	pos, row := a.grid.Find(a.grid.Len())
	chunk, at := a.grid.Chunks()[pos], a.grid.Row(pos, row)
	end := row + min(n, a.grid.Fits(chunk)-row)
	return berth{pos, at, locate(chunk.First, row), entities(at.Base, end)[row:]}
}

// send copies n rows of a chunk behind the last rows of the way's target, which has
// room, and tells their records. The rows stay where they are; the caller closes the
// gap.
func (w *way) send(pos, row, n int) {
	from, to := w.from, w.to
	for n > 0 {
		b, source := to.berth(n), from.grid.Row(pos, row)
		k := copy(b.ids, entities(source.Base, row+n)[row:])
		w.row.Rows(b.at, source, k)
		alloc.ClearRows(b.at, k, w.fresh)
		from.w.ids.MoveRows(idsOf(b.ids), b.loc)
		for _, c := range w.ending {
			from.w.release(source, c, k)
		}
		for _, move := range w.bits {
			to.books.CopyBits(move.To, b.pos, b.at.Row, from.spanAt(pos, row), move.From, k)
		}
		for _, slot := range w.on {
			to.books.SetBits(slot, b.pos, b.at.Row, k)
		}
		to.grid.Push(k)
		to.books.Mark(b.pos, to.w.version)
		row, n = row+k, n-k
	}
}

// closeGap ends n rows of a chunk: the last rows of all fill the gap, and the rows at
// the end go. What rows that end hold is the caller's to free.
func (a *Archetype) closeGap(pos, row, n int) {
	first := a.grid.Chunks()[pos].Start + row
	fill := min(n, a.grid.Len()-first-n)
	for left := fill; left > 0; {
		lastPos, lastRow := a.grid.Find(a.grid.Len() - (fill - left) - 1)
		k := min(left, lastRow+1)
		a.fillGap(pos, row+left-k, lastPos, lastRow+1-k, k)
		left -= k
	}
	a.cut(n)
}

// fillGap copies n rows of chunk from over others and tells their records.
func (a *Archetype) fillGap(pos, row, from, fromRow, n int) {
	hole, last := a.grid.Row(pos, row), a.grid.Row(from, fromRow)
	ids := entities(hole.Base, row+n)[row:]
	copy(ids, entities(last.Base, fromRow+n)[fromRow:])
	a.grid.Own().Rows(hole, last, n)
	a.w.ids.MoveRows(idsOf(ids), locate(a.grid.Chunks()[pos].First, row))
	a.books.CopyRows(pos, row, a.spanAt(from, fromRow), n)
	a.books.Carry(pos, from, a.w.version)
}

// cut takes the last n rows away, and the chunks that have no others.
func (a *Archetype) cut(n int) {
	for n > 0 {
		pos, row := a.grid.Last()
		k := min(n, row+1)
		a.books.ClearRows(pos, row+1-k, k)
		if debug.On {
			alloc.PoisonRows(a.grid.Row(pos, row+1-k), k, a.grid.Columns())
		}
		a.books.Order(pos, a.w.version)
		if k == row+1 {
			a.leave(pos)
		}
		a.grid.Cut(k)
		n -= k
	}
}

// spanAt returns rows of a chunk, from one on, as the books of others take them.
func (a *Archetype) spanAt(pos, row int) table.Span {
	return table.Span{Books: &a.books, Pos: pos, Row: row, All: a.grid.RowsOf(pos)}
}

// fullChunks returns the number of chunks that are full and can change hands: all, or all
// but the last. Small ones do not.
func (a *Archetype) fullChunks() int {
	n := len(a.grid.Chunks())
	if n > 0 && a.partFull() > 0 {
		n--
	}
	return n
}

// partFull returns the rows of the last chunk when it is small or not full, else 0.
func (a *Archetype) partFull() int {
	last := a.grid.LastChunk()
	c, n := a.grid.Chunks()[last], a.grid.RowsOf(last)
	if c.Small() || n < a.grid.Fits(c) {
		return n
	}
	return 0
}

// giveChunks makes the first chunks of the way's source, full ones or all, chunks of the
// target: what both have is not copied. It returns where their rows are in the target
// and how many.
func (w *way) giveChunks(chunks int) (start, n int) {
	from, to := w.from, w.to
	before := to.grid.Len()
	w.endColumns(chunks)
	at := from.grid.Give(&to.grid, chunks)
	from.books.Give(chunks, &to.books, at, w.bits, func(pos int) int { return to.grid.Fits(to.grid.Chunks()[pos]) })
	for pos := range from.grid.Chunks() {
		from.w.setOwner(from.grid.Chunks()[pos], from, pos)
	}
	for pos := at; pos < len(to.grid.Chunks()); pos++ {
		to.w.setOwner(to.grid.Chunks()[pos], to, pos)
	}
	for pos := at; pos < at+chunks; pos++ {
		alloc.ClearRows(to.grid.Row(pos, 0), to.grid.RowsOf(pos), w.fresh)
		for _, slot := range w.on {
			to.books.SetBits(slot, pos, 0, to.grid.RowsOf(pos))
		}
		to.books.Mark(pos, to.w.version) // every type, as where rows are copied: a query with Changed may match them only now
	}
	to.books.OrderFrom(at+chunks, to.w.version) // a part-full chunk comes after others now
	return to.grid.Chunks()[at].Start, to.grid.Len() - before
}

// endColumns ends what the first chunks of the way's source hold in columns that the
// target lacks.
func (w *way) endColumns(chunks int) {
	from := w.from
	for pos := range chunks {
		at, n := from.grid.Row(pos, 0), from.grid.RowsOf(pos)
		for _, c := range w.ending {
			from.w.release(at, c, n)
		}
		if !debug.On {
			continue
		}
		for _, c := range from.grid.Columns() {
			if !w.to.sig.Has(typeID(c.Key)) {
				alloc.PoisonRows(at, n, []column{c})
			}
		}
	}
}
