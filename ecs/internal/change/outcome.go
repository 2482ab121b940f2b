package change

import "quarry/ecs/internal/table"

// Outcome is what a structural change makes of the rows of one table: they stay, move or end. The
// zero Outcome is Stay.
type Outcome struct {
	path *table.Transition // by which rows move, theEnd; nil: they stay
}

// theEnd marks outcomes of rows that end.
var theEnd table.Transition

// Stay returns the outcome of rows that the change leaves as they are.
func Stay() Outcome { return Outcome{} }

// Move returns the outcome of rows that go to another table.
func Move(path *table.Transition) Outcome { return Outcome{path} }

// End returns the outcome of rows whose entities end.
func End() Outcome { return Outcome{&theEnd} }

// Stays reports whether the rows stay as they are.
func (o Outcome) Stays() bool { return o.path == nil }

// Ends reports whether the rows' entities end.
func (o Outcome) Ends() bool { return o.path == &theEnd }

// Path returns the transition by which the rows move, nil where they stay or end.
func (o Outcome) Path() *table.Transition {
	if o.path == &theEnd {
		return nil
	}
	return o.path
}
