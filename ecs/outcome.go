package ecs

import (
	"quarry/ecs/internal/change"
)

// Outcome is the combined effect of a sequence of changes on the entities of an archetype: the
// archetype that they move to in one move, and the types that start from zero there because an
// earlier change removed them. It is a value. It serves package command: see quarry/internal/seam.
type Outcome struct {
	from, to *Archetype // to is nil if the entities end
	lost     signature  // types that a change removed
	renewed  signature  // types of to that a change removed and a later change added
}

// outcomeOf returns the outcome of an empty sequence of changes.
func outcomeOf(a *Archetype) Outcome { return Outcome{from: a, to: a} }

// outcomeOfCopies returns the outcome for copies of an archetype's entities, see World.Instantiate.
// It creates the copies' archetype if there is none; the error is a *LimitError.
func outcomeOfCopies(a *Archetype) (Outcome, error) {
	const op = "seam.OutcomeOfCopies"
	a.w.checkUnlocked(op)
	if a.dying {
		refuseDying(op)
	}
	to, err := a.pattern()
	if err != nil {
		return Outcome{}, during(op, err)
	}
	o := Outcome{from: a, to: to}
	for i, had := range a.table.Sig {
		o.lost[i] = had &^ to.table.Sig[i] // Prefab and Cleanup types, which a change may give the copies
	}
	return o, nil
}

// stays reports whether the entities stay unchanged.
func (o *Outcome) stays() bool { return o.from == o.to && o.renewed == signature{} }

// archetype returns the archetype of the entities at the end, or nil if they end.
func (o *Outcome) archetype() *Archetype { return o.to }

// after returns the outcome followed by one more change. It creates the target archetype if there
// is none; the error is a *LimitError.
func (o Outcome) after(c *Change) (Outcome, error) {
	const op = "seam.After"
	c.w.checkUnlocked(op)
	if o.to == nil {
		return o, nil
	}
	if o.to.w != c.w {
		// errors.md, Entities: `the archetype and the change belong to different worlds` | A layer
		// asked what a change makes of entities of another world. | A change for
		// each world.
		panic("ecs: " + op + ": the archetype and the change belong to different worlds")
	}
	by, err := c.outcome(o.to)
	switch {
	case err != nil:
		return o, during(op, err)
	case by.Ends():
		o.to = nil
		return o, nil
	case by.Stays():
		return o, nil
	}
	to := c.w.archetypeOn(by.Path().To)
	for i, had := range o.to.table.Sig {
		has := to.table.Sig[i]
		o.renewed[i] = (o.renewed[i] | has&^had&o.lost[i]&^c.w.types.shared[i]) & has
		o.lost[i] |= had &^ has
	}
	o.to = to
	return o, nil
}

// refresh replaces archetypes retired meanwhile by their current replacements. The error is a
// *LimitError.
func (o *Outcome) refresh() (err error) {
	o.from = o.from.now()
	if o.to != nil {
		o.to, err = o.to.again()
	}
	return err
}

// path returns the transition from the first archetype to the last.
func (o *Outcome) path() *path {
	if o.renewed == (signature{}) && !o.from.differs(o.to) {
		return o.from.table.To(&o.to.table.Table)
	}
	return o.from.table.Renewing(&o.to.table.Table, o.renewed)
}

// ofRows returns the outcome for rows of from's table.
func (o *Outcome) ofRows() change.Outcome {
	switch {
	case o.to == nil:
		return change.End()
	case o.stays():
		return change.Stay()
	}
	return change.Move(o.path())
}
