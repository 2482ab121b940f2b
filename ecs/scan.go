package ecs

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"quarry/bitmask"
	"quarry/ecs/internal/match"
)

// scan is a loop over rows under way: what the three words of a Rows lead to.
// Worlds keep scans for reuse, so a loop allocates nothing. While a scan is
// open the world is locked against structural changes.
type scan struct {
	w      *World
	q      *Query   // whose access the rows have
	t      *sight   // of the archetype that the current rows belong to
	pos    int      // the current rows' chunk, in its grid
	first  int      // the first of the current rows; only batches and loans have another than 0
	scale  uintptr  // of that chunk: see alloc.Grid.Scale
	serial uint32   // of the current rows; others are stale
	dense  bool     // every row of the chunk matches
	filled bool     // mask holds the current rows' snapshot
	open   bool     // the loop is under way; not of a phase's
	own    sight    // of the rows of a batch
	mask   []uint64 // room for the largest chunk seen
	loan   *Loan    // whose reader this is; nil: the owner's or a phase's
}

// loops are what is under way in a world that structural changes would disturb.
type loops struct {
	open    int     // scans that are open, and loans that are out
	scans   []*scan // theirs, and others to be used again; the first is outer
	outer   scan    // of a loop that is not inside others
	batches Query   // that the rows of batches belong to; it matches nothing
	phase   *Phase  // that shares the world with other goroutines; nil: none
	loans   []*Loan // that are out, in the order in which they began
}

// openScan starts a loop and locks the world, which must not be closed. Its two parts are
// small enough to be inlined.
func (w *World) openScan(q *Query) *scan {
	s := w.idleScan()
	w.lock(s, q)
	return s
}

func (w *World) idleScan() *scan {
	if w.loops.open == 0 {
		return &w.loops.outer
	}
	return w.innerScan()
}

func (w *World) lock(s *scan, q *Query) {
	s.q, s.open = q, true
	w.loops.open++
}

// innerScan returns an idle scan for a loop inside others. Mostly as many are busy as loops
// are under way; when iterators were pulled by hand, others may be.
//
//go:noinline
func (w *World) innerScan() *scan {
	if i := w.loops.open; i < len(w.loops.scans) && !w.loops.scans[i].open {
		return w.loops.scans[i]
	}
	for _, s := range w.loops.scans {
		if !s.open {
			return s
		}
	}
	s := &scan{w: w}
	w.loops.scans = append(w.loops.scans, s)
	return s
}

// end ends a loop: its rows are stale from now on. It runs deferred, so the world is
// unlocked after break, return and panic as well. Loops end in the opposite order of
// their beginning, unless an iterator was pulled by hand.
func (s *scan) end() {
	s.turn()
	s.open = false
	s.w.loops.open--
}

// endBatch is end of a loop over a batch.
func (s *scan) endBatch() {
	s.first = 0
	s.end()
}

// loopOver reports whether a loop over the query is under way.
func (w *World) loopOver(q *Query) bool {
	return slices.ContainsFunc(w.loops.scans, func(s *scan) bool { return s.open && s.q == q })
}

// show moves the loop to a chunk of a scale; the rows shown before
// become stale.
func (s *scan) show(pos int, scale uintptr, dense bool) {
	s.turn()
	s.pos, s.scale, s.dense, s.filled = pos, scale, dense, !dense
}

// turn makes the rows shown so far stale, until 2^32 more were shown.
func (s *scan) turn() { s.serial++ }

// words returns the mask's words for n rows.
func (s *scan) words(n int) []uint64 {
	used := (n + 63) / 64
	if used > len(s.mask) {
		s.mask = make([]uint64, used)
	}
	return s.mask[:used]
}

// filter computes the snapshot of matching rows among n of a chunk, from first on, which is a
// multiple of 64. It returns how many match; the mask is filled when that is neither 0 nor n.
// Counts of enabled rows decide most chunks without a look at their bits.
func (s *scan) filter(a *Archetype, tests []match.BitTest, pos, first, n int) (matching int) {
	left := len(tests) // tests that are not decided
	all := a.table.Grid.RowsOf(pos)
	for i := range tests {
		t := &tests[i]
		if len(t.Slots) > 1 {
			continue
		}
		switch a.table.Books.On(t.Slots[0], pos) {
		case all:
			if t.Invert != 0 {
				return 0
			}
			left--
		case 0:
			if t.Invert == 0 {
				return 0
			}
			left--
		}
	}
	if left == 0 {
		return n
	}
	words := s.words(n)
	for i := range words {
		words[i] = ^uint64(0)
	}
	if n%64 != 0 {
		words[len(words)-1] = bitmask.Mask(0, n%64)
	}
	for i := range tests {
		a.narrow(&tests[i], pos, first/64, words)
	}
	for _, word := range words {
		matching += bits.OnesCount64(word)
	}
	return matching
}

// narrow takes the rows out of a mask, whose first word is that of a chunk at from, that fail a
// test. Goroutines may toggle bits meanwhile, see World.Share.
func (a *Archetype) narrow(t *match.BitTest, pos, from int, mask []uint64) {
	if len(t.Slots) == 1 {
		enabled := a.table.Books.Bits(t.Slots[0], pos)[from:]
		for i := range mask {
			mask[i] &= atomic.LoadUint64(&enabled[i]) ^ t.Invert
		}
		return
	}
	for i := range mask {
		either := uint64(0)
		for _, slot := range t.Slots {
			either |= atomic.LoadUint64(&a.table.Books.Bits(slot, pos)[from+i])
		}
		mask[i] &= either
	}
}

// loop says what a loop under way runs over, for messages: the innermost, when loops
// ended in order.
func (w *World) loop() string {
	for _, s := range slices.Backward(w.loops.scans) {
		if s.open {
			return s.name()
		}
	}
	return "while a loan is out" // by a goroutine that has no business here: it may see half of a Begin
}

// name says what the loop runs over, for messages.
func (s *scan) name() string {
	if s.q != nil && s.q != &s.w.loops.batches {
		return "inside a loop over " + s.q.String()
	}
	return "inside a loop over the rows of a batch"
}

// Rows is a span of rows of one chunk: what queries and batches yield. It is
// three words, passed by value, and good until the loop goes on: rows that are
// kept longer are caught when anything but their Len is used.
type Rows struct {
	s    *scan
	base unsafe.Pointer // start of the chunk
	span uint64         // rows 18 bits | 14 unused | serial 32
}

const (
	spanBits = 18 // a megachunk of rows of 8 bytes has 2^17
	mostRows = 1 << spanBits
)

// makeRows returns the n current rows, in the chunk at base.
func makeRows(s *scan, base unsafe.Pointer, n int) Rows {
	return Rows{s, base, uint64(n)<<(64-spanBits) | uint64(s.serial)}
}

func (r Rows) serial() uint32 { return uint32(r.span) }

// Len returns the number of rows, matching or not.
func (r Rows) Len() int { return int(r.span >> (64 - spanBits)) }

// check panics unless the rows are the current ones of a loop.
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
	panic("ecs: " + op + ": the rows are no longer current: the loop that gave them has gone on or ended")
}

// column returns the start of a column of the rows' chunk, marked changed when
// it may be written. It is nil where the chunk lacks an Optional type.
func (r Rows) column(t *typeInfo, op string) unsafe.Pointer {
	s := r.s
	if s == nil || r.serial() != s.serial || t == nil || s.w != t.w {
		return r.missing(t, op)
	}
	p := s.t.columnOf(t.id)
	if p.Flags()&mayWrite != 0 {
		*s.t.a.table.Books.Version(p.Slot(), s.pos) = t.w.tables.Version
	} else if p.Flags()&mayRead == 0 {
		return r.missing(t, op)
	}
	return s.columnAt(r.base, p)
}

func (s *scan) columnAt(base unsafe.Pointer, p place) unsafe.Pointer {
	// Safe because the offset is the column's in the archetype of this chunk.
	return unsafe.Add(base, uintptr(p.Offset)*s.scale)
}

// placeOf is column without the mark; ok is false where it would be nil.
func (r Rows) placeOf(t *typeInfo, op string) (p place, ok bool) {
	s := r.s
	if s != nil && r.serial() == s.serial && t != nil && s.w == t.w {
		if p = s.t.columnOf(t.id); p.Flags()&(mayRead|lentRead) != 0 {
			return p, true
		}
	}
	r.missing(t, op)
	return place{}, false
}

// missing is column for what that does not expect: rows of a loan, and a chunk that lacks an
// Optional type, where it returns nil. It panics when the query does not declare the type.
//
//go:noinline
func (r Rows) missing(t *typeInfo, op string) unsafe.Pointer {
	s := r.check(op)
	if t == nil || s.w != t.w {
		r.refuse(t, op)
	}
	switch p := s.t.columnOf(t.id); {
	case p.Flags()&lentRead != 0:
		s.markLent(p)
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
	case s.q == &s.w.loops.batches:
		panic(fmt.Sprintf("ecs: %s: %v has no %s", op, s.t.a, t.name))
	}
	s.q.refuseAccess(t, op)
}

//go:noinline
func (q *Query) refuseAccess(t *typeInfo, op string) {
	if int(t.id) < len(q.access) && q.access[t.id] != 0 {
		panic(fmt.Sprintf("ecs: %s: %v declares %s to read: use ecs.Write", op, q, t.name))
	}
	panic(fmt.Sprintf("ecs: %s: %v does not declare %s: add ecs.Read or ecs.Write", op, q, t.name))
}

//go:noinline
func (r Rows) noRow(t *typeInfo, i int) {
	kind := "Buffer"
	if t.managed != nil {
		kind = "Managed"
	}
	if uint(i) < uint(r.Len()) {
		panic(fmt.Sprintf("ecs: %s.At: %v has no %s: ask %s.In first", kind, r.s.t.a, t.name, kind))
	}
	panic(fmt.Sprintf("ecs: %s.At: row %d is not in [0, %d)", kind, i, r.Len()))
}

func (r Rows) in(t *typeInfo, op string) bool {
	if s := r.check(op); t != nil && s.w == t.w && s.q == &s.w.loops.batches {
		return s.t.columnOf(t.id).Flags() != 0
	}
	_, ok := r.placeOf(t, op)
	return ok
}

// Entities returns the rows' entities, to read. It is good like Slice's.
func (r Rows) Entities() []Entity {
	r.check("Rows.Entities")
	return entities(r.base, r.s.first+r.Len())[r.s.first:]
}

// Chunk returns the position of the rows' chunk in its archetype, as Archetype.Chunk
// takes it. Changes of the structure may move chunks; Ordered tells.
func (r Rows) Chunk() int { return r.check("Rows.Chunk").pos }

// Archetype returns the archetype that the rows belong to.
func (r Rows) Archetype() *Archetype { return r.check("Rows.Archetype").t.a }
