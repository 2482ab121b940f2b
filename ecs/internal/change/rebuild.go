package change

import (
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
	"quarry/internal/store"
)

// Rebuilding. A delta defines the rows that tables are to hold by the places where they are now:
//
//	table A is to hold   0..99 of A,  7 of B,  100..120 of A,  2 new rows
//
// Rows that stay where they are cost nothing. All others are put aside before anything is written,
// since any of them may lie where another is to come. So the cost is that of the rows that move,
// which are copied twice, in Go memory of their size.

// Source is rows that a table is to hold: N rows of table From, from index Row on, or new ones if
// From is nil.
type Source struct {
	From   *table.Table
	Row, N int
}

// Rebuilt is a table with the rows that it is to hold.
type Rebuilt struct {
	Table *table.Table
	Rows  []Source    // all of them, in order; each row of a table is in at most one Source
	N     int         // their number
	IDs   []entity.ID // of the new rows, in order
	Ends  []Source    // rows of Table that are in no Source
}

// RowRun is consecutive rows of a Source that lie in one chunk.
type RowRun struct {
	At, N    int          // index of the first row where they are to be, and number of rows
	From     *table.Table // nil: new rows
	Pos, Row int          // chunk and first row where they are
}

// RowRuns splits sources by chunks.
func RowRuns(list []Source) (all []RowRun) {
	at := 0
	for _, s := range list {
		if s.From == nil {
			all = append(all, RowRun{At: at, N: s.N})
			at += s.N
			continue
		}
		for row, n := s.Row, s.N; n > 0; {
			pos, in := s.From.Store.Find(row)
			k := min(n, s.From.Store.RowsOf(pos)-in)
			all = append(all, RowRun{at, k, s.From, pos, in})
			row, at, n = row+k, at+k, n-k
		}
	}
	return all
}

// aside is a run that is put aside.
type aside struct {
	RowRun
	loc   table.Location // of its first row
	ids   []entity.ID
	bytes []byte // of each column of the target
	bits  []bool // of each type of the target that can be disabled
}

// Rebuild makes tables hold the rows that they are to hold, and applyIDs between the rows that end
// and those that come. There is room for all rows. Rows that end release what they own; they are
// not passed to the function of OnEnd. New rows are zero and enabled.
func (r *Writer) Rebuild(list []Rebuilt, applyIDs func()) {
	put := make([][]aside, len(list))
	for i := range list {
		put[i] = list[i].putAside()
	}
	for i := range list {
		t := list[i].Table
		for _, p := range RowRuns(list[i].Ends) {
			r.died(t, t.At(p.Pos, p.Row), p.N)
			t.Release(t.Store.Row(p.Pos, p.Row), p.N)
		}
		for k := range put[i] {
			if p := &put[i][k]; p.From != nil {
				p.From.ReleaseBut(&t.Sig, p.From.Store.Row(p.Pos, p.Row), p.N)
			}
		}
	}
	applyIDs()
	for i := range list {
		if b := &list[i]; b.N < b.Table.Len() {
			b.Table.Cut(b.Table.Len() - b.N)
		}
	}
	for i := range list {
		t := list[i].Table
		for left := list[i].N - t.Len(); left > 0; {
			b := t.Tail(left)
			t.Push(b)
			left -= len(b.IDs)
		}
	}
	for i := range list {
		for k := range put[i] {
			r.restore(list[i].Table, &put[i][k])
		}
	}
}

// putAside copies the rows that are to come from elsewhere. It changes nothing.
func (b *Rebuilt) putAside() (all []aside) {
	ids, t := b.IDs, b.Table
	for _, p := range RowRuns(b.Rows) {
		if p.From == nil {
			all = append(all, aside{RowRun: p, ids: ids[:p.N]})
			ids = ids[p.N:]
			continue
		}
		if p.From == t && t.Store.Chunks()[p.Pos].Start+p.Row == p.At {
			continue
		}
		at := p.From.Store.Row(p.Pos, p.Row)
		a := aside{RowRun: p, loc: p.From.At(p.Pos, p.Row)}
		a.ids = append(a.ids, table.IDs(at.Base, p.Row+p.N)[p.Row:]...)
		size := 0
		for _, c := range t.Store.Columns() {
			size += int(c.Size) * p.N
		}
		a.bytes = make([]byte, 0, size)
		for _, c := range t.Store.Columns() {
			if id := table.TypeID(c.Key); p.From.Sig.Has(id) {
				a.bytes = append(a.bytes, columnBytes(at, p.From.Column(id), p.N)...)
			} else {
				a.bytes = a.bytes[:len(a.bytes)+int(c.Size)*p.N]
			}
		}
		for _, slot := range t.Metadata.Toggling() {
			id := t.Types[slot]
			for row := p.Row; row < p.Row+p.N; row++ {
				a.bits = append(a.bits,
					!p.From.Sig.Has(id) || p.From.Metadata.Bits(p.From.Places[id].Slot(), p.Pos).Has(row))
			}
		}
		all = append(all, a)
	}
	return all
}

// columnBytes returns the bytes of n rows of a column.
func columnBytes(at store.Row, c table.Column, n int) []byte {
	// Safe because n rows of the column lie there.
	return unsafe.Slice((*byte)(at.Element(c.Offset, c.Size)), n*int(c.Size))
}

// restore writes a run that was put aside to its place in a table.
func (r *Writer) restore(t *table.Table, a *aside) {
	bytes, start := a.bytes, a.At
	for done := 0; done < a.N; {
		pos, row := t.Store.Find(start + done)
		n := min(a.N-done, t.Store.RowsOf(pos)-row)
		at := t.Store.Row(pos, row)
		ids := table.IDs(at.Base, row+n)[row:]
		copy(ids, a.ids[done:])
		r.ids.MoveRows(ids, t.At(pos, row))
		if a.From == nil {
			store.ClearRows(at, n, t.Store.Columns())
		}
		first := 0
		for _, c := range t.Store.Columns() {
			if size := int(c.Size); a.From != nil {
				copy(columnBytes(at, c, n), bytes[first+done*size:])
				first += a.N * size
			}
		}
		t.Metadata.ClearRows(pos, row, n)
		for i, slot := range t.Metadata.Toggling() {
			for k := range n {
				if a.From == nil || a.bits[i*a.N+done+k] {
					t.Metadata.Bits(slot, pos).Set(row+k, true)
				}
			}
		}
		t.Metadata.Mark(pos, row, n, r.tables.Version)
		done += n
	}
	if a.From == nil {
		r.born(t, start, a.N)
		return
	}
	r.moved(&table.Transition{From: a.From, To: t}, a.loc, start, a.N)
}
