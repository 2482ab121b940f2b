package ecs

// Verify checks the numbered invariants of the world, of its heap and, if the world owns its
// universe, of the universe. It returns an error that names the first invariant violated, or nil.
// It reads every record and row. Goroutines may read snapshots and reserve ids meanwhile; what they
// see for the first time, and what they reserve, waits.
func (w *World) Verify() error { return w.inner().Verify() }
