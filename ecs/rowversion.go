package ecs

import (
	"sync/atomic"

	"quarry/asm"
	"quarry/ecs/internal/table"
)

// Versions of rows. A type registered with TrackRows has, beside its version in each chunk, one for
// each row (ecs/internal/table/rowversions.go). Whoever writes such a type must say which rows. The
// short paths of Slice and of look-ups mark a chunk and name no row. They never meet such a type:
// its places have the access gatedRead and gatedWrite in place of mayRead and mayWrite, so Slice
// comes to Rows.missing, and its Sight hides writes, so look-ups come to mutElse and switchElse.
//
// These mark rows:
//
//	touch        n rows of a chunk: slices, views, one row by look-up or by its number
//	touchMask    rows of a mask: bits and values by query
//	Books.Touch  for callers that are always the owner
//	Books.Mark   rows that come to a table, or trade places; rows that fill a gap keep their version

// touch marks the type in a slot written in n rows of a chunk: by a goroutine of the borrow b, or
// by the owner if b is nil. Of one row several goroutines may switch the bit at the same time.
func (a *Archetype) touch(b *Borrow, slot uint16, pos, row, n int) {
	books := &a.table.Books
	if b == nil {
		books.Touch(slot, pos, row, n, a.w.tables.Version)
		return
	}
	b.mark(books.Version(slot, pos))
	switch list := books.RowVersions(slot, pos); {
	case list == nil:
	case n == 1:
		b.mark(&list[row])
	default:
		asm.Fill(list[row:row+n], b.version)
	}
}

// touchMask marks the type in a slot written in the rows of a mask, at a version.
func touchMask(books *table.Books, slot uint16, pos int, mask []uint64, now uint32) {
	*books.Version(slot, pos) = now
	if list := books.RowVersions(slot, pos); list != nil {
		walkRuns(mask, min(len(list), 64*len(mask)), func(lo, hi int) bool {
			books.Touch(slot, pos, lo, hi-lo, now)
			return true
		})
	}
}

// touchAt marks the finder's type written in the row at a location.
func (f *finder) touchAt(at location) {
	t := f.t
	switch {
	case t.gates():
		o := t.w.tables.OwnerOf(at)
		t.w.archetypeAt(o).open(f.b, t, o.Pos(), o.Row(at), 1)
	case f.b != nil:
		f.b.mark(f.CellOf(at).Mark())
	default:
		*f.CellOf(at).Mark() = t.w.tables.Version
	}
}

// newAt reports whether the type in a slot was written in a row later than since; in any row of the
// chunk, if the type has no versions of rows.
func newAt(books *table.Books, slot uint16, pos, row int, since uint32) bool {
	if list := books.RowVersions(slot, pos); list != nil {
		return newer(atomic.LoadUint32(&list[row]), since)
	}
	return newer(books.Changed(slot, pos), since)
}

// ChangedAt reports whether the component may have changed in the i'th row of rows after the given
// version: in that row, if the type is registered with TrackRows, else in any row of the chunk. It
// panics like Component.Changed, and if i is not in [0, rows.Len()); it returns false if the chunk
// lacks an Optional type.
func (h handle) ChangedAt(rows Rows, i int, since uint32) bool {
	p, ok := rows.placeOf(h.t, "Component.ChangedAt")
	rows.checkRow("Component.ChangedAt", i)
	if !ok {
		return false
	}
	s := rows.s
	return newAt(&s.t.a.table.Books, p.Slot(), s.pos, s.first+i, since)
}

// MarkAt marks the component changed in the i'th row of rows; in all rows of the chunk, if the type
// is registered without TrackRows. With ReadOnly it serves loops that write some of their rows. It
// panics like Component.Mark, and if i is not in [0, rows.Len()).
func (h handle) MarkAt(rows Rows, i int) {
	const op = "Component.MarkAt"
	p, ok := rows.placeOf(h.t, op)
	rows.checkRow(op, i)
	if !ok {
		return
	}
	if p.Flags()&(mayWrite|gatedWrite) == 0 {
		rows.refuse(h.t, op)
	}
	s := rows.s
	s.t.a.touch(s.b, p.Slot(), s.pos, s.first+i, 1)
}

// markMatching marks the component changed in the rows that match.
func (h handle) markMatching(rows Rows) {
	if !h.t.tracked {
		h.Mark(rows)
		return
	}
	s, p := rows.s, rows.s.t.columnOf(h.t.id)
	touchMask(&s.t.a.table.Books, p.Slot(), s.pos, rows.Mask(), h.t.w.tables.Version)
}

// ChangedSince reports whether e is alive, has the component, and the component may have changed
// after the given version: in e's row, if the type is registered with TrackRows, else in any row of
// e's chunk. For version 0 it reports whether e has the component.
func (h handle) ChangedSince(e Entity, since uint32) bool {
	return h.t.own().changedSince("Component.ChangedSince", e, since)
}

// ChangedSince is Component.ChangedSince for a goroutine of a borrow.
func (l lookup) ChangedSince(e Entity, since uint32) bool {
	return l.f.changedSince("Lookup.ChangedSince", e, since)
}

func (f *finder) changedSince(op string, e Entity, since uint32) bool {
	t := f.known(op)
	a, pos, row := t.seat(op, e)
	if a == nil {
		return false
	}
	f.checkRead(op)
	return newAt(&a.table.Books, a.table.Places[t.id].Slot(), pos, row, since)
}
