package table

import (
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/internal/debug"
	"quarry/internal/store"
)

// New rows are appended after a table's last row. Removed rows leave a gap, which the table's last
// rows fill. MoveOne moves one row along a transition; transition.go moves many. Nothing here
// fails, since the caller has made room.

// Run is consecutive rows of one chunk of a table that receives rows.
type Run struct {
	Pos int         // position of the chunk
	At  store.Row   // the first row
	Loc Location    // of the first row
	IDs []entity.ID // the run's part of the entity column
}

// Tail returns the n free rows after the table's last row, or as many of them as are in one chunk.
// The table must have room. The caller fills the rows and then calls Push.
func (t *Table) Tail(n int) Run {
	chunks, have := t.Store.Chunks(), t.Store.Len()
	pos := len(chunks) - 1
	row := have - chunks[pos].Start
	if row < 0 { // there is room in more than the last chunk
		pos, row = t.Store.Find(have)
	}
	chunk, at := chunks[pos], t.Store.Row(pos, row)
	end := row + min(n, t.Store.Fits(chunk)-row)
	if t.all.past != nil {
		t.keepAt(at, end-row)
	}
	return Run{pos, at, t.At(pos, row), IDs(at.Base, end)[row:]}
}

// Push adds the rows of a run from Tail, which the caller has filled, to the table.
func (t *Table) Push(b Run) {
	t.Store.Push(len(b.IDs))
	t.Metadata.Mark(b.Pos, b.At.Row, len(b.IDs), t.all.Version)
}

// CloseGap removes n rows of a chunk: the table's last rows fill the gap, and the table becomes n
// rows shorter. The caller frees what the removed rows own.
func (t *Table) CloseGap(pos, row, n int) {
	first := t.Store.Chunks()[pos].Start + row
	fill := min(n, t.Store.Len()-first-n)
	for left := fill; left > 0; {
		lastPos, lastRow := t.Store.Find(t.Store.Len() - (fill - left) - 1)
		k := min(left, lastRow+1)
		t.fillGap(pos, row+left-k, lastPos, lastRow+1-k, k)
		left -= k
	}
	t.Cut(n)
}

// fillGap copies n rows of chunk from over n rows of chunk pos, and updates the records of their
// entities.
func (t *Table) fillGap(pos, row, from, fromRow, n int) {
	hole, last := t.Store.Row(pos, row), t.Store.Row(from, fromRow)
	t.KeepRows(pos, row, n)
	ids := IDs(hole.Base, row+n)[row:]
	copy(ids, IDs(last.Base, fromRow+n)[fromRow:])
	if n == 1 { // without a call for each column
		t.Store.Own().Row(hole, last)
	} else {
		t.Store.Own().Rows(hole, last, n)
	}
	t.all.ids.MoveRows(ids, t.At(pos, row))
	t.Metadata.CopyRows(pos, row, t.span(from, fromRow), n)
	t.Metadata.Carry(pos, from, t.all.Version)
}

// Cut removes the last n rows, and the chunks that become empty.
func (t *Table) Cut(n int) {
	for n > 0 {
		pos, row := t.Store.Last()
		k := min(n, row+1)
		t.Metadata.ClearRows(pos, row+1-k, k)
		if debug.On {
			t.KeepRows(pos, row+1-k, k)
			store.PoisonRows(t.Store.Row(pos, row+1-k), k, t.Store.Columns())
		}
		t.Metadata.Order(pos, t.all.Version)
		if k == row+1 {
			t.leave(pos)
		}
		t.Store.Cut(k)
		n -= k
	}
}

// span returns the rows of a chunk starting with a row, as an argument of CopyBits.
func (t *Table) span(pos, row int) MetadataRange {
	return MetadataRange{Metadata: &t.Metadata, Pos: pos, Row: row, All: t.Store.RowsOf(pos)}
}

// Release ends what n rows own outside the chunk. The rows stay.
func (t *Table) Release(at store.Row, n int) {
	for _, c := range t.Owning {
		t.all.release(at, c, n)
	}
}

// ReleaseBut is Release for the columns of types that are not in a set.
func (t *Table) ReleaseBut(kept *Signature, at store.Row, n int) {
	for _, c := range t.Owning {
		if !kept.Has(TypeID(c.Key)) {
			t.all.release(at, c, n)
		}
	}
}

// release ends what n rows own through one column. Afterwards the headers or slots in the column
// are void.
func (s *Tables) release(at store.Row, c Column, n int) {
	if of := &s.types[c.Key]; of.Buffers != nil {
		of.Buffers.FreeRows(at, c, n)
	} else {
		of.Managed.Release(value.SlotsAt(at, c, n))
	}
}

// MoveOne moves the row of entity e to the end of the transition's target, which has room. r is e's
// record and o the owner of the row's chunk. With a nil transition MoveOne removes the row. The
// caller clears the columns that only the target has. MoveOne does the work of Send and CloseGap
// for one row, without their loops.
func (t *Table) MoveOne(x *Transition, e entity.ID, r *entity.Record, o Owner) {
	s := t.all
	hole := r.Location
	at := o.RowAt(hole)
	if x != nil {
		to := x.To
		dest := to.Store.Tail()
		*IDAt(dest) = e
		r.Location = to.Metadata.LastAt() + Location(dest.Row)
		to.Metadata.MarkLast(dest.Row, s.Version)
		if x.more {
			x.row.CopyOthers(dest, at)
			if x.extras {
				x.sendExtras(o.Pos(), at, dest)
			}
		}
		to.Store.Push(1)
		store.CopyPairs(dest, at, x.row.Pairs)
	} else if len(t.Owning) > 0 {
		t.Release(at, 1)
	}
	last := t.Store.LastRow()
	t.Metadata.OrderLast(s.Version)
	if t.Metadata.ByRow() {
		t.Metadata.Close(o.Pos(), at.Row, t.Store.LastChunk(), last.Row)
	}
	if gap, end := IDAt(at), IDAt(last); gap != end {
		moved := *end
		*gap = moved
		s.ids.Move(moved, hole)
		// Also within one chunk: a branch on that would be unpredictable.
		t.Metadata.Carry(o.Pos(), t.Store.LastChunk(), s.Version)
		own := t.Store.Own()
		store.CopyPairs(at, last, own.Pairs)
		if own.Others {
			own.CopyOthers(at, last)
		}
	}
	if debug.On {
		store.PoisonRows(last, 1, t.Store.Columns())
	}
	if last.Row == 0 {
		t.leave(t.Store.LastChunk())
	}
	t.Store.Pop(last.Row)
}

// sendExtras is the part of MoveOne that few transitions need: it copies enable bits, and ends what
// the row owned in columns that only the source has.
func (x *Transition) sendExtras(pos int, from, dest store.Row) {
	toPos := x.To.Store.LastChunk()
	for _, b := range x.bits {
		x.To.Metadata.Bits(b.To, toPos).Set(dest.Row, x.From.Metadata.Bits(b.From, pos).Has(from.Row))
	}
	for _, slot := range x.on {
		x.To.Metadata.Bits(slot, toPos).Set(dest.Row, true)
	}
	for _, c := range x.dropped {
		x.From.all.release(from, c, 1)
	}
}
