package ecs

import "fmt"

// What is under way in a world: loops over rows, a phase, loans. Structural changes ask here first (lock.go).
//
// Invariant, checked by verify:
//
//	O1 open counts the scans that are open, the loans that are out and the change that is under way. The first scan is
//	   outer. A phase has one scan open, its lock.

// loops are what is under way in a world that structural changes would disturb.
type loops struct {
	open    int     // scans that are open, loans that are out, and the change that is under way
	scans   []*scan // theirs, and others to be used again; the first is outer
	outer   scan    // of a loop that is not inside others
	batches Query   // that the rows of batches belong to; it matches nothing
	phase   *Phase  // that shares the world with other goroutines; nil: none
	loans   []*Loan // that are out, in the order in which they began
	change  string  // the call whose structural change is under way; "": none
}

// enter notes that a structural change reserves and commits from now on: another one that is asked for meanwhile, by
// what this one calls, is refused. leave notes its end.
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
	open := len(l.loans)
	if l.change != "" {
		open++
	}
	for _, s := range l.scans {
		if s.open {
			open++
		}
	}
	if open != l.open {
		return fmt.Errorf("ecs: O1: %d scans are open and %d loans are out, the world counts %d", open-len(l.loans), len(l.loans), l.open)
	}
	if l.scans[0] != &l.outer || l.phase != nil && !l.phase.lock.open {
		return fmt.Errorf("ecs: O1: the first of %d scans is not outer, or a phase is under way whose lock is not: %v", len(l.scans), l.phase != nil)
	}
	return nil
}
