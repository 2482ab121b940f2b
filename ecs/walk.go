package ecs

import "iter"

// Rows yields the matching rows, one chunk at a time: archetypes in order of creation, chunks and
// rows in order. A chunk with at least one matching row is yielded whole, with a mask if not every
// row matches. Rows allocates nothing. The world is locked against structural changes while the
// loop runs, so an iter.Pull over Rows must be stopped.
//
// When a loop over a query with Changed or Ordered terms runs to its end, it sets Since to the
// current version and advances the world's version: the next loop sees later writes, but not the
// writes of this loop. A break prevents that. Loops in package system advance once per update
// instead. While the world is shared, Rows does not advance versions, and panics for a query with
// Write.
func (q *Query) Rows() iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.inner().Walk(coreYield(yield)) }
}
