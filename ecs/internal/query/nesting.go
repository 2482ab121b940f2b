package query

import (
	"math"
	"runtime"
	"strings"
)

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

// A nesting is where a scan's loop stands among the open loops of its world.
type nesting struct {
	depth  int  // open loops when it had begun, itself among them
	pulled bool // it began inside another loop, on a goroutine of iter.Pull
}

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
