package ecs

// Fork is fork, for tests.
func (w *World) Fork(options ...Option) (*World, error) { return w.fork(options...) }

// DiffWorlds is diffWorlds without a function.
func DiffWorlds(older, newer *World) (*Delta, error) { return diffWorlds(older, newer, nil) }

// DiffWritten is diffWorlds that looks only into chunks that written says something of.
func DiffWritten(older, newer *World, written func(a *Archetype, pos int) bool) (*Delta, error) {
	return diffWorlds(older, newer, written)
}
