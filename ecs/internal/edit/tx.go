package edit

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/entity"
	"quarry/ecs/internal/world"
)

// A transaction of groups, for package command. It finds archetypes and checks entities; the
// change.Tx below it reserves and moves rows.

// Tx is a structural change of several groups of entities that are created, copied, moved
// or ended, all or none. First declare the groups (Create, Copy, Move). Then call Reserve, which
// may fail. Then run each group, copies before moves, because a copy is made from the row where its
// source was; otherwise the order is free. Finally call Finish. The zero value is ready, and a
// Tx may be reused.
//
// Like all structural changes it belongs to the world's owner. From Begin to Finish the world is
// locked: after Reserve the caller may write the rows of batches, and nothing else.
type Tx struct {
	w      *world.World
	op     string
	tx     *change.Tx
	before int // number of archetypes at begin
	ids    int // ids that the transaction needs
	groups []txGroup
	ran    int // number of groups that have run
	copies []copying
	copied int // number of copies in use
	err    error
}

// txGroup is a group of entities with one outcome.
type txGroup struct {
	first, end int              // range of transaction parts, for existing entities
	to         *world.Archetype // archetype of new entities; else nil
	n          int
	copies     int // index of the copying, plus one; 0 if the group is not of copies
}

// ExpectChange announces the entries that a change gives n entities; the caller adds them after
// Finish.
func (t *Tx) ExpectChange(c *Change, n int) { c.expectEntries(t.tx, n) }

// Begin begins a transaction of a world on behalf of the call op.
func (t *Tx) Begin(w *world.World, op string) {
	w.CheckChange(op)
	t.w, t.op, t.tx, t.before, t.ids, t.err = w, op, w.Writer.Begin(), len(w.Archetypes.List), 0, nil
	t.groups, t.copied, t.ran = t.groups[:0], 0, 0
	w.Loops.Enter(op)
}

// Create adds a group of n new entities with an outcome, all zero.
func (t *Tx) Create(o *Outcome, n int) {
	done := false
	defer t.endUnless(&done)
	t.check(o, true)
	if t.refresh(o) {
		t.tx.Expect(&o.to.Table.Table, n)
	}
	t.add(txGroup{to: o.to, n: n}, n)
	done = true
}

// check panics for an outcome of another world, and for an outcome that ends entities which are yet
// to be created.
func (t *Tx) check(o *Outcome, made bool) {
	if o.From == nil || o.From.World != t.w || made && o.to == nil {
		panic("ecs: " + t.op + ": the archetype is nil or belongs to another world")
	}
}

// refresh refreshes an outcome. It returns false once something has failed, which reserve reports.
func (t *Tx) refresh(o *Outcome) bool {
	if t.err == nil {
		t.err = o.refresh()
	}
	return t.err == nil
}

// Copy adds a group of n copies of e and of the entities linked to it, see World.InstantiateN. The
// copies of e get the outcome o, which must be of e's archetype. copy panics if e is not alive.
func (t *Tx) Copy(e entity.ID, o *Outcome, n int) {
	done := false
	defer t.endUnless(&done)
	t.check(o, true)
	if t.copied == len(t.copies) {
		t.copies = append(t.copies, copying{})
	}
	c := &t.copies[t.copied]
	t.copied++
	c.begin(t.w, n, t.tx)
	c.addLinked(t.op, e)
	if !t.refresh(o) {
		done = true
		return
	}
	if from := c.members[0].from; from != o.From {
		panic(fmt.Sprintf("ecs: %s: %v is of %v, its copies were worked out for %v", t.op, e, from, o.From))
	}
	if t.add(txGroup{n: n * len(c.members), copies: t.copied}, n*len(c.members)); t.err == nil {
		t.err = c.aim(o)
	}
	done = true
}

// endUnless ends the transaction if a call panics before it sets done, and releases what other
// groups took.
func (t *Tx) endUnless(done *bool) {
	if !*done {
		t.tx.Cancel()
		t.w.Loops.Leave()
		t.w.Forget(t.before)
	}
}

// Move adds a group of living entities of the outcome's first archetype. They must not be in
// another group.
func (t *Tx) Move(list []entity.ID, o *Outcome) {
	done := false
	defer t.endUnless(&done)
	t.check(o, false)
	if !t.refresh(o) {
		done = true
		return
	}
	out, n := o.ofRows(), 0
	first, end, bad := t.tx.SelectGroup(list, func(p *change.Part) change.Outcome {
		if p.Table != &o.From.Table.Table {
			panic(fmt.Sprintf("ecs: %s: entities of %v are to move as those of %v", t.op, p.Table, o.From))
		}
		n += p.Rows
		return out
	})
	if bad >= 0 {
		refuseListed(t.w, t.op, bad, list[bad])
	}
	t.add(txGroup{first: first, end: end, n: n}, 0)
	done = true
}

func (t *Tx) add(g txGroup, ids int) {
	t.groups = append(t.groups, g)
	if t.ids += ids; t.ids > entity.MaxIDs && t.err == nil {
		t.err = world.Limit("entities a world", world.MostAlive, nil)
	}
}

// Reserve makes room for all rows, blocks and ids. An error is a *LimitError; the transaction is
// then over, and nothing has changed.
func (t *Tx) Reserve() error {
	w, err := t.w, t.err
	if err == nil && t.ids > world.MostAlive-w.Living() {
		err = world.Limit("entities a world", world.MostAlive, nil)
	}
	if err == nil {
		expectCopies(t.tx, w, t.copies[:t.copied])
	}
	if err != nil {
		t.tx.Cancel()
	} else {
		err = world.LimitErrorOf(t.tx.Reserve(t.ids))
	}
	if err != nil {
		w.Loops.Leave()
		w.Forget(t.before)
	}
	return world.WithOp(t.op, err)
}

// Run creates, copies or moves the entities of the i'th group, in the order in which groups were
// added. The batch holds their rows and is valid until the next run. For copies, the rows of the
// first member come first. The batch of a group that ends or stays is empty.
func (t *Tx) Run(i int) Batch {
	g, w := &t.groups[i], t.w
	n := g.n
	t.ran++
	switch {
	case g.copies > 0:
		t.tx.Spans = t.tx.Spans[:0]
		t.copies[g.copies-1].copy()
	case g.to != nil:
		t.tx.Spans = t.tx.Spans[:0]
		t.tx.Note(w.Writer.CreateN(&g.to.Table.Table, n, &world.Signature{}))
	default:
		if t.tx.MoveGroup(g.first, g.end); len(t.tx.Spans) == 0 {
			n = 0
		}
	}
	return batch(w, n)
}

// Finish ends the transaction. It panics unless every group has run, because the rows of a group
// that has not run would be lost.
func (t *Tx) Finish() {
	if t.ran != len(t.groups) {
		panic(fmt.Sprintf("ecs: %s: %d of %d groups of the transaction have run", t.op, t.ran, len(t.groups)))
	}
	t.tx.Finish()
	t.w.Loops.Leave()
}
