package ecs

import (
	"quarry/ecs/internal/delta"
	"quarry/ecs/internal/world"
)

// Fork is fork, for tests.
func (w *World) Fork(options ...Option) (*World, error) { return w.fork(options...) }

// DiffWorlds is delta.DiffWorlds without a function.
func DiffWorlds(older, newer *World) (*Delta, error) {
	made, err := delta.DiffWorlds(older.inner(), newer.inner(), nil)
	return deltaFrom(made), err
}

// DiffWritten is DiffWorlds that looks only into chunks that written says something of.
func DiffWritten(older, newer *World, written func(a *Archetype, pos int) bool) (*Delta, error) {
	byCore := func(a *world.Archetype, pos int) bool { return written(archetypeFrom(a), pos) }
	made, err := delta.DiffWorlds(older.inner(), newer.inner(), byCore)
	return deltaFrom(made), err
}
