package ecs

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/value"
)

// Change is a structural change of components: it adds and removes types in one move. Create it
// once and apply it often. Adding a type that an entity already has, or removing one that it lacks,
// has no effect. Added components are zero, and enabled. Sparse types are added and removed after
// rows have moved; an entity that was destroyed and is kept by Cleanup types gets none.
type Change struct {
	w       *World
	add     signature
	remove  signature
	entries []entryChange   // sparse types that are added or removed
	adds    bool            // something is added
	put     []*value.Shared // values that replace an entity's own
	given   []*value.Shared // values for entities that have none
	into    *Archetype      // if set, entities get exactly its types and values
	dies    bool            // the change is destruction: entities keep only what Destroy leaves of them
	paths   []*path         // by index of the source archetype; nil: not looked up yet
}

// Part is a part of a change: Add, Put or Remove.
type Part struct {
	types  []Type
	remove bool
	put    bool
}

// Add is the part of a change that adds types to entities. A shared type may be given by a value,
// which only entities without a value get; the type alone stands for its zero value.
func Add(types ...Type) Part { return Part{types: types} }

// Remove is the part of a change that removes types from entities.
func Remove(types ...Type) Part { return Part{types: types, remove: true} }

// Put is the part of a change that gives entities shared values, whether or not they had values
// before.
func Put(values ...SharedValue) Part {
	types := make([]Type, len(values))
	for i, v := range values {
		types[i] = v
	}
	return Part{types: types, put: true}
}

// NewChange creates a change. It panics for a type that is given twice, also if it is both added
// and removed, and for a type of another world.
func NewChange(w *World, parts ...Part) *Change {
	w.checkNew("NewChange")
	c := &Change{w: w}
	for _, p := range parts {
		for _, t := range p.types {
			id := w.idOf("NewChange", t)
			if info := w.types.list[id]; info.place() == perEntity {
				c.takeSparse(info, p)
				continue
			}
			switch {
			case id == dyingID:
				panic("ecs: NewChange: CleanupEntity comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
			case c.add.Has(id) != c.remove.Has(id) && c.remove.Has(id) != p.remove:
				// errors.md, Types, terms and handles: `is added and removed` | A change that does
				// both with one type. | Two changes, or `Set` if only the value matters.
				panic(fmt.Sprintf("ecs: NewChange: %s is added and removed", w.types.list[id].name))
			case c.add.Has(id) || c.remove.Has(id):
				panic(fmt.Sprintf("ecs: NewChange: %s is given twice", w.types.list[id].name))
			case p.remove:
				c.remove.Add(id)
			default:
				c.add.Add(id)
				c.adds = true
			}
			if s, ok := t.(SharedValue); ok {
				c.take(s, p)
			}
		}
	}
	return c
}

// Into returns the change that moves entities, whatever their types, into the archetype a in one
// move. Types that an entity lacks are added, zero and enabled; types that a lacks are removed;
// components of types in both keep their values. Into panics if a has the tag CleanupEntity.
func Into(a *Archetype) *Change {
	if a == nil || a.w == nil {
		panic("ecs: Into: " + unmade["Archetype"])
	}
	if a.dying {
		refuseDying("Into")
	}
	if a.into == nil {
		a.into = &Change{w: a.w, into: a}
	}
	return a.into
}

// take records a shared value given in a part.
func (c *Change) take(v SharedValue, p Part) {
	switch {
	case p.remove:
		// errors.md, Types, terms and handles: `name the type, entities lose any value of it` |
		// `Remove` of a shared value. | `ecs.Remove(team)`.
		panic(fmt.Sprintf("ecs: NewChange: Remove(%v): name the type, entities lose any value of it", v))
	case p.put:
		c.put = append(c.put, v.v)
	default:
		c.given = append(c.given, v.v)
	}
}

// World returns the change's world.
func (c *Change) World() *World { return c.w }

// String lists what the change adds and removes.
func (c *Change) String() string {
	if c.w == nil {
		return "change of no world"
	}
	if c.into != nil {
		return "change into " + c.into.String()
	}
	if c.dies {
		return "destruction"
	}
	text := "change"
	for id, t := range c.w.types.list {
		put, given := valueIn(c.put, typeID(id)), valueIn(c.given, typeID(id))
		switch {
		case put != nil:
			text += " " + t.textOf(put)
		case given != nil:
			text += " +" + t.textOf(given)
		case c.add.Has(typeID(id)):
			text += " +" + t.name
		case c.remove.Has(typeID(id)):
			text += " -" + t.name
		}
	}
	for _, e := range c.entries {
		if e.remove {
			text += " -" + e.t.name
		} else {
			text += " +" + e.t.name
		}
	}
	return text
}

// outcome returns what the change does to the entities of an archetype. It creates the target
// archetype if there is none.
func (c *Change) outcome(a *Archetype) (change.Outcome, error) {
	for int(a.table.Index) >= len(c.paths) {
		c.paths = append(c.paths, nil)
	}
	if p := c.paths[a.table.Index]; p != nil && p.From == &a.table.Table && !p.To.Closed {
		return outcomeBy(p), nil
	}
	to, ends, err := c.target(a)
	switch {
	case err != nil:
		return change.Stay(), err
	case ends:
		return change.End(), nil
	case a.differs(to):
		return change.Move(a.table.Sideways(&to.table.Table)), nil
	}
	c.paths[a.table.Index] = a.table.To(&to.table.Table)
	return outcomeBy(c.paths[a.table.Index]), nil
}

// outcomeBy returns the outcome for rows that take the transition p. If p leads back to its own
// archetype, the rows stay.
func outcomeBy(p *path) change.Outcome {
	if p.To == p.From {
		return change.Stay()
	}
	return change.Move(p)
}

// target returns the archetype that entities of a move to. ends reports that they are destroyed
// instead.
func (c *Change) target(a *Archetype) (to *Archetype, ends bool, err error) {
	if c.into != nil && c.into.table.Closed {
		if c.into, err = c.into.again(); err != nil {
			return nil, false, err
		}
	}
	if c.into != nil && !a.dying {
		return c.into, false, nil
	}
	sig := c.typesOf(a)
	if sig.Has(dyingID) && !sig.Meets(&c.w.types.cleanup) || c.dies && !a.lasting {
		return nil, true, nil
	}
	put := c.put
	if c.into != nil {
		put = c.into.values
	}
	to, err = c.w.archetypeOf(sig, c.w.valuesFor(make([]*value.Shared, 0, usualValues), &sig, put, a, c.given))
	return to, false, err
}

// typesOf returns the types that an entity of a has after the change.
func (c *Change) typesOf(a *Archetype) signature {
	sig := a.table.Sig
	switch {
	case c.into != nil:
		sig = c.into.table.Sig
		sig.Add(dyingID)
	case c.dies && !a.table.Sig.Has(dyingID):
		for i := range sig {
			sig[i] &= c.w.types.cleanup[i]
		}
		sig.Add(dyingID)
	}
	for i := range sig {
		sig[i] = sig[i]&^c.remove[i] | c.add[i]
	}
	return sig
}
