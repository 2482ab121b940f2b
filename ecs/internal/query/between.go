package query

import (
	"fmt"
	"reflect"
	"slices"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/world"
)

// Ranges. A Between term passes only chunks that may have a row whose field lies in a range. It
// compares the range with the bounds of the field in the chunk, the least and the greatest number,
// which the metadata of a table keeps (ecs/internal/table/bounds.go). Bounds are taken from the
// column when a loop first asks for them after a change of the chunk, so writes cost nothing more.
//
//	chunk        0             1             2             3
//	bounds       2.10 2.41     2.41 2.77     2.77 3.02     3.02 5.20
//	Between 2.5 and 2.6        shown
//
// The goroutines of a borrow load bounds and store none: where the bounds of a chunk are not known,
// they measure the rows that they are given. Begin takes the bounds that are not known, unless
// another borrow writes the type.

// FieldRange is the range of a field.
type FieldRange struct {
	Type      *world.Type
	Field     table.Field
	Low, High uint64 // keys, see table.KeyOf; nothing is in the range if low is greater
	Show      func() string
}

func (s *FieldRange) text(masked bool) string {
	text := "Between " + s.Type.Name + fieldName(s.Type.Go, s.Field.Offset) + " " + s.Show()
	if masked {
		text += " masked"
	}
	return text
}

// fieldName returns how Go names the field of a type at an offset: .X, .V[2] or, of a number,
// nothing.
func fieldName(t reflect.Type, at uintptr) string {
	switch t.Kind() {
	case reflect.Array:
		i := at / t.Elem().Size()
		return fmt.Sprintf("[%d]", i) + fieldName(t.Elem(), at-i*t.Elem().Size())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); at >= f.Offset && at < f.Offset+f.Type.Size() {
				return "." + f.Name + fieldName(f.Type, at-f.Offset)
			}
		}
	}
	return ""
}

// EndBorrows ends the borrows of queries that have the range, whose goroutines read it.
func (s *FieldRange) EndBorrows(op string) {
	w := s.Type.World
	w.CheckHandle(op)
	w.CheckNotLent(op)
	for _, b := range w.Loops.Borrows {
		if slices.ContainsFunc(borrowOf(b).own.Ranges, func(r QueryRange) bool { return r.FieldRange == s }) {
			w.EndBorrows(op)
			return
		}
	}
}

// chunkPasses reports whether n rows of a chunk, from first on, may have one in the range. b is the
// borrow whose goroutine asks, or nil for the owner.
func (r *QueryRange) chunkPasses(q *Query, b *Borrow, a *world.Archetype, pos, first, n int) bool {
	if r.Low > r.High {
		return false
	}
	e := r.Extent(q, b, a, pos, first, n)
	return e.Least <= r.High && e.Greatest >= r.Low
}

// Extent returns the extent of the field in the chunk, or in n of its rows from first on.
func (r *QueryRange) Extent(q *Query, b *Borrow, a *world.Archetype, pos, first, n int) table.Extent {
	metadata, slot := &a.Table.Metadata, a.Table.Places[r.Type.ID].Slot()
	kept := metadata.FindBounds(slot, r.Field)
	if e, ok := kept.Load(metadata, pos); ok {
		return e
	}
	if b == nil && kept == nil && len(q.World.Loops.Borrows) == 0 { // goroutines read the list of bounds
		metadata.KeepBounds(slot, r.Field)
		kept = metadata.FindBounds(slot, r.Field)
	}
	keep := kept != nil && (b == nil || b.Query == nil) && q.settle(b, metadata, slot, pos)
	e := a.Table.Measure(r.Type.ID, r.Field, pos, first, n)
	if keep {
		kept.Store(metadata, pos, e)
	}
	return e
}

// settle reports whether the next write to a chunk will show in its versions. If not, it begins a
// new version where it may.
func (q *Query) settle(b *Borrow, metadata *table.Metadata, slot uint16, pos int) bool {
	if metadata.Settled(slot, pos, q.World.Tables.Version) {
		return true
	}
	if b != nil || q.Pinned || q.World.Lent() {
		return false
	}
	q.World.Advance()
	return true
}

// measure takes the bounds of all chunks of bindings that are not known, before the rows are lent.
func (q *Query) measure(bindings []Binding) {
	for i := range q.Ranges {
		r := &q.Ranges[i]
		if r.Type.Writers > 0 {
			continue
		}
		for k := range bindings {
			a := bindings[k].Archetype
			for pos := range a.Table.Store.Chunks() {
				if !q.Pinned ||
					a.Table.Metadata.Settled(a.Table.Places[r.Type.ID].Slot(), pos, q.World.Tables.Version) {
					r.Extent(q, nil, a, pos, 0, a.Table.Store.RowsOf(pos))
				}
			}
		}
	}
}

// covers reports whether all rows of a chunk are known to be in the range.
func (r *QueryRange) covers(a *world.Archetype, pos int) bool {
	metadata := &a.Table.Metadata
	e, ok := metadata.FindBounds(a.Table.Places[r.Type.ID].Slot(), r.Field).Load(metadata, pos)
	return ok && !e.NaNs && e.Least >= r.Low && e.Greatest <= r.High
}

// InRanges reports whether a row is in the query's masked ranges.
func (q *Query) InRanges(a *world.Archetype, pos, row int) bool {
	mask := [1]uint64{1}
	for i := range q.Ranges {
		if r := &q.Ranges[i]; r.masked {
			a.Table.Narrow(r.Type.ID, r.Field, pos, row, 1, r.Low, r.High, mask[:])
		}
	}
	return mask[0] != 0
}

// CheckExact panics for a query that passes chunks by a range and shows all their rows: a change
// has no loop that compares them.
func (q *Query) CheckExact(op string) {
	for i := range q.Ranges {
		if !q.Ranges[i].masked {
			panic(fmt.Sprintf("ecs: %s: %v shows whole chunks: take the term of its Between with Masked", op, q))
		}
	}
}
