package ecs

import (
	"slices"
)

// scan is the state of a loop over rows, to which a Rows points. A world keeps its scans for reuse,
// so loops allocate nothing. While a scan is open the world is locked against structural changes.
type scan struct {
	w      *World
	q      *Query   // its access applies to the rows
	t      *binding // of the current rows' archetype
	pos    int      // position of the current chunk in the archetype's store
	first  int      // first of the current rows; nonzero only for batches and borrows
	since  uint32   // the version that the query's terms compare with in this loop, see narrow
	scale  uintptr  // of the current chunk: see alloc.ColumnStore.Scale
	serial uint32   // of the current rows; rows with another serial are stale
	dense  bool     // every row of the chunk matches
	filled bool     // mask holds the snapshot of the current rows
	open   bool     // the loop is in progress; never set for an accessor's scan
	own    binding  // for the rows of a batch
	mask   []uint64 // sized for the largest chunk seen
	seats  []seat   // of the entries that the loop goes through, see walkSet
	b      *Borrow  // the borrow of an accessor's scan; nil for the owner
}

// openScan starts a loop and locks the world, which must not be closed. Its two parts are small
// enough to be inlined.
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

// innerScan returns an idle scan for a loop inside other loops. Usually the first w.loops.open
// scans are busy; if iterators were pulled by hand, others may be.
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

// end ends a loop and makes its rows stale. It runs deferred, so the world is unlocked after break,
// return and panic as well. Loops end in reverse order of their beginning, unless an iterator was
// pulled by hand.
func (s *scan) end() {
	s.turn()
	s.open = false
	s.w.loops.open--
}

// endBatch is end for a loop over a batch.
func (s *scan) endBatch() {
	s.first = 0
	s.end()
}

// shared reports whether everything is borrowed. A goroutine of a borrow asks its own borrow: the
// world's list of borrows is the owner's, who may begin and end others meanwhile.
func (s *scan) shared() bool {
	if s.b != nil {
		return s.b.q == nil
	}
	return s.w.Shared()
}

// loopOver reports whether a loop over the query is in progress.
func (w *World) loopOver(q *Query) bool {
	return slices.ContainsFunc(w.loops.scans, func(s *scan) bool { return s.open && s.q == q })
}

// show moves the loop to the chunk at pos. Rows yielded before become stale.
func (s *scan) show(pos int, scale uintptr, dense bool) {
	s.turn()
	s.pos, s.scale, s.dense, s.filled = pos, scale, dense, !dense
}

// turn makes the rows yielded so far stale. After 2^32 further calls a stale serial recurs.
func (s *scan) turn() { s.serial++ }

// words returns the mask's words for n rows.
func (s *scan) words(n int) []uint64 {
	used := (n + 63) / 64
	if used > len(s.mask) {
		s.mask = make([]uint64, used)
	}
	return s.mask[:used]
}

// setRows sets the first n bits of the words for n rows, and no others. It is small enough to be
// inlined.
func setRows(words []uint64, n int) {
	for i := range words {
		words[i] = ^uint64(0)
	}
	if n%64 != 0 {
		words[len(words)-1] = ^uint64(0) >> (64 - uint(n)%64)
	}
}

// loop describes the loop in progress, for messages: the innermost one, if loops ended in order.
func (w *World) loop() string {
	if w.loops.change != "" {
		return "inside " + w.loops.change
	}
	for _, s := range slices.Backward(w.loops.scans) {
		if s.open {
			return s.name()
		}
	}
	return "while a borrow is out" // by a goroutine that has no business here: it may see half of a Begin
}

// name describes the loop, for messages.
func (s *scan) name() string {
	if s.q != nil && s.q != &s.w.loops.batches {
		return "inside a loop over " + s.q.String()
	}
	return "inside a loop over the rows of a batch"
}
