package world

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
//	A3 An archetype's transitions lead to archetypes that the world has and that differ by one type;
//	   its copies go to an archetype that the world has.

// leastSwept is how many archetypes with values there may be before a sweep looks for those without
// rows: the sweep costs a few ns for each archetype of the world.
const leastSwept = 64

// Open readies an empty registry: a seed for its hashes and the first mark of a sweep.
func (c *archetypeRegistry) Open() {
	c.seed, c.mostValued = maphash.MakeSeed(), leastSwept
}

// KeyOf returns the hash of a set of types and a list of values.
func (c *archetypeRegistry) KeyOf(sig *Signature, values []*value.Shared) uint64 {
	key := maphash.Comparable(c.seed, *sig)
	for _, v := range values {
		key = maphash.Comparable(c.seed, [2]uint64{key, v.Serial})
	}
	return key
}

// withKey returns the archetype with the given types and values, whose hash is key, or nil.
func (c *archetypeRegistry) withKey(key uint64, sig *Signature, values []*value.Shared) *Archetype {
	for a := c.ByKey[key]; a != nil; a = a.alike {
		if a.Table.Sig == *sig && slices.Equal(a.Values, values) {
			return a
		}
	}
	return nil
}

// Find returns the archetype with the given types and values, or nil.
func (c *archetypeRegistry) Find(sig *Signature, values []*value.Shared) *Archetype {
	return c.withKey(c.KeyOf(sig, values), sig, values)
}

// Add appends a new archetype, whose key is set.
func (c *archetypeRegistry) Add(a *Archetype) {
	c.List = append(c.List, a)
	c.link(a)
	if len(a.Values) > 0 {
		c.Valued++
	}
}

// link makes an archetype findable by its key.
func (c *archetypeRegistry) link(a *Archetype) {
	if c.ByKey == nil {
		c.ByKey = map[uint64]*Archetype{}
	}
	a.alike = c.ByKey[a.Key]
	c.ByKey[a.Key] = a
}

// leave removes the archetypes that are closed.
func (c *archetypeRegistry) leave() {
	c.List = slices.DeleteFunc(c.List, func(a *Archetype) bool { return a.Table.Closed })
	clear(c.ByKey)
	c.Valued = 0
	for _, a := range c.List {
		c.link(a)
		if len(a.Values) > 0 {
			c.Valued++
		}
	}
}

// tables yields the tables of all archetypes.
func (c *archetypeRegistry) tables(yield func(*table.Table) bool) {
	for _, a := range c.List {
		if !yield(&a.Table.Table) {
			return
		}
	}
}

// verify checks A1 to A3.
func (c *archetypeRegistry) verify() error {
	found, valued := 0, 0
	for key, a := range c.ByKey {
		for ; a != nil; a = a.alike {
			if found++; a.Key != key || a.Table.Closed || c.Find(&a.Table.Sig, a.Values) != a {
				return fmt.Errorf("ecs: A1: %v is listed by %#x, its key is %#x, and its types and values find another, or it was given up",
					a, key, a.Key)
			}
		}
	}
	if found != len(c.List) {
		return fmt.Errorf("ecs: A1: %d archetypes are found, there are %d", found, len(c.List))
	}
	for _, a := range c.List {
		if len(a.Values) > 0 {
			valued++
		}
		if p := a.Copies; p != nil && (p.From != &a.Table.Table || p.IsClosed()) {
			return fmt.Errorf(
				"ecs: A3: copies of rows of %v go to an archetype that was given up, or come from another", a)
		}
		for _, e := range a.Transitions {
			if err := e.verify(a); err != nil {
				return err
			}
		}
	}
	if valued != c.Valued {
		return fmt.Errorf("ecs: A2: %d archetypes have values, not %d", valued, c.Valued)
	}
	return nil
}

// verify checks A3 for one transition of an archetype.
func (e TypeTransition) verify(a *Archetype) error {
	sig := a.Table.Sig
	if sig.Has(e.ID) {
		sig.Drop(e.ID)
	} else {
		sig.Add(e.ID)
	}
	if e.Transition.From != &a.Table.Table || e.Transition.IsClosed() || e.Transition.To.Sig != sig {
		return fmt.Errorf("ecs: A3: the transition of %v for type %d leads from types %v to %v, or one was given up",
			a, e.ID, e.Transition.From.Types, e.Transition.To.Types)
	}
	return nil
}
