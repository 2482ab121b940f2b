package world

import (
	"sync/atomic"

	"quarry/asm"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/table"
)

// Versions of rows. A type registered with TrackRows has, beside its version in each chunk, one for
// each row (ecs/internal/table/rowversions.go). Whoever writes such a type must say which rows. The
// short paths of Slice and of look-ups mark a chunk and name no row. They never meet such a type:
// its places have the access GatedRead and GatedWrite in place of MayRead and MayWrite, so Slice
// comes to Rows.Missing, and its Sight hides writes, so look-ups come to mutElse and switchElse.
//
// These mark rows:
//
//	touch        n rows of a chunk: slices, views, one row by look-up or by its number
//	touchMask    rows of a mask: bits and values by query
//	Books.Touch  for callers that are always the owner
//	Books.Mark   rows that come to a table, or trade places; rows that fill a gap keep their version

// Touch marks the type in a slot written in n rows of a chunk: by a goroutine of the borrow b, or
// by the owner if b is nil. Of one row several goroutines may switch the bit at the same time.
func (a *Archetype) Touch(b *Borrow, slot uint16, pos, row, n int) {
	books := &a.Table.Books
	if b == nil {
		books.Touch(slot, pos, row, n, a.World.Tables.Version)
		return
	}
	b.Mark(books.Version(slot, pos))
	switch list := books.RowVersions(slot, pos); {
	case list == nil:
	case n == 1:
		b.Mark(&list[row])
	default:
		asm.Fill(list[row:row+n], b.Version)
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
func (f *Finder) touchAt(at Location) {
	t := f.Type
	switch {
	case t.Gates():
		o := t.World.Tables.OwnerOf(at)
		t.World.ArchetypeAt(o).Open(f.Borrow, t, o.Pos(), o.Row(at), 1)
	case f.Borrow != nil:
		f.Borrow.Mark(f.CellOf(at).Mark())
	default:
		*f.CellOf(at).Mark() = t.World.Tables.Version
	}
}

// NewAt reports whether the type in a slot was written in a row later than since; in any row of the
// chunk, if the type has no versions of rows.
func NewAt(books *table.Books, slot uint16, pos, row int, since uint32) bool {
	if list := books.RowVersions(slot, pos); list != nil {
		return Newer(atomic.LoadUint32(&list[row]), since)
	}
	return Newer(books.Changed(slot, pos), since)
}

// Mark is Component.Mark.
func (r Rows) Mark(t *Type) {
	const op = "Component.Mark"
	p, ok := r.PlaceOf(t, op)
	switch {
	case !ok:
	case p.Flags()&GatedWrite != 0:
		r.Scan.Binding.Archetype.Touch(r.Scan.Borrow, p.Slot(), r.Scan.Pos, r.Scan.First, r.Len())
	case p.Flags()&MayWrite == 0:
		r.Refuse(t, op)
	default:
		*r.Scan.Binding.Archetype.Table.Books.Version(p.Slot(), r.Scan.Pos) = t.World.Tables.Version
	}
}

// markMatching marks the type changed in the rows that match.
func (r Rows) markMatching(t *Type) {
	if !t.Tracked {
		r.Mark(t)
		return
	}
	s, p := r.Scan, r.Scan.Binding.ColumnOf(t.ID)
	touchMask(&s.Binding.Archetype.Table.Books, p.Slot(), s.Pos, r.Mask(), t.World.Tables.Version)
}

// ChangedSince reports whether e has the type and it may have changed after a version.
func (f *Finder) ChangedSince(op string, e entity.ID, since uint32) bool {
	t := f.Known(op)
	a, pos, row := t.seat(op, e)
	if a == nil {
		return false
	}
	f.CheckRead(op)
	return NewAt(&a.Table.Books, a.Table.Places[t.ID].Slot(), pos, row, since)
}
