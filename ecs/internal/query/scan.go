package query

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"quarry/ecs/internal/world"
	"quarry/internal/debug"
)

// Scans: how loops are opened and ended, and what their rows point to. The struct is in query.go.

// scans are the scans of a world.
type scans struct {
	List    []*Scan  // open scans, and idle scans for reuse; the first is Outer
	Outer   Scan     // the scan of a loop that is not inside another
	first   [1]*Scan // List of a world without another
	batches Query    // the query of the rows of batches; it matches nothing
}

func init() { world.OnLoops(OpenScans, nameOfLoop, countScans) }

// OpenScans makes the scans of a world that is opened.
func OpenScans(w *world.World) {
	all := new(scans)
	all.first[0], all.Outer.World = &all.Outer, w
	all.List = all.first[:]
	all.Outer.loop = 1
	w.Loops.Scans = unsafe.Pointer(all) // Safe because ScansOf alone reads it.
}

// ScansOf returns the scans of a world.
func ScansOf(w *world.World) *scans { return (*scans)(w.Loops.Scans) } // Safe because OpenScans alone sets it.

// BatchesOf returns the query of the rows of batches.
func BatchesOf(w *world.World) *Query { return &ScansOf(w).batches }

// nameOfLoop describes the loop in progress: the innermost one, if loops ended in order.
func nameOfLoop(w *world.World) string {
	for _, s := range slices.Backward(ScansOf(w).List) {
		if s.open {
			return s.name()
		}
	}
	return ""
}

// countScans returns the number of open scans (O1).
func countScans(w *world.World) (open int, err error) {
	all := ScansOf(w)
	for _, s := range all.List {
		if s.open {
			open++
		}
	}
	if all.List[0] != &all.Outer {
		return open, fmt.Errorf("ecs: O1: the first of %d scans is not outer", len(all.List))
	}
	return open, nil
}

// OpenScan starts a loop and locks the world, which must not be closed. Its two parts are small
// enough to be inlined.
func OpenScan(w *world.World, q *Query) *Scan {
	s := idleScan(w)
	lock(w, s, q)
	return s
}

func idleScan(w *world.World) *Scan {
	if w.Loops.Open == 0 {
		return &ScansOf(w).Outer
	}
	return innerScan(w)
}

func lock(w *world.World, s *Scan, q *Query) {
	s.Query, s.open = q, true
	w.Loops.Open++
	if debug.On {
		s.cursor.origin = ""
		s.nest()
	}
}

// innerScan returns an idle scan for a loop inside other loops. Usually the first Loops.Open
// scans are busy; if iterators were pulled by hand, others may be.
//
//go:noinline
func innerScan(w *world.World) *Scan {
	all := ScansOf(w)
	if i := w.Loops.Open; i < len(all.List) && !all.List[i].open {
		return all.List[i]
	}
	for _, s := range all.List {
		if !s.open {
			return s
		}
	}
	s := &Scan{World: w}
	s.loop = 1
	all.List = append(all.List, s)
	return s
}

// OpenAll starts a loop over all values of a sparse type, which EndAll ends.
func OpenAll(t *world.Type) *Scan {
	s := OpenScan(t.World, nil)
	s.of = t
	return s
}

// EndAll is End for a loop that OpenAll has started.
func (s *Scan) EndAll() {
	s.of = nil
	s.End()
}

// End ends a loop and makes its rows stale. It runs deferred, so the world is unlocked after break,
// return and panic as well. Loops end in reverse order of their beginning, unless an iterator was
// pulled by hand.
func (s *Scan) End() {
	s.ExpireRows()
	s.open = false
	s.World.Loops.Open--
	if debug.On {
		s.checkNesting(s.nesting.depth - 1)
	}
}

// EndBatch is End for a loop over a batch.
func (s *Scan) EndBatch() {
	s.First = 0
	s.End()
}

// lentWhole reports whether everything is borrowed. A goroutine of a borrow asks its own borrow:
// the world's list of borrows is the owner's, who may begin and end others meanwhile.
func (s *Scan) lentWhole() bool {
	if s.Borrow != nil {
		return s.Borrow.All
	}
	return s.World.Lent()
}

// MoveTo moves the loop to the chunk at pos. Rows yielded before become stale.
func (s *Scan) MoveTo(pos int, scale uintptr, dense bool) {
	if debug.On && s.open {
		s.checkNesting(s.nesting.depth)
	}
	s.ExpireRows()
	s.Pos, s.Scale, s.Dense, s.filled = pos, scale, dense, !dense
}

// ExpireRows makes the rows yielded so far stale. After 2^32 further calls a stale serial recurs.
func (s *Scan) ExpireRows() { s.Serial++ }

// maskFor returns the mask's words for n rows.
func (s *Scan) maskFor(n int) []uint64 {
	used := (n + 63) / 64
	if used > len(s.Mask) {
		s.Mask = make([]uint64, used)
	}
	return s.Mask[:used]
}

// fillMask sets the first n bits of the words for n rows, and no others. It is small enough to be
// inlined.
func fillMask(words []uint64, n int) {
	for i := range words {
		words[i] = ^uint64(0)
	}
	if n%64 != 0 {
		words[len(words)-1] = ^uint64(0) >> (64 - uint(n)%64)
	}
}

// name describes the loop, for messages.
func (s *Scan) name() string {
	switch {
	case s.of != nil:
		return "inside a loop over query(Write " + s.of.Name + ")"
	case s.Query != nil && s.Query != BatchesOf(s.World):
		name := "inside a loop over " + s.Query.String()
		if at := s.cursor.origin; at != "" {
			name += " by the Cursor made at " + at + ", which Close ends where the loop is left early"
		}
		return name
	}
	return "inside a loop over the rows of a batch"
}

// The nesting of loops, which debug builds check. A world's owner is one goroutine at a time, so a
// loop that begins inside another one ends before the other goes on. Where that does not hold,
// another goroutine loops beside the owner, such as a reader that goes on after Borrow.End, or a
// loop is pulled: loops under iter.Pull go on and end in any order.
//
//	owner    begins A                   A goes on inside B, a panic
//	reader              begins B                                      ends B
//
// Loops that do not overlap in this way, and two goroutines that write the same word, are found by
// the race detector alone.

// openLoops returns the number of open loops: the world counts borrows too.
func (s *Scan) openLoops() int { return s.World.Loops.Open - len(s.World.Loops.Borrows) }

// nest records that the scan's loop has begun.
func (s *Scan) nest() {
	depth := s.openLoops()
	s.nesting = nesting{depth, depth > 1 && pulled()}
}

// checkNesting panics if more loops are open than may be: one that began inside the scan's loop has
// not ended, and neither of the two is pulled.
func (s *Scan) checkNesting(loops int) {
	if s.openLoops() <= loops || s.nesting.pulled || pulled() {
		return
	}
	inner := "inside another loop"
	for _, o := range ScansOf(s.World).List {
		if o != s && o.open {
			if o.nesting.pulled {
				return
			}
			inner = o.name()
			if o.cursor.origin != "" {
				s.nesting.depth = math.MaxInt // as below
				panic("ecs: a loop goes on or ends before one that began in it has ended: it is " + inner)
			}
		}
	}
	s.nesting.depth = math.MaxInt // End, which comes next, does not panic again
	panic("ecs: Query.Rows: it goes on " + inner +
		" that began after it: another goroutine loops beside the owner; see World.Lend")
}

// pulled reports whether this goroutine runs a sequence for iter.Pull, by its first functions.
func pulled() bool {
	const first = 4 // the last of a stack: runtime.goexit, what starts a coroutine, a function of Pull
	var calls [128]uintptr
	skip := 1
	n := runtime.Callers(skip, calls[:])
	for n == len(calls) {
		skip += len(calls) - first // so that the last batch has the first functions
		n = runtime.Callers(skip, calls[:])
	}
	for _, call := range calls[max(0, n-first):n] {
		if f := runtime.FuncForPC(call - 1); f != nil && strings.HasPrefix(f.Name(), "iter.Pull") {
			return true
		}
	}
	return false
}
