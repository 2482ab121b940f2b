package world

import "slices"

// Scan is the state of a loop over rows, to which a Rows points. A world keeps its scans for reuse,
// so loops allocate nothing. While a scan is open the world is locked against structural changes.
type Scan struct {
	World   *World
	Query   *Query   // its access applies to the rows
	Binding *binding // of the current rows' archetype
	Pos     int      // position of the current chunk in the archetype's store
	First   int      // first of the current rows; nonzero only for batches and borrows
	Since   uint32   // the version that the query's terms compare with in this loop, see narrow
	Scale   uintptr  // of the current chunk: see alloc.ColumnStore.Scale
	Serial  uint32   // of the current rows; rows with another serial are stale
	Dense   bool     // every row of the chunk matches
	filled  bool     // mask holds the snapshot of the current rows
	open    bool     // the loop is in progress; never set for an accessor's scan
	own     binding  // for the rows of a batch
	mask    []uint64 // sized for the largest chunk seen
	seats   []seat   // of the entries that the loop goes through, see walkSet
	Borrow  *Borrow  // the borrow of an accessor's scan; nil for the owner
}

// OpenScan starts a loop and locks the world, which must not be closed. Its two parts are small
// enough to be inlined.
func (w *World) OpenScan(q *Query) *Scan {
	s := w.idleScan()
	w.lock(s, q)
	return s
}

func (w *World) idleScan() *Scan {
	if w.Loops.Open == 0 {
		return &w.Loops.Outer
	}
	return w.innerScan()
}

func (w *World) lock(s *Scan, q *Query) {
	s.Query, s.open = q, true
	w.Loops.Open++
}

// innerScan returns an idle scan for a loop inside other loops. Usually the first w.loops.open
// scans are busy; if iterators were pulled by hand, others may be.
//
//go:noinline
func (w *World) innerScan() *Scan {
	if i := w.Loops.Open; i < len(w.Loops.Scans) && !w.Loops.Scans[i].open {
		return w.Loops.Scans[i]
	}
	for _, s := range w.Loops.Scans {
		if !s.open {
			return s
		}
	}
	s := &Scan{World: w}
	w.Loops.Scans = append(w.Loops.Scans, s)
	return s
}

// End ends a loop and makes its rows stale. It runs deferred, so the world is unlocked after break,
// return and panic as well. Loops end in reverse order of their beginning, unless an iterator was
// pulled by hand.
func (s *Scan) End() {
	s.Turn()
	s.open = false
	s.World.Loops.Open--
}

// endBatch is end for a loop over a batch.
func (s *Scan) endBatch() {
	s.First = 0
	s.End()
}

// shared reports whether everything is borrowed. A goroutine of a borrow asks its own borrow: the
// world's list of borrows is the owner's, who may begin and end others meanwhile.
func (s *Scan) shared() bool {
	if s.Borrow != nil {
		return s.Borrow.Query == nil
	}
	return s.World.Shared()
}

// loopOver reports whether a loop over the query is in progress.
func (w *World) loopOver(q *Query) bool {
	return slices.ContainsFunc(w.Loops.Scans, func(s *Scan) bool { return s.open && s.Query == q })
}

// show moves the loop to the chunk at pos. Rows yielded before become stale.
func (s *Scan) show(pos int, scale uintptr, dense bool) {
	s.Turn()
	s.Pos, s.Scale, s.Dense, s.filled = pos, scale, dense, !dense
}

// Turn makes the rows yielded so far stale. After 2^32 further calls a stale serial recurs.
func (s *Scan) Turn() { s.Serial++ }

// words returns the mask's words for n rows.
func (s *Scan) words(n int) []uint64 {
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
	if w.Loops.change != "" {
		return "inside " + w.Loops.change
	}
	for _, s := range slices.Backward(w.Loops.Scans) {
		if s.open {
			return s.name()
		}
	}
	return "while a borrow is out" // by a goroutine that has no business here: it may see half of a Begin
}

// name describes the loop, for messages.
func (s *Scan) name() string {
	if s.Query != nil && s.Query != &s.World.Loops.Batches {
		return "inside a loop over " + s.Query.String()
	}
	return "inside a loop over the rows of a batch"
}
