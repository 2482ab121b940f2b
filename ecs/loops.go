package ecs

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
	open    int       // number of open scans and active borrows, plus one for a structural change in progress
	scans   []*scan   // open scans, and idle scans for reuse; the first is outer
	outer   scan      // the scan of a loop that is not inside another
	batches Query     // the query of the rows of batches; it matches nothing
	borrows []*Borrow // active borrows, in the order in which they began
	change  string    // the call whose structural change is in progress; "" if none
}

// shared returns the active borrow of everything, or nil.
func (l *loops) shared() *Borrow {
	if len(l.borrows) > 0 && l.borrows[0].q == nil {
		return l.borrows[0]
	}
	return nil
}

// enter records that a structural change begins to reserve and commit. Until leave, any structural
// change requested by code that this one calls is refused.
func (l *loops) enter(op string) {
	l.change = op
	l.open++
}

func (l *loops) leave() {
	l.change = ""
	l.open--
}

// verify checks O1 of a world that is open.
func (l *loops) verify() error {
	open := len(l.borrows)
	if l.change != "" {
		open++
	}
	for _, s := range l.scans {
		if s.open {
			open++
		}
	}
	if open != l.open {
		return fmt.Errorf("ecs: O1: %d scans are open and %d borrows are out, the world counts %d", open-len(l.borrows), len(l.borrows), l.open)
	}
	if l.scans[0] != &l.outer {
		return fmt.Errorf("ecs: O1: the first of %d scans is not outer", len(l.scans))
	}
	for _, b := range l.borrows {
		if !b.out || b.q == nil && len(l.borrows) > 1 {
			return fmt.Errorf("ecs: O1: of %d borrows %s is not out, or lends everything and is not alone", len(l.borrows), b.name)
		}
	}
	return nil
}
