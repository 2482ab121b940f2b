package ecs

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"quarry/bitmask"
)

// scan is a loop over rows under way: what the three words of a Rows lead to.
// Worlds keep scans for reuse, so a loop allocates nothing. While a scan is
// open the world is locked against structural changes.
type scan struct {
	w      *World
	q      *Query   // whose access the rows have
	t      *sight   // of the archetype that the current rows belong to
	pos    int      // the current rows' chunk, in its grid
	order  uint32   // of that chunk
	serial uint32   // of the current rows, 28 bits; others are stale
	dense  bool     // every row of the chunk matches
	filled bool     // mask holds the current rows' snapshot
	outer  *scan    // the loop around this one, or the next idle scan
	own    sight    // of the rows of a batch
	mask   []uint64 // room for the largest chunk seen
}

// openScan starts a loop and locks the world. Its two parts are small enough to be
// inlined.
func (w *World) openScan(q *Query) *scan {
	s := w.idleScan()
	w.lock(s, q)
	return s
}

func (w *World) idleScan() *scan {
	s := w.idle
	if s == nil {
		return w.newScan()
	}
	w.idle = s.outer
	return s
}

func (w *World) lock(s *scan, q *Query) {
	s.q, s.outer = q, w.loops
	w.loops = s
}

// newScan makes a scan where none is idle. A closed world has none.
//
//go:noinline
func (w *World) newScan() *scan {
	if w.closed {
		w.refuse("Query.Rows")
	}
	return &scan{w: w}
}

// closeScan ends a loop: its rows are stale from now on. It runs deferred, so
// the world is unlocked after break, return and panic as well. Loops end in the
// opposite order of their beginning, unless an iterator was pulled by hand; then
// this one is looked for.
func (w *World) closeScan(s *scan) {
	at := &w.loops
	for *at != s {
		at = &(*at).outer
	}
	*at = s.outer
	s.turn()
	s.outer, w.idle = w.idle, s
}

// show moves the loop to a chunk; the rows shown before become stale.
func (s *scan) show(pos int, order uint32, dense bool) {
	s.turn()
	s.pos, s.order, s.dense, s.filled = pos, order, dense, !dense
}

// turn makes the rows shown so far stale, until 2^28 more were shown.
func (s *scan) turn() { s.serial = (s.serial + 1) & serialMask }

// words returns the mask's words for n rows.
func (s *scan) words(n int) []uint64 {
	used := (n + 63) / 64
	if used > len(s.mask) {
		s.mask = make([]uint64, used)
	}
	return s.mask[:used]
}

// filter computes the snapshot of matching rows of a chunk with n rows, and
// returns how many match; the mask is filled when that is neither 0 nor n. Counts
// of enabled rows decide most chunks without a look at their bits.
func (s *scan) filter(a *Archetype, tests []bitTest, pos, n int) (matching int) {
	left := len(tests) // tests that are not decided
	for i := range tests {
		t := &tests[i]
		if len(t.slots) > 1 {
			continue
		}
		switch int(atomic.LoadInt32(&a.on[t.slots[0]][pos])) {
		case n:
			if t.invert != 0 {
				return 0
			}
			left--
		case 0:
			if t.invert == 0 {
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
		tests[i].narrow(a, pos, words)
	}
	for _, word := range words {
		matching += bits.OnesCount64(word)
	}
	return matching
}

// narrow takes the rows out of a mask that fail the test. Goroutines may toggle
// bits meanwhile, see World.Share.
func (t *bitTest) narrow(a *Archetype, pos int, mask []uint64) {
	if len(t.slots) == 1 {
		enabled := a.enabled[t.slots[0]][pos]
		for i := range mask {
			mask[i] &= atomic.LoadUint64(&enabled[i]) ^ t.invert
		}
		return
	}
	for i := range mask {
		either := uint64(0)
		for _, slot := range t.slots {
			either |= atomic.LoadUint64(&a.enabled[slot][pos][i])
		}
		mask[i] &= either
	}
}

// name says what the loop runs over, for messages.
func (s *scan) name() string {
	if s.q != nil && s.q != &s.w.batches {
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
	span uint64         // serial 28 bits | rows 18 | first row 18
}

const (
	spanBits   = 18 // a megachunk of rows of 8 bytes has 2^17
	spanMask   = 1<<spanBits - 1
	serialMask = 1<<(64-2*spanBits) - 1
)

func makeRows(s *scan, base unsafe.Pointer, lo, n int) Rows {
	return Rows{s, base, uint64(s.serial)<<(2*spanBits) | uint64(n)<<spanBits | uint64(lo)}
}

func (r Rows) lo() int        { return int(r.span & spanMask) }
func (r Rows) serial() uint32 { return uint32(r.span >> (2 * spanBits)) }

// Len returns the number of rows, matching or not.
func (r Rows) Len() int { return int(r.span >> spanBits & spanMask) }

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
func (r Rows) column(w *World, id typeID, op string) unsafe.Pointer {
	s := r.s
	if s == nil || r.serial() != s.serial || s.w != w {
		r.missing(w, id, op)
		return nil
	}
	p := s.t.columnOf(id)
	if p.flags&mayWrite != 0 {
		*s.t.a.changedOf(p.slot, s.pos) = w.version
	} else if p.flags&mayRead == 0 {
		r.missing(w, id, op)
		return nil
	}
	return s.columnAt(r.base, p)
}

func (s *scan) columnAt(base unsafe.Pointer, p place) unsafe.Pointer {
	// Safe because the offset is the column's in the archetype of this chunk.
	return unsafe.Add(base, uintptr(p.offset)<<(s.order&31))
}

// placeOf is column without the mark; ok is false where it would be nil.
func (r Rows) placeOf(w *World, id typeID, op string) (p place, ok bool) {
	s := r.s
	if s != nil && r.serial() == s.serial && s.w == w {
		if p = s.t.columnOf(id); p.flags&mayRead != 0 {
			return p, true
		}
	}
	r.missing(w, id, op)
	return place{}, false
}

// missing panics unless the query declares a type that the chunk need not have.
//
//go:noinline
func (r Rows) missing(w *World, id typeID, op string) {
	s := r.check(op)
	if s.w == w && s.t.columnOf(id).flags&declared != 0 {
		return
	}
	r.refuse(w, id, op)
}

//go:noinline
func (r Rows) refuse(w *World, id typeID, op string) {
	s := r.check(op)
	switch {
	case w == nil:
		w.refuse(op)
	case s.w != w:
		panic(fmt.Sprintf("ecs: %s: %s and the rows belong to different worlds", op, w.types[id].name))
	case s.q == &s.w.batches:
		panic(fmt.Sprintf("ecs: %s: %v has no %s", op, s.t.a, w.types[id].name))
	}
	s.q.refuseAccess(id, op)
}

//go:noinline
func (q *Query) refuseAccess(id typeID, op string) {
	name := q.w.types[id].name
	if int(id) < len(q.access) && q.access[id] != 0 {
		panic(fmt.Sprintf("ecs: %s: %v declares %s to read: use ecs.Write", op, q, name))
	}
	panic(fmt.Sprintf("ecs: %s: %v does not declare %s: add ecs.Read or ecs.Write", op, q, name))
}

//go:noinline
func (r Rows) noRow(w *World, id typeID, i int) {
	if uint(i) < uint(r.Len()) {
		panic(fmt.Sprintf("ecs: Buffer.At: %v has no %s: ask Buffer.In first", r.s.t.a, w.types[id].name))
	}
	panic(fmt.Sprintf("ecs: Buffer.At: row %d is not in [0, %d)", i, r.Len()))
}

// In reports whether the rows' chunk has the component, which Optional and Any, and
// batches over several archetypes, leave open. It panics for a type that the query does
// not declare.
func (c Component[T]) In(rows Rows) bool { return rows.in(c.w, c.id, "Component.In") }

// In is Component.In for a buffer.
func (b Buffer[T]) In(rows Rows) bool { return rows.in(b.w, b.id, "Buffer.In") }

func (r Rows) in(w *World, id typeID, op string) bool {
	if s := r.check(op); s.w == w && s.q == &s.w.batches {
		return s.t.columnOf(id).flags != 0
	}
	_, ok := r.placeOf(w, id, op)
	return ok
}

// Entities returns the rows' entities, to read. It is good like Slice's.
func (r Rows) Entities() []Entity {
	r.check("Rows.Entities")
	return entities(r.base, r.lo()+r.Len())[r.lo():]
}

// Chunk returns the position of the rows' chunk in its archetype, as Archetype.Chunk
// takes it. Changes of the structure may move chunks; Ordered tells.
func (r Rows) Chunk() int { return r.check("Rows.Chunk").pos }

// Archetype returns the archetype that the rows belong to.
func (r Rows) Archetype() *Archetype { return r.check("Rows.Archetype").t.a }
