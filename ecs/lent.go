package ecs

import (
	"fmt"

	"quarry/ecs/internal/entity"
)

// What is lent, as the world's own functions ask it (N2). A type that is lent has guarded set,
// as all have in a phase: functions that write, or look at bits, ask that first, and the rest
// is here.

// lend notes a loan of the type: from now on the world's own functions do not write it, nor
// read it when the loan writes.
func (t *typeInfo) lend(write bool) {
	t.guarded = true
	if !write {
		t.readers++
		return
	}
	t.writers++
	t.view, t.epoch = entity.View{}, &noEpoch // look-ups go to miss, views of buffers to refuse
}

// takeBack notes the end of a loan.
func (t *typeInfo) takeBack(write bool) {
	if write {
		t.writers--
	} else {
		t.readers--
	}
	if t.writers == 0 {
		t.view, t.epoch = t.w.ids.View(), &t.w.epoch
	}
	t.guarded = t.writers+t.readers > 0
}

// noEpoch is the epoch of views of buffers that are lent: none was made then.
var noEpoch = ^uint64(0)

// checkLent panics when a loan forbids an access to the type.
func (t *typeInfo) checkLent(op string, access uint8) {
	if t.writers > 0 || t.readers > 0 && access&mayWrite != 0 {
		t.refuseLent(op)
	}
}

//go:noinline
func (t *typeInfo) refuseLent(op string) {
	for _, l := range t.w.loops.loans {
		if l.access.writes.Has(t.id) {
			panic(t.lentText(op, l, "writes"))
		}
	}
	for _, l := range t.w.loops.loans {
		if l.access.reads.Has(t.id) {
			panic(t.lentText(op, l, "reads"))
		}
	}
	panic("ecs: " + op + ": " + t.name + " is lent: complete the loan first")
}

func (t *typeInfo) lentText(op string, l *Loan, does string) string {
	return fmt.Sprintf("ecs: %s: %s is lent to %s, which %s it: complete it first; inside it use its rows or a look-up",
		op, t.name, l.name, does)
}

// checkWrite panics when a type that is guarded may not be written.
//
//go:noinline
func (t *typeInfo) checkWrite(op string) {
	if t.w.loops.phase != nil {
		t.w.loops.phase.refuse(op)
	}
	t.checkLent(op, mayWrite)
}

// checkLent panics when a loop over the query would access types that are lent.
func (q *Query) checkLent(op string) {
	for i := range q.terms {
		t := &q.terms[i]
		for _, o := range t.of {
			if access := t.accessTo(o); access != 0 && o.t.guarded {
				o.t.checkLent(op, access)
			}
		}
	}
}

// checkLooks is checkLent of the bits and versions that decide which rows match.
func (q *Query) checkLooks(op string) {
	for i := range q.terms {
		t := &q.terms[i]
		for _, o := range t.of {
			if o.t.guarded && t.looksAt(o) {
				o.t.checkLent(op, mayRead)
			}
		}
	}
}
