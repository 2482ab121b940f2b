package ecs

import (
	"fmt"
	"sync"
	"sync/atomic"

	"quarry/ecs/internal/entity"
)

// Loans.
//
// A loan is access to the types that a query declares, lent by the world's owner to other
// goroutines from Begin to End. Goroutines of a loan see rows through readers, each of
// which has a scan of its own; and what they see of the world is not written meanwhile:
//
//	owner                        goroutines of the loan
//	Begin  counts its types      Reader.Rows   own scan, the loan's bindings
//	       copies what           Slice, Mut    marks with the loan's version
//	       look-ups need         Lookup.Get    the loan's copy of the type
//	End    counts them off
//
// Several loans may be out, those that conflict too: the order of their work is for
// whoever has them run it, by Access. So what a loan's goroutines read is no part of what
// Begin and End of another loan write: the counts in a type, its table, its epoch, the
// world's version and its loops.
//
// Invariants, all while a loan is out:
//
//	N1 The structure of the world does not change: what changes it waits for all loans.
//	N2 The world's own functions do not write its types, and do not read those that it
//	   writes. They panic, in every build.
//	N3 Its goroutines write types that it declares to write, in the rows of their readers or
//	   by look-ups of uses, and nothing else of the world but the heap of buffers.
//	N4 What they write they mark with the version that Begin found. Several may mark one
//	   chunk: atomically, and all the same.

// Loan lends what a query declares, and more uses, to other goroutines. It is made once,
// and begun and ended any number of times. Begin and End belong to the world's owner.
type Loan struct {
	q      *Query
	own    Query // as its goroutines see it: with access lentRead and lentWrite, and bindings of its own
	name   string
	wait   func(op string)
	access Access
	lent   []lentType
	types  []*typeInfo // copies, by typeID; nil: the loan has no access

	mu      sync.Mutex
	readers []*Reader
	version uint32 // that writes are marked with
	out     bool
}

// lentType is a type of a loan.
type lentType struct {
	t     *typeInfo
	copy  *typeInfo // that the loan's goroutines use: t as it was at Begin
	write bool
	looks bool // it is among the uses
}

// Access returns what the loan reads and writes: what its query does, and its uses.
func (l *Loan) Access() Access {
	l.check("Loan.Access")
	return l.access
}

// Out reports whether the loan has begun and not ended. The world's owner may ask.
func (l *Loan) Out() bool {
	l.check("Loan.Out")
	return l.out
}

func (l *Loan) check(op string) {
	if l == nil || l.q == nil {
		panic("ecs: " + op + ": the loan is nil or the zero value; loans come from NewLoan")
	}
}

// copyOf returns the loan's copy of a type that a reader's rows have.
func (l *Loan) copyOf(t *typeInfo) *typeInfo { return l.types[t.id] }

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
		t.view, t.epoch = t.w.ids.View(), &t.w.rows.Epoch
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

//go:noinline
func (l *Loan) refuse(op string) {
	panic("ecs: " + op + ": " + l.name + " is not out: it has not begun, or has ended")
}

func (l *Loan) mark(version *uint32) {
	if atomic.LoadUint32(version) != l.version {
		atomic.StoreUint32(version, l.version)
	}
}

// checkWritable panics unless the loan of a copy is out and look-ups may write.
//
//go:noinline
func (t *typeInfo) checkWritable(op string) {
	switch {
	case t == nil:
		t.world().refuse(op)
	case !t.loan.out:
		t.loan.refuse(op + ": " + t.name)
	case !t.writable:
		panic(fmt.Sprintf("ecs: %s: %s declares %s to read: use ecs.Write", op, t.loan.name, t.name))
	}
}

// markLent marks a type changed in the chunk of a reader's rows (N4). Goroutines with other
// rows of the chunk may be doing so: with the same version, so most only look.
func (s *scan) markLent(p place) {
	if p.Flags()&lentWrite != 0 {
		s.loan.mark(s.t.a.table.Books.Version(p.Slot(), s.pos))
	}
}
