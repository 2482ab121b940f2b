package table

import (
	"unsafe"

	"quarry/alloc"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/internal/debug"
)

// Rows come behind the last ones of a table, and the gap that others leave is filled from the
// end. Everything that can fail comes before: tables have room.

// IDs returns the entity column of a chunk that starts at base.
func IDs(base unsafe.Pointer, rows int) []entity.ID {
	// Safe because the entity column lies at offset 0 and holds as many entities as the chunk has rows.
	return unsafe.Slice((*entity.ID)(base), rows)
}

// IDAt returns the entity of a row.
func IDAt(at alloc.GridRow) *entity.ID {
	// Safe because the entity column lies at offset 0 of the row's chunk.
	return (*entity.ID)(unsafe.Add(at.Base, uintptr(at.Row)*unsafe.Sizeof(entity.ID{})))
}

// Berth is room for rows behind the last ones of a table, all of one chunk.
type Berth struct {
	Pos int           // the chunk
	At  alloc.GridRow // the first
	Loc Location      // of the first
	IDs []entity.ID   // the entity column there, as many as there are rows
}

// Berth returns the place of the next n rows, or of as many as the chunk still takes.
// There must be room. Land counts them.
func (t *Table) Berth(n int) Berth {
	pos, row := t.Grid.Find(t.Grid.Len())
	chunk, at := t.Grid.Chunks()[pos], t.Grid.Row(pos, row)
	end := row + min(n, t.Grid.Fits(chunk)-row)
	return Berth{pos, at, Locate(chunk.First, row), IDs(at.Base, end)[row:]}
}

// Land counts the rows of a berth, which are filled.
func (t *Table) Land(b Berth) {
	t.Grid.Push(len(b.IDs))
	t.Books.Mark(b.Pos, t.all.Version)
}

// CloseGap ends n rows of a chunk: the last rows of all fill the gap, and the rows at
// the end go. What rows that end hold is the caller's to free.
func (t *Table) CloseGap(pos, row, n int) {
	first := t.Grid.Chunks()[pos].Start + row
	fill := min(n, t.Grid.Len()-first-n)
	for left := fill; left > 0; {
		lastPos, lastRow := t.Grid.Find(t.Grid.Len() - (fill - left) - 1)
		k := min(left, lastRow+1)
		t.fillGap(pos, row+left-k, lastPos, lastRow+1-k, k)
		left -= k
	}
	t.Cut(n)
}

// fillGap copies n rows of chunk from over others and tells their records.
func (t *Table) fillGap(pos, row, from, fromRow, n int) {
	hole, last := t.Grid.Row(pos, row), t.Grid.Row(from, fromRow)
	ids := IDs(hole.Base, row+n)[row:]
	copy(ids, IDs(last.Base, fromRow+n)[fromRow:])
	t.Grid.Own().Rows(hole, last, n)
	t.all.ids.MoveRows(ids, Locate(t.Grid.Chunks()[pos].First, row))
	t.Books.CopyRows(pos, row, t.span(from, fromRow), n)
	t.Books.Carry(pos, from, t.all.Version)
}

// Cut takes the last n rows away, and the chunks that have no others.
func (t *Table) Cut(n int) {
	for n > 0 {
		pos, row := t.Grid.Last()
		k := min(n, row+1)
		t.Books.ClearRows(pos, row+1-k, k)
		if debug.On {
			alloc.PoisonRows(t.Grid.Row(pos, row+1-k), k, t.Grid.Columns())
		}
		t.Books.Order(pos, t.all.Version)
		if k == row+1 {
			t.leave(pos)
		}
		t.Grid.Cut(k)
		n -= k
	}
}

// span returns rows of a chunk, from one on, as the books of others take them.
func (t *Table) span(pos, row int) Span {
	return Span{Books: &t.Books, Pos: pos, Row: row, All: t.Grid.RowsOf(pos)}
}

// Release ends what n rows own outside the chunk; the rows stay.
func (t *Table) Release(at alloc.GridRow, n int) {
	for _, c := range t.Owning {
		t.all.release(at, c, n)
	}
}

// release ends what n rows own by a column. What the rows say of it is void then.
func (s *Tables) release(at alloc.GridRow, c Column, n int) {
	if of := &s.types[c.Key]; of.Buffers != nil {
		of.Buffers.FreeRows(at, c, n)
	} else {
		of.Managed.Release(value.SlotsAt(at, c, n))
	}
}

// MoveOne moves one row, whose entity, record and owner are given, behind the last
// one of the transition's target, which has room, or ends it where there is no transition. What is new
// is the caller's to clear. This is Send and CloseGap for a single row, without their loops.
func (t *Table) MoveOne(x *Transition, e entity.ID, r *entity.Record, o Owner) {
	s := t.all
	hole := r.Location
	at := s.RowAt(hole, o)
	if x != nil {
		to := x.To
		dest, first := to.Grid.Tail()
		*IDAt(dest) = e
		r.Location = Locate(first, dest.Row)
		to.Books.MarkLast(s.Version)
		if x.more {
			x.row.CopyOthers(dest, at)
			if x.rare {
				x.sendRare(o.Pos(), at, dest)
			}
		}
		to.Grid.Push(1)
		alloc.CopyPairs(dest, at, x.row.Pairs)
	} else if len(t.Owning) > 0 {
		t.Release(at, 1)
	}
	last := t.Grid.LastRow()
	t.Books.OrderLast(s.Version)
	if len(t.Books.Toggling()) > 0 {
		t.Books.Close(o.Pos(), at.Row, t.Grid.LastChunk(), last.Row)
	}
	if gap, end := IDAt(at), IDAt(last); gap != end {
		moved := *end
		*gap = moved
		s.ids.Move(moved, hole)
		if at.Base != last.Base {
			t.Books.Carry(o.Pos(), t.Grid.LastChunk(), s.Version)
		}
		own := t.Grid.Own()
		alloc.CopyPairs(at, last, own.Pairs)
		if own.Others {
			own.CopyOthers(at, last)
		}
	}
	if debug.On {
		alloc.PoisonRows(last, 1, t.Grid.Columns())
	}
	if last.Row == 0 {
		t.leave(t.Grid.LastChunk())
	}
	t.Grid.Pop(last.Row)
}

// sendRare is the part of MoveOne that few transitions have: enable bits, and what
// the row owned in columns that end.
func (x *Transition) sendRare(pos int, from, dest alloc.GridRow) {
	toPos := x.To.Grid.LastChunk()
	for _, b := range x.bits {
		x.To.Books.SetBit(b.To, toPos, dest.Row, x.From.Books.Bit(b.From, pos, from.Row))
	}
	for _, slot := range x.on {
		x.To.Books.SetBit(slot, toPos, dest.Row, true)
	}
	for _, c := range x.ending {
		x.From.all.release(from, c, 1)
	}
}
