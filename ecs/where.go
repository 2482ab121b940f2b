package ecs

import "iter"

// RowsOf yields the query's rows whose entities have the given shared value. It is like Rows but
// does not advance Since. It serves values that change from call to call, such as the cells around
// a ship, without a query for each value. Cost: a search among the query's archetypes for each
// archetype of the value, whatever the number of values. It panics for a value of another world.
func (q *Query) RowsOf(value SharedValue) iter.Seq[Rows] {
	return func(yield func(Rows) bool) { q.inner().WalkOf(value.core, coreYield(yield)) }
}
