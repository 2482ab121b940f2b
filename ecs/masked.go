package ecs

// Masked returns a Between or Changed term by which only the rows match that pass it, as rows do
// whose types are enabled: Rows.Each skips the others, Count counts the matching ones.
//
// By a Between term rows match that are in the range. It costs a pass over the field where a chunk
// lies only partly in the range. Changes of entities by query (ApplyQuery, DestroyQuery,
// EnableQuery, MoveQuery) take no Between without Masked.
//
// By a Changed term rows match that came or were written since the query last ran. All its types
// must be registered with TrackRows. A chunk that passes by a Changed term without Masked, or by
// Ordered, is shown whole. It costs a look at the version of each row in the chunks that pass.
//
// Masked panics for other terms.
func (t Term) Masked() Term { return Term{t.core.Masked()} }
