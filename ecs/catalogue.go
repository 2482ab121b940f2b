package ecs

import (
	"fmt"
	"hash/maphash"
	"slices"

	"quarry/ecs/internal/table"
	"quarry/ecs/internal/value"
)

// The archetypes of a world, in order of creation. An archetype is found by its types and values,
// through a hash of both; archetypes with the same hash form a list.
//
// Invariants, checked by verify:
//
//	A1 Each archetype is found by its types and values, and nothing else is.
//	A2 valued counts the archetypes with shared values.
//	A3 An archetype's edges lead to archetypes that the world has and that differ by the edge's type;
//	   its copies go to an archetype that the world has.

// catalogue holds the archetypes of a world.
type catalogue struct {
	list       []*Archetype          // in order of creation
	byKey      map[uint64]*Archetype // by hash of types and values: the newest archetype with that hash, first of a list; nil until there is an archetype
	seed       maphash.Seed          // seed of that hash
	valued     int                   // archetypes with shared values
	mostValued int                   // the next change sweeps if valued exceeds this
}

// leastSwept is how many archetypes with values there may be before a sweep looks for those without
// rows: the sweep costs a few ns for each archetype of the world.
const leastSwept = 64

func (c *catalogue) open() {
	c.seed, c.mostValued = maphash.MakeSeed(), leastSwept
}

// keyOf returns the hash of a set of types and a list of values.
func (c *catalogue) keyOf(sig *signature, values []*value.Shared) uint64 {
	key := maphash.Comparable(c.seed, *sig)
	for _, v := range values {
		key = maphash.Comparable(c.seed, [2]uint64{key, v.Serial})
	}
	return key
}

// withKey returns the archetype with the given types and values, whose hash is key, or nil.
func (c *catalogue) withKey(key uint64, sig *signature, values []*value.Shared) *Archetype {
	for a := c.byKey[key]; a != nil; a = a.alike {
		if a.table.Sig == *sig && slices.Equal(a.values, values) {
			return a
		}
	}
	return nil
}

// find returns the archetype with the given types and values, or nil.
func (c *catalogue) find(sig *signature, values []*value.Shared) *Archetype {
	return c.withKey(c.keyOf(sig, values), sig, values)
}

// add appends a new archetype, whose key is set.
func (c *catalogue) add(a *Archetype) {
	c.list = append(c.list, a)
	c.link(a)
	if len(a.values) > 0 {
		c.valued++
	}
}

// link makes an archetype findable by its key.
func (c *catalogue) link(a *Archetype) {
	if c.byKey == nil {
		c.byKey = map[uint64]*Archetype{}
	}
	a.alike = c.byKey[a.key]
	c.byKey[a.key] = a
}

// leave removes the archetypes that are closed.
func (c *catalogue) leave() {
	c.list = slices.DeleteFunc(c.list, func(a *Archetype) bool { return a.table.Closed })
	clear(c.byKey)
	c.valued = 0
	for _, a := range c.list {
		c.link(a)
		if len(a.values) > 0 {
			c.valued++
		}
	}
}

// tables yields the tables of all archetypes.
func (c *catalogue) tables(yield func(*table.Table) bool) {
	for _, a := range c.list {
		if !yield(&a.table.Table) {
			return
		}
	}
}

// verify checks A1 to A3.
func (c *catalogue) verify() error {
	found, valued := 0, 0
	for key, a := range c.byKey {
		for ; a != nil; a = a.alike {
			if found++; a.key != key || a.table.Closed || c.find(&a.table.Sig, a.values) != a {
				return fmt.Errorf("ecs: A1: %v is listed by %#x, its key is %#x, and its types and values find another, or it was given up", a, key, a.key)
			}
		}
	}
	if found != len(c.list) {
		return fmt.Errorf("ecs: A1: %d archetypes are found, there are %d", found, len(c.list))
	}
	for _, a := range c.list {
		if len(a.values) > 0 {
			valued++
		}
		if p := a.copies; p != nil && (p.From != &a.table.Table || p.IsClosed()) {
			return fmt.Errorf("ecs: A3: copies of rows of %v go to an archetype that was given up, or come from another", a)
		}
		for _, e := range a.edges {
			if err := e.verify(a); err != nil {
				return err
			}
		}
	}
	if valued != c.valued {
		return fmt.Errorf("ecs: A2: %d archetypes have values, not %d", valued, c.valued)
	}
	return nil
}

// verify checks A3 for one edge of an archetype.
func (e edge) verify(a *Archetype) error {
	sig := a.table.Sig
	if sig.Has(e.id) {
		sig.Drop(e.id)
	} else {
		sig.Add(e.id)
	}
	if e.path.From != &a.table.Table || e.path.IsClosed() || e.path.To.Sig != sig {
		return fmt.Errorf("ecs: A3: the edge of %v for type %d leads from types %v to %v, or one of them was given up", a, e.id, e.path.From.Types, e.path.To.Types)
	}
	return nil
}
