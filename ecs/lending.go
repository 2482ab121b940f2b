package ecs

import (
	"fmt"
	"slices"

	"quarry/ecs/internal/entity"
)

// Lending: the owner of a world makes loans, begins and ends them; loan.go says what holds while a
// loan is out (N1 to N4).

// NewLoan makes a loan of what q declares, and for look-ups of any entity of the types of
// uses, which are Read and Write terms. name is for messages, "job move". A structural change
// that is asked for while the loan is out calls wait on its goroutine, with its name as
// Component.Add; wait ends the loan, or panics. It panics for a use that the query declares
// too, unless both only read; for a type of another world; and for a wait that is nil.
func NewLoan(q *Query, name string, wait func(op string), uses ...Term) *Loan {
	const op = "NewLoan"
	q.checkOpen(op)
	if wait == nil {
		panic("ecs: NewLoan: wait is nil; it ends the loan when a structural change asks for it")
	}
	l := &Loan{q: q, name: name, wait: wait, access: q.Access(), own: *q}
	l.own.bindings, l.own.seen, l.own.access = nil, 0, make([]uint8, len(q.access))
	for id, access := range q.access {
		if access != 0 {
			l.own.access[id] = declared | access&(mayRead|mayWrite)*lentRead
		}
	}
	for i, u := range uses {
		l.use(u)
		for _, other := range uses[:i] {
			if other.of[0].t == u.of[0].t && u.of[0].access&mayWrite != 0 {
				l.refuseTwice(u.of[0].t)
			}
		}
	}
	for id, t := range q.w.types.list {
		id := typeID(id)
		if write := l.access.writes.Has(id); write || l.access.reads.Has(id) {
			l.take(t, write, slices.ContainsFunc(uses, func(u Term) bool { return u.of[0].t == t }))
		}
	}
	return l
}

// use joins one of the uses to the access.
func (l *Loan) use(u Term) {
	const op = "NewLoan"
	if u.kind > termWrite || len(u.of) != 1 {
		panic("ecs: NewLoan: a use is neither Read nor Write of a type")
	}
	o := u.of[0]
	l.q.w.checkOwn(op, o.t)
	id := o.t.id
	if l.access.writes.Has(id) || l.q.declares(id) && o.access&mayWrite != 0 {
		l.refuseTwice(o.t)
	}
	if o.access&mayWrite != 0 {
		l.access.reads.Drop(id)
	}
	l.access.add(id, o.access)
}

func (l *Loan) refuseTwice(t *typeInfo) {
	panic(fmt.Sprintf("ecs: NewLoan: %s is declared twice, to be written: by %v and as a use, or as two uses", t.name, l.q))
}

// declares reports whether the query gives access to a type.
func (q *Query) declares(id typeID) bool { return int(id) < len(q.access) && q.access[id] != 0 }

// take notes a type of the loan.
func (l *Loan) take(t *typeInfo, write, looks bool) {
	for int(t.id) >= len(l.types) {
		l.types = append(l.types, nil)
	}
	c := *t
	c.loan, c.guarded, c.readers, c.writers = l, false, 0, 0
	c.view, c.epoch, c.spill = entity.View{}, &noEpoch, t.w.buffers.Lent()
	// Look-ups of what the query writes would see rows that others are writing.
	c.looks = looks || !write && l.q.declares(t.id)
	c.writable = looks && write
	l.types[t.id] = &c
	l.lent = append(l.lent, lentType{t: t, copy: &c, write: write, looks: looks})
}

// Begin begins the loan, for the world's owner. Until End structural changes wait for it, and
// the world's own functions do not write its types nor read those that it writes: they panic.
// A query with Changed or Ordered compares with its Since as it is now. Unless that is pinned
// it moves on, and the world's version advances, as by a loop that ends. It panics inside a
// loop and in a phase, for a closed query or world, and when the loan is out. It allocates
// when there are new archetypes.
func (l *Loan) Begin() {
	const op = "Loan.Begin"
	l.check(op)
	q, w := l.q, l.q.w
	q.checkOpen(op)
	w.checkUnshared(op)
	if l.out {
		panic("ecs: Loan.Begin: " + l.name + " is out already")
	}
	if w.loops.open > len(w.loops.loans) {
		panic("ecs: Loan.Begin: " + l.name + ": " + w.loop() + "; begin it outside of loops")
	}
	l.own.m, l.own.since = q.m, q.since
	l.own.lookAlone()
	for i := range l.lent {
		l.lent[i].begin(w)
	}
	l.version = w.tables.Version // N4
	if q.moves() {
		q.since = w.tables.Version
		w.Advance()
	}
	l.out, w.news.unshared = true, never
	w.loops.loans = append(w.loops.loans, l)
	w.loops.open++
}

// begin lends the type and brings the copy up to date.
func (t *lentType) begin(w *World) {
	if t.looks {
		t.t.build()
	}
	t.copy.Directory, t.copy.view, t.copy.epoch = t.t.Directory, w.ids.View(), &w.rows.Epoch
	t.t.lend(t.write)
}

// End ends the loan, for the world's owner, after its goroutines are done: their rows
// and look-ups are void. It panics when the loan is not out.
func (l *Loan) End() {
	l.check("Loan.End")
	if !l.out {
		panic("ecs: Loan.End: " + l.name + " is not out")
	}
	w := l.q.w
	for i := range l.lent {
		t := &l.lent[i]
		t.t.takeBack(t.write)
		t.copy.view, t.copy.epoch = entity.View{}, &noEpoch
	}
	for _, r := range l.readers {
		r.s.turn()
	}
	at := slices.Index(w.loops.loans, l)
	w.loops.loans = slices.Delete(w.loops.loans, at, at+1)
	w.loops.open--
	l.out = false
	if len(w.loops.loans) == 0 {
		w.news.unshared = w.news.matched
	}
}
