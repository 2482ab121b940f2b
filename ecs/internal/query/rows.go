package query

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Rows is ecs.Rows.
type Rows struct {
	Scan *Scan
	Base unsafe.Pointer // start of the chunk
	Span uint64         // rows 18 bits | 14 unused | serial 32
}

// A Rows has the number of its rows in SpanBits bits.
const (
	SpanBits = 18 // a megachunk of rows of 8 bytes has 2^17
	MostRows = 1 << SpanBits
)

// MakeRows returns the current n rows of the chunk at base.
func MakeRows(s *Scan, base unsafe.Pointer, n int) Rows {
	return Rows{s, base, uint64(n)<<(64-SpanBits) | uint64(s.Serial)}
}

func (r Rows) serial() uint32 { return uint32(r.Span) }

// Len is ecs.Rows.Len.
func (r Rows) Len() int { return int(r.Span >> (64 - SpanBits)) }

// Check panics unless the rows are the current rows of a loop.
func (r Rows) Check(op string) *Scan {
	if r.Scan == nil || r.serial() != r.Scan.Serial {
		r.stale(op)
	}
	return r.Scan
}

//go:noinline
func (r Rows) stale(op string) {
	if r.Scan == nil {
		panic("ecs: " + op + ": the rows are the zero value; rows come from Query.Rows or Batch.Rows")
	}
	panic("ecs: " + op + ": the rows are no longer current: the loop that gave them has gone on or ended")
}

// Column returns the start of the type's column in the rows' chunk, and marks the column changed if
// the query may write it. It returns nil if the chunk lacks an Optional type.
func (r Rows) Column(t *world.Type, op string) unsafe.Pointer { return r.ColumnFor(t, op, 0, r.Len()) }

// ColumnFor is Column for a caller that writes only n of the rows, from first on: if the type
// tracks rows, only these are marked changed.
func (r Rows) ColumnFor(t *world.Type, op string, first, n int) unsafe.Pointer {
	s := r.Scan
	if s == nil || r.serial() != s.Serial || t == nil || s.World != t.World {
		return r.Missing(t, op, first, n)
	}
	p := s.Binding.ColumnOf(t.ID)
	if p.Flags()&world.MayWrite != 0 {
		*s.Binding.Archetype.Table.Metadata.Version(p.Slot(), s.Pos) = t.World.Tables.Version
	} else if p.Flags()&world.MayRead == 0 {
		return r.Missing(t, op, first, n)
	}
	return s.columnAt(r.Base, p)
}

func (s *Scan) columnAt(base unsafe.Pointer, p world.Place) unsafe.Pointer {
	// Safe because p is the column's place in the archetype of this chunk.
	return unsafe.Add(base, uintptr(p.Offset)*s.Scale)
}

// ColumnTo is Column for callers that mark nothing. A column with a write barrier that the query
// may write is kept for snapshots: the caller may write it, and mark it later. That of a snapshot
// is loaded first.
func (r Rows) ColumnTo(t *world.Type, p world.Place) unsafe.Pointer {
	s := r.Scan
	if p.Flags()&world.BarrierRead != 0 {
		if p.Flags()&world.BarrierWrite != 0 {
			s.Binding.Archetype.Keep(s.Borrow.LeaseOrNil(), t, s.Pos, s.First, r.Len())
		}
		s.Binding.Archetype.Load(t.ID, s.Pos, s.First, r.Len())
	}
	return s.columnAt(r.Base, p)
}

// PlaceOf is like Column but does not mark the column changed. ok is false where Column returns
// nil.
func (r Rows) PlaceOf(t *world.Type, op string) (p world.Place, ok bool) {
	s := r.Scan
	if s != nil && r.serial() == s.Serial && t != nil && s.World == t.World {
		if p = s.Binding.ColumnOf(t.ID); p.Flags()&(world.MayRead|world.BarrierRead) != 0 {
			return p, true
		}
	}
	r.Missing(t, op, 0, 0)
	return world.Place{}, false
}

// Missing is the slow path of ColumnFor. It handles the rows of a borrow's accessor and types that
// track rows, and returns nil if the chunk lacks an Optional type. It panics if the query does not
// declare the type.
//
//go:noinline
func (r Rows) Missing(t *world.Type, op string, first, n int) unsafe.Pointer {
	s := r.Check(op)
	if t == nil || s.World != t.World {
		r.Refuse(t, op)
	}
	switch p := s.Binding.ColumnOf(t.ID); {
	case p.Flags()&world.BarrierRead != 0:
		if p.Flags()&world.BarrierWrite != 0 && first >= 0 && n <= r.Len()-first {
			s.Binding.Archetype.Open(s.Borrow.LeaseOrNil(), t, s.Pos, s.First+first, n) // N4
		}
		s.Binding.Archetype.Load(t.ID, s.Pos, s.First+max(first, 0), min(n, r.Len()))
		return s.columnAt(r.Base, p)
	case p.Flags()&declared == 0:
		r.Refuse(t, op)
	}
	return nil
}

// Refuse panics with the reason why the rows do not give access to a type.
//
//go:noinline
func (r Rows) Refuse(t *world.Type, op string) {
	s := r.Check(op)
	switch {
	case t == nil:
		t.WorldOrNil().Refuse(op)
	case s.World != t.World:
		panic(fmt.Sprintf("ecs: %s: %s and the rows belong to different worlds", op, t.Name))
	case s.Query == BatchesOf(s.World) && s.Binding.ColumnOf(t.ID).Flags() == world.Taken:
		t.RefuseLent(op)
	case s.Borrow != nil && s.Borrow.Past && s.Query.declares(t.ID):
		t.RefusePast(op)
	case s.Query == BatchesOf(s.World):
		panic(fmt.Sprintf("ecs: %s: %v has no %s", op, s.Binding.Archetype, t.Name))
	}
	s.Query.refuseAccess(t, op)
}

//go:noinline
func (q *Query) refuseAccess(t *world.Type, op string) {
	if q.declares(t.ID) {
		panic(fmt.Sprintf("ecs: %s: %v declares %s to read: use ecs.Write", op, q, t.Name))
	}
	write := op == "Component.EnableAt" || op == "Component.DisableAt"
	panic(fmt.Sprintf("ecs: %s: %v does not declare %s: %s", op, q, t.Name, q.adviceOn(t, write)))
}

// adviceOn returns advice on how to declare a type without changing what the query matches. If a
// term names the type without access, the advice is to add access in that term: a separate Read
// term would match fewer entities. write is set if reading is not enough.
func (q *Query) adviceOn(t *world.Type, write bool) string {
	for _, term := range q.Terms {
		switch term.Kind {
		case TermAny, TermOptional, TermDisabled, TermPresent:
			if slices.ContainsFunc(term.Of, func(o Operand) bool { return o.Type == t }) {
				if write {
					return fmt.Sprintf("say ecs.%s(ecs.Write(%s)) in its term %v", TermNames[term.Kind], t.Name, term)
				}
				return fmt.Sprintf("say ecs.%s(ecs.Read(%s)), or ecs.%[1]s(ecs.Write(%[2]s)) to write, in its term %v",
					TermNames[term.Kind], t.Name, term)
			}
		}
	}
	if q.OfAll {
		return "it was registered after NewQueryOfAll; make the query anew"
	}
	if write {
		return "add ecs.Write"
	}
	return "add ecs.Read or ecs.Write"
}

// NoRow panics for a row that is not there, or whose chunk lacks the type.
//
//go:noinline
func (r Rows) NoRow(t *world.Type, i int) {
	kind := "Buffer"
	if t.Kind == world.KindManaged {
		kind = "Managed"
	}
	if uint(i) < uint(r.Len()) {
		panic(fmt.Sprintf("ecs: %s.At: %v has no %s: ask %s.In first", kind, r.Scan.Binding.Archetype, t.Name, kind))
	}
	panic(fmt.Sprintf("ecs: %s.At: row %d is not in [0, %d)", kind, i, r.Len()))
}

// CheckRow panics unless there is an i'th row.
func (r Rows) CheckRow(op string, i int) {
	if uint(i) >= uint(r.Len()) {
		panic(fmt.Sprintf("ecs: %s: row %d is not in [0, %d)", op, i, r.Len()))
	}
}

// In reports whether the rows' chunk has the type.
func (r Rows) In(t *world.Type, op string) bool {
	if s := r.Check(op); t != nil && s.World == t.World && s.Query == BatchesOf(s.World) {
		return s.Binding.ColumnOf(t.ID).Flags() != 0
	}
	_, ok := r.PlaceOf(t, op)
	return ok
}

// Entities is ecs.Rows.Entities.
func (r Rows) Entities() []entity.ID {
	r.Check("Rows.Entities")
	return world.Entities(r.Base, r.Scan.First+r.Len())[r.Scan.First:]
}

// Mask is ecs.Rows.Mask.
func (r Rows) Mask() []uint64 {
	s := r.Check("Rows.Mask")
	words := s.maskFor(r.Len())
	if !s.filled {
		fillMask(words, r.Len())
		s.filled = true
	}
	return words
}

// Count is ecs.Rows.Count.
func (r Rows) Count() int {
	if r.Check("Rows.Count").Dense {
		return r.Len()
	}
	n := 0
	for _, w := range r.Mask() {
		n += bits.OnesCount64(w)
	}
	return n
}

// First returns the first row that matches, or 0 if none does.
func (r Rows) First() int {
	for i, word := range r.Mask() {
		if word != 0 {
			return i<<6 + bits.TrailingZeros64(word)
		}
	}
	return 0
}

// Runs is ecs.Rows.Runs.
func (r Rows) Runs() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { world.WalkRuns(r.Mask(), r.Len(), yield) }
}

// OpenAt returns the buffer of the i'th row of rows.
func OpenAt(t *world.Type, rows Rows, i int) world.RawBuffer {
	column := rows.ColumnFor(t, "Buffer.At", i, 1)
	if uint(i) >= uint(rows.Len()) || column == nil {
		rows.NoRow(t, i)
	}
	write := rows.Scan.Binding.ColumnOf(t.ID).Flags()&(world.MayWrite|world.BarrierWrite) != 0
	return world.RawBuffer{
		Lookup: rows.Scan.Borrow.LeaseOrNil().LookupOf(t), Head: value.HeaderAt(column, rows.Scan.First+i,
			uint32(t.Size)), Epoch: rows.Scan.Binding.Archetype.World.Writer.Epoch, Write: write,
	}
}
