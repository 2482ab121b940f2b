package world

import "fmt"

// Activities in a world: loops over rows, and borrows. Structural changes check them first
// (lock.go).
//
// Invariant, checked by verify:
//
//	O1 open counts the scans that are open, the borrows that are out and the change that is in progress. The first scan is
//	   outer. A borrow of everything is out alone.

// loops are the activities in a world that structural changes would disturb.
type loops struct {
	Open    int       // number of open scans and active borrows, plus one for a structural change in progress
	Scans   []*Scan   // open scans, and idle scans for reuse; the first is outer
	Outer   Scan      // the scan of a loop that is not inside another
	Batches Query     // the query of the rows of batches; it matches nothing
	Borrows []*Borrow // active borrows, in the order in which they began
	change  string    // the call whose structural change is in progress; "" if none
}

// shared returns the active borrow of everything, or nil.
func (l *loops) shared() *Borrow {
	if len(l.Borrows) > 0 && l.Borrows[0].Query == nil {
		return l.Borrows[0]
	}
	return nil
}

// enter records that a structural change begins to reserve and commit. Until leave, any structural
// change requested by code that this one calls is refused.
func (l *loops) enter(op string) {
	l.change = op
	l.Open++
}

func (l *loops) leave() {
	l.change = ""
	l.Open--
}

// verify checks O1 of a world that is open.
func (l *loops) verify() error {
	open := len(l.Borrows)
	if l.change != "" {
		open++
	}
	for _, s := range l.Scans {
		if s.open {
			open++
		}
	}
	if open != l.Open {
		return fmt.Errorf("ecs: O1: %d scans are open and %d borrows are out, the world counts %d", open-len(l.Borrows), len(l.Borrows), l.Open)
	}
	if l.Scans[0] != &l.Outer {
		return fmt.Errorf("ecs: O1: the first of %d scans is not outer", len(l.Scans))
	}
	for _, b := range l.Borrows {
		if !b.Out || b.Query == nil && len(l.Borrows) > 1 {
			return fmt.Errorf("ecs: O1: of %d borrows %s is not out, or lends everything and is not alone", len(l.Borrows), b.Name)
		}
	}
	return nil
}
