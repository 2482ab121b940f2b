package ecs

// Fork is fork, for tests.
func (w *World) Fork(options ...Option) (*World, error) { return w.fork(options...) }
