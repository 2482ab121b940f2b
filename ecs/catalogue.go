package ecs

import "hash/maphash"

// catalogue is the archetypes of a world.
type catalogue struct {
	list       []*Archetype          // in order of creation
	byKey      map[uint64]*Archetype // by hash of types and values, the last that was made with it
	seed       maphash.Seed          // of that hash
	valued     int                   // archetypes with shared values
	mostValued int                   // from how many on the next change sweeps
}

func (c *catalogue) open() {
	c.byKey, c.seed, c.mostValued = map[uint64]*Archetype{}, maphash.MakeSeed(), leastSwept
}
