package change

import "quarry/ecs/internal/table"

// Outcomes of rows of one table. edit.Outcome is that of several changes of an archetype, and
// becomes one of these.

// Outcome is what a structural change does to the rows of one table: they stay, move or end. The
// zero Outcome is Stay.
type Outcome struct {
	transition *table.Transition // transition for these rows; nil if they stay, &theEnd if they end
}

// theEnd marks the outcome of rows that end.
var theEnd table.Transition

// Stay returns the outcome of rows that a change leaves unchanged.
func Stay() Outcome { return Outcome{} }

// Move returns the outcome of rows that move to another table.
func Move(transition *table.Transition) Outcome { return Outcome{transition} }

// End returns the outcome of rows whose entities end.
func End() Outcome { return Outcome{&theEnd} }

// Stays reports whether the rows stay unchanged.
func (o Outcome) Stays() bool { return o.transition == nil }

// Ends reports whether the rows' entities end.
func (o Outcome) Ends() bool { return o.transition == &theEnd }

// Transition returns the transition along which the rows move, or nil if they stay or end.
func (o Outcome) Transition() *table.Transition {
	if o.transition == &theEnd {
		return nil
	}
	return o.transition
}
