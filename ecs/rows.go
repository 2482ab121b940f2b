package ecs

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"unsafe"
)

// Rows is a span of rows of one chunk, as queries and batches yield it. It is three words, passed
// by value, and valid until the loop advances. After that, every method except Len panics.
type Rows struct {
	s    *scan
	base unsafe.Pointer // start of the chunk
	span uint64         // rows 18 bits | 14 unused | serial 32
}

const (
	spanBits = 18 // a megachunk of rows of 8 bytes has 2^17
	mostRows = 1 << spanBits
)

// makeRows returns the current n rows of the chunk at base.
func makeRows(s *scan, base unsafe.Pointer, n int) Rows {
	return Rows{s, base, uint64(n)<<(64-spanBits) | uint64(s.serial)}
}

func (r Rows) serial() uint32 { return uint32(r.span) }

// Len returns the number of rows, matching or not.
func (r Rows) Len() int { return int(r.span >> (64 - spanBits)) }

// check panics unless the rows are the current rows of a loop.
func (r Rows) check(op string) *scan {
	if r.s == nil || r.serial() != r.s.serial {
		r.stale(op)
	}
	return r.s
}

//go:noinline
func (r Rows) stale(op string) {
	if r.s == nil {
		panic("ecs: " + op + ": the rows are the zero value; rows come from Query.Rows or Batch.Rows")
	}
	// errors.md, Loops and rows: `the rows are no longer current: the loop that gave them has gone
	// on or ended` | Rows were kept. | Take what you need inside the loop: entities are good for
	// ever.
	panic("ecs: " + op + ": the rows are no longer current: the loop that gave them has gone on or ended")
}

// column returns the start of the type's column in the rows' chunk, and marks the column changed if
// the query may write it. It returns nil if the chunk lacks an Optional type.
func (r Rows) column(t *typeInfo, op string) unsafe.Pointer { return r.columnFor(t, op, 0, r.Len()) }

// columnFor is column, of which the caller opens n rows from the first on: if the type tracks rows,
// only they are marked.
func (r Rows) columnFor(t *typeInfo, op string, first, n int) unsafe.Pointer {
	s := r.s
	if s == nil || r.serial() != s.serial || t == nil || s.w != t.w {
		return r.missing(t, op, first, n)
	}
	p := s.t.columnOf(t.id)
	if p.Flags()&mayWrite != 0 {
		*s.t.a.table.Books.Version(p.Slot(), s.pos) = t.w.tables.Version
	} else if p.Flags()&mayRead == 0 {
		return r.missing(t, op, first, n)
	}
	return s.columnAt(r.base, p)
}

func (s *scan) columnAt(base unsafe.Pointer, p place) unsafe.Pointer {
	// Safe because p is the column's place in the archetype of this chunk.
	return unsafe.Add(base, uintptr(p.Offset)*s.scale)
}

// columnTo is columnAt for callers that mark nothing. A gated column that the query may write is
// kept for snapshots: the caller may write it, and mark it later. That of a snapshot is brought
// first.
func (r Rows) columnTo(t *typeInfo, p place) unsafe.Pointer {
	s := r.s
	if p.Flags()&gatedRead != 0 {
		if p.Flags()&gatedWrite != 0 {
			s.t.a.keep(s.b, t, s.pos, s.first, r.Len())
		}
		s.t.a.show(t.id, s.pos, s.first, r.Len())
	}
	return s.columnAt(r.base, p)
}

// placeOf is like column but does not mark the column changed. ok is false where column returns
// nil.
func (r Rows) placeOf(t *typeInfo, op string) (p place, ok bool) {
	s := r.s
	if s != nil && r.serial() == s.serial && t != nil && s.w == t.w {
		if p = s.t.columnOf(t.id); p.Flags()&(mayRead|gatedRead) != 0 {
			return p, true
		}
	}
	r.missing(t, op, 0, 0)
	return place{}, false
}

// missing is the slow path of columnFor. It handles the rows of a borrow's accessor and types that
// track rows, and returns nil if the chunk lacks an Optional type. It panics if the query does not
// declare the type.
//
//go:noinline
func (r Rows) missing(t *typeInfo, op string, first, n int) unsafe.Pointer {
	s := r.check(op)
	if t == nil || s.w != t.w {
		r.refuse(t, op)
	}
	switch p := s.t.columnOf(t.id); {
	case p.Flags()&gatedRead != 0:
		if p.Flags()&gatedWrite != 0 && first >= 0 && n <= r.Len()-first {
			s.t.a.open(s.b, t, s.pos, s.first+first, n) // N4
		}
		s.t.a.show(t.id, s.pos, s.first+max(first, 0), min(n, r.Len()))
		return s.columnAt(r.base, p)
	case p.Flags()&declared == 0:
		r.refuse(t, op)
	}
	return nil
}

//go:noinline
func (r Rows) refuse(t *typeInfo, op string) {
	s := r.check(op)
	switch {
	case t == nil:
		t.world().refuse(op)
	case s.w != t.w:
		panic(fmt.Sprintf("ecs: %s: %s and the rows belong to different worlds", op, t.name))
	case s.q == &s.w.loops.batches && s.t.columnOf(t.id).Flags() == taken:
		t.refuseLent(op)
	case s.b != nil && s.b.past != nil && s.q.declares(t.id):
		t.refusePast(op)
	case s.q == &s.w.loops.batches:
		// errors.md, Loops and rows: `ecs: ...: ... has no ...` | The rows of a batch are of an
		// archetype without the type. | Ask `In`.
		panic(fmt.Sprintf("ecs: %s: %v has no %s", op, s.t.a, t.name))
	}
	s.q.refuseAccess(t, op)
}

//go:noinline
func (q *Query) refuseAccess(t *typeInfo, op string) {
	if q.declares(t.id) {
		panic(fmt.Sprintf("ecs: %s: %v declares %s to read: use ecs.Write", op, q, t.name))
	}
	// errors.md, Loops and rows: `does not declare ...: ...` | The loop asks for a column that its
	// query does not name, or names without access, as `Present(stun)`. | Do what the text says:
	// add `ecs.Read` or `ecs.Write`, or, so that the query matches what it did,
	// `ecs.Present(ecs.Read(stun))`, to switch bits `ecs.Present(ecs.Write(stun))`. Or look the
	// entity up by `Get`.
	write := op == "Component.EnableAt" || op == "Component.DisableAt"
	panic(fmt.Sprintf("ecs: %s: %v does not declare %s: %s", op, q, t.name, q.adviceOn(t, write)))
}

// adviceOn tells the user how to declare a type without changing what the query matches. If a term
// names the type without access, the advice is to add access in that term: a separate Read term
// would match fewer entities. write tells that reading would not do.
func (q *Query) adviceOn(t *typeInfo, write bool) string {
	for _, term := range q.terms {
		switch term.kind {
		case termAny, termOptional, termDisabled, termPresent:
			if slices.ContainsFunc(term.of, func(o operand) bool { return o.t == t }) {
				if write {
					return fmt.Sprintf("say ecs.%s(ecs.Write(%s)) in its term %v", termNames[term.kind], t.name, term)
				}
				return fmt.Sprintf("say ecs.%s(ecs.Read(%s)), or ecs.%[1]s(ecs.Write(%[2]s)) to write, in its term %v", termNames[term.kind], t.name, term)
			}
		}
	}
	if q.ofAll {
		return "it was registered after NewQueryOfAll; make the query anew"
	}
	if write {
		return "add ecs.Write"
	}
	return "add ecs.Read or ecs.Write"
}

//go:noinline
func (r Rows) noRow(t *typeInfo, i int) {
	kind := "Buffer"
	if t.kind == KindManaged {
		kind = "Managed"
	}
	if uint(i) < uint(r.Len()) {
		panic(fmt.Sprintf("ecs: %s.At: %v has no %s: ask %s.In first", kind, r.s.t.a, t.name, kind))
	}
	panic(fmt.Sprintf("ecs: %s.At: row %d is not in [0, %d)", kind, i, r.Len()))
}

// checkRow panics unless there is an i'th row.
func (r Rows) checkRow(op string, i int) {
	if uint(i) >= uint(r.Len()) {
		// errors.md, Loops and rows: `is not in [0, ...)`, `is not in [0, ...]`, `is not a range
		// within [0, ...)` | A row, an element or a chunk that is not there. | The text has both
		// numbers; `rows.Each()` gives those that are.
		panic(fmt.Sprintf("ecs: %s: row %d is not in [0, %d)", op, i, r.Len()))
	}
}

func (r Rows) in(t *typeInfo, op string) bool {
	if s := r.check(op); t != nil && s.w == t.w && s.q == &s.w.loops.batches {
		return s.t.columnOf(t.id).Flags() != 0
	}
	_, ok := r.placeOf(t, op)
	return ok
}

// Entities returns the entities of the rows, for reading. The slice is valid as long as one from
// Component.Slice.
func (r Rows) Entities() []Entity {
	r.check("Rows.Entities")
	return entities(r.base, r.s.first+r.Len())[r.s.first:]
}

// Chunk returns the position of the rows' chunk in its archetype, as Archetype.Chunk takes it.
// Structural changes may move chunks; Ordered detects that.
func (r Rows) Chunk() int { return r.check("Rows.Chunk").pos }

// Archetype returns the archetype of the rows.
func (r Rows) Archetype() *Archetype { return r.check("Rows.Archetype").t.a }

// Ordered reports whether rows entered or left the rows' chunk, or were reordered in it, since the
// given version. It returns true for version 0.
func (r Rows) Ordered(since uint32) bool {
	s := r.check("Rows.Ordered")
	return newer(s.t.a.table.Books.Ordered(s.pos), since)
}

// Matching rows. Where the query names no Enableable or sparse type and has no Masked term all rows
// match, and Dense returns true. The mask is a snapshot taken when the loop reached the chunk:
// toggling a row does not change it.

// Dense reports whether every row matches. If so, a plain loop over the slices visits exactly the
// matching rows.
func (r Rows) Dense() bool { return r.check("Rows.Dense").dense }

// Mask returns one bit per row, in words of 64 bits. A bit is set if its row matches; bits beyond
// the last row are 0. The mask is valid until the loop advances and must not be written.
func (r Rows) Mask() []uint64 {
	s := r.check("Rows.Mask")
	words := s.words(r.Len())
	if !s.filled {
		setRows(words, r.Len())
		s.filled = true
	}
	return words
}

// Count returns the number of rows that match.
func (r Rows) Count() int {
	if r.check("Rows.Count").dense {
		return r.Len()
	}
	n := 0
	for _, w := range r.Mask() {
		n += bits.OnesCount64(w)
	}
	return n
}

// Each yields the index of every row that matches, in ascending order, for use with the slices of
// the same rows. It inlines into the loop, but for a loop in a closure that the compiler copies,
// see docs/ecs.md. If the rows are Dense, a range over a slice visits the same rows. Rows of a
// batch are always dense, and so are rows of a query that names no Enableable or sparse type and
// has no Masked term.
func (r Rows) Each() iter.Seq[int] {
	mask := r.Mask()
	return func(yield func(int) bool) {
		for i, word := range mask {
			for ; word != 0; word &= word - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// first returns the first row that matches, or 0 if none does.
func (r Rows) first() int {
	for row := range r.Each() {
		return row
	}
	return 0
}

// Runs yields every maximal run [lo, hi) of matching rows, in ascending order, as vectorized
// kernels take them.
func (r Rows) Runs() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) { walkRuns(r.Mask(), r.Len(), yield) }
}

func walkRuns(mask []uint64, n int, yield func(int, int) bool) {
	for lo := nextBit(mask, 0, n, 0); lo < n; {
		hi := nextBit(mask, lo, n, ^uint64(0))
		if !yield(lo, hi) {
			return
		}
		lo = nextBit(mask, hi, n, 0)
	}
}

// nextBit returns the first i in [from, n) whose bit differs from the bits of same, or n if there
// is none.
func nextBit(mask []uint64, from, n int, same uint64) int {
	for from < n {
		word := (mask[from/64] ^ same) >> (from % 64)
		if word != 0 {
			return min(n, from+bits.TrailingZeros64(word))
		}
		from = from&^63 + 64
	}
	return n
}
