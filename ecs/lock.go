package ecs

// Shared reports whether everything is borrowed, by World.Share: until Borrow.End all goroutines
// read and none writes.
func (w *World) Shared() bool { return w.inner().Shared() }
