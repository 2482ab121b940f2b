package edit

import (
	"quarry/ecs/internal/change"
	"quarry/ecs/internal/world"
)

// Outcomes of changes of an archetype. For rows they become a change.Outcome (ofRows).

// Outcome is the combined effect of a sequence of changes on the entities of an archetype: the
// archetype that they move to in one move, and the types that start from zero there because an
// earlier change removed them. It is a value.
type Outcome struct {
	From, to *world.Archetype // to is nil if the entities end
	lost     world.Signature  // types that a change removed
	reset    world.Signature  // types of to that a change removed and a later change added
}

// OutcomeOf returns the outcome of an empty sequence of changes.
func OutcomeOf(a *world.Archetype) Outcome { return Outcome{From: a, to: a} }

// OutcomeOfCopies returns the outcome for copies of an archetype's entities, see World.Instantiate.
// It creates the copies' archetype if there is none; the error is a *LimitError.
func OutcomeOfCopies(a *world.Archetype) (Outcome, error) {
	const op = "edit.OutcomeOfCopies"
	a.World.CheckUnlocked(op)
	if a.CleanupOnly {
		world.RefuseDying(op)
	}
	to, err := pattern(a)
	if err != nil {
		return Outcome{}, world.WithOp(op, err)
	}
	o := Outcome{From: a, to: to}
	for i, had := range a.Table.Sig {
		o.lost[i] = had &^ to.Table.Sig[i] // Prefab and Cleanup types, which a change may give the copies
	}
	return o, nil
}

// Stays reports whether the entities stay unchanged.
func (o *Outcome) Stays() bool { return o.From == o.to && o.reset == world.Signature{} }

// Archetype returns the archetype of the entities at the end, or nil if they end.
func (o *Outcome) Archetype() *world.Archetype { return o.to }

// After returns the outcome followed by one more change. It creates the target archetype if there
// is none; the error is a *LimitError.
func (o Outcome) After(c *Change) (Outcome, error) {
	const op = "edit.After"
	c.World.CheckUnlocked(op)
	if o.to == nil {
		return o, nil
	}
	if o.to.World != c.World {
		panic("ecs: " + op + ": the archetype and the change belong to different worlds")
	}
	by, err := c.outcome(o.to)
	switch {
	case err != nil:
		return o, world.WithOp(op, err)
	case by.Ends():
		o.to = nil
		return o, nil
	case by.Stays():
		return o, nil
	}
	to := c.World.ArchetypeOn(by.Transition().To)
	for i, had := range o.to.Table.Sig {
		has := to.Table.Sig[i]
		o.reset[i] = (o.reset[i] | has&^had&o.lost[i]&^c.World.Types.Shared[i]) & has
		o.lost[i] |= had &^ has
	}
	o.to = to
	return o, nil
}

// refresh replaces archetypes retired meanwhile by their current replacements. The error is a
// *LimitError.
func (o *Outcome) refresh() (err error) {
	o.From = o.From.CurrentOrNil()
	if o.to != nil {
		o.to, err = o.to.Current()
	}
	return err
}

// transition returns the transition from the first archetype to the last.
func (o *Outcome) transition() *world.Transition {
	if o.reset == (world.Signature{}) && !o.From.Differs(o.to) {
		return o.From.Table.To(&o.to.Table.Table)
	}
	return o.From.Table.Resetting(&o.to.Table.Table, o.reset)
}

// ofRows returns the outcome for rows of from's table.
func (o *Outcome) ofRows() change.Outcome {
	switch {
	case o.to == nil:
		return change.End()
	case o.Stays():
		return change.Stay()
	}
	return change.Move(o.transition())
}
