package ecs

import (
	"fmt"
	"math/bits"
	"unsafe"

	"quarry/bitmask"
)

// scan is a loop over rows under way: what the three words of a Rows lead to.
// Worlds keep scans for reuse, so a loop allocates nothing. While a scan is
// open the world is locked against structural changes.
type scan struct {
	w      *World
	q      *Query     // nil for the rows of a batch
	a      *Archetype // that the current rows belong to
	place  []place    // by typeID: where the columns are and what may be done
	pos    int        // the current rows' chunk, in its grid
	order  uint32     // of that chunk
	serial uint32     // of the current rows, 28 bits; others are stale
	dense  bool       // every row of the chunk matches
	filled bool       // mask holds the current rows' snapshot
	outer  *scan      // the loop around this one, or the next idle scan
	mask   []uint64   // room for the largest chunk seen
}

// openScan starts a loop and locks the world.
func (w *World) openScan(q *Query) *scan {
	if w.closed {
		w.refuse("Query.Rows")
	}
	s := w.idle
	if s == nil {
		s = &scan{w: w}
	} else {
		w.idle = s.outer
	}
	s.q, s.outer = q, w.loops
	w.loops = s
	return s
}

// closeScan ends a loop: its rows are stale from now on. It runs deferred, so
// the world is unlocked after break, return and panic as well. Loops end in the
// opposite order of their beginning, unless an iterator was pulled by hand; then
// this one is looked for.
func (w *World) closeScan(s *scan) {
	s.turn()
	at := &w.loops
	for *at != s {
		at = &(*at).outer
	}
	*at = s.outer
	s.a, s.place = nil, nil
	s.outer, w.idle = w.idle, s
}

// enter moves the loop to an archetype.
func (s *scan) enter(a *Archetype, place []place) { s.a, s.place = a, place }

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
// returns how many match.
func (s *scan) filter(a *Archetype, tests []bitTest, pos, n int) (matching int) {
	words := s.words(n)
	for i := range words {
		m := ^uint64(0)
		for _, t := range tests {
			m &= a.enabled[t.slot][pos][i] ^ t.invert
		}
		if i == len(words)-1 {
			m &= bitmask.Mask(0, n-i*64)
		}
		words[i] = m
		matching += bits.OnesCount64(m)
	}
	return matching
}

// name says what the loop runs over, for messages.
func (s *scan) name() string {
	if s.q != nil {
		return s.q.String()
	}
	return "the rows of a batch"
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
// it may be written.
func (r Rows) column(w *World, id typeID, op string) unsafe.Pointer {
	s := r.s
	if s == nil || r.serial() != s.serial || s.w != w || int(id) >= len(s.place) {
		r.refuse(w, id, op)
	}
	p := s.place[id]
	if p.flags&mayWrite != 0 {
		s.a.changed[p.slot][s.pos] = w.version
	} else if p.flags == 0 {
		r.refuse(w, id, op)
	}
	// Safe because the offset is the column's in the archetype of this chunk.
	return unsafe.Add(r.base, uintptr(p.offset)<<(s.order&31))
}

//go:noinline
func (r Rows) refuse(w *World, id typeID, op string) {
	s := r.check(op)
	switch {
	case w == nil:
		w.refuse(op)
	case s.w != w:
		panic(fmt.Sprintf("ecs: %s: %s and the rows belong to different worlds", op, w.types[id].name))
	case s.q == nil:
		panic(fmt.Sprintf("ecs: %s: %v has no %s", op, s.a, w.types[id].name))
	}
	panic(fmt.Sprintf("ecs: %s: %v does not declare %s: add ecs.Read or ecs.Write", op, s.q, w.types[id].name))
}

func (r Rows) changedSince(w *World, id typeID, since uint32) bool {
	s := r.s
	if s == nil || r.serial() != s.serial || s.w != w || int(id) >= len(s.place) || s.place[id].flags == 0 {
		r.refuse(w, id, "Component.Changed")
	}
	return int32(s.a.changed[s.place[id].slot][s.pos]-since) > 0
}

// Entities returns the rows' entities, to read. It is good like Slice's.
func (r Rows) Entities() []Entity {
	r.check("Rows.Entities")
	return entities(r.base, r.lo()+r.Len())[r.lo():]
}

// Archetype returns the archetype that the rows belong to.
func (r Rows) Archetype() *Archetype { return r.check("Rows.Archetype").a }
