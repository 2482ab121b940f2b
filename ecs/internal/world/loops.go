package world

import "fmt"

// Activities in a world: loops over rows, and borrows. Structural changes check them first
// (lock.go).
//
// Invariant, checked by verify:
//
//	O1 open counts the scans that are open, the borrows that are out and the change that is in
//	   progress. The first scan is outer. A borrow of everything is out alone.

// Shared returns the lease of the active borrow of everything, or nil.
func (l *loops) Lent() *Lease {
	if len(l.Borrows) > 0 && l.Borrows[0].All {
		return l.Borrows[0]
	}
	return nil
}

// Enter records that a structural change begins to reserve and commit. Until Leave, any structural
// change requested by code that this one calls is refused.
func (l *loops) Enter(op string) {
	l.change = op
	l.Open++
}

// Leave records that the structural change that Enter began has ended.
func (l *loops) Leave() {
	l.change = ""
	l.Open--
}

// onLoops has the calls of package query for each world: it opens the state of loops, names the
// loop in progress, the innermost one if loops ended in order ("" for none), and counts the open
// scans.
var onLoops struct {
	open  func(w *World)
	name  func(w *World) string
	count func(w *World) (int, error)
}

// OnLoops sets the calls of package query. It is called once, before there is a world.
func OnLoops(open func(w *World), name func(w *World) string, count func(w *World) (int, error)) {
	onLoops.open, onLoops.name, onLoops.count = open, name, count
}

// Loop describes the loop in progress, for messages.
func (w *World) Loop() string {
	if w.Loops.change != "" {
		return "inside " + w.Loops.change
	}
	if name := onLoops.name(w); name != "" {
		return name
	}
	return "while a borrow is out" // by a goroutine that has no business here: it may see half of a Begin
}

// verifyLoops checks O1 of a world that is open.
func (w *World) verifyLoops() error {
	l := &w.Loops
	scans, err := onLoops.count(w)
	if err != nil {
		return err
	}
	if l.change != "" {
		scans++
	}
	if scans+len(l.Borrows) != l.Open {
		return fmt.Errorf("ecs: O1: %d scans are open and %d borrows are out, the world counts %d",
			scans, len(l.Borrows), l.Open)
	}
	for _, b := range l.Borrows {
		if !b.Out || b.All && len(l.Borrows) > 1 {
			return fmt.Errorf("ecs: O1: of %d borrows %s is not out, or lends everything and is not alone",
				len(l.Borrows), b.Name)
		}
	}
	return nil
}
