package edit

import (
	"fmt"

	"quarry/ecs/internal/change"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// Change is ecs.Change.
type Change struct {
	World       *world.World
	add         world.Signature
	remove      world.Signature
	entries     []entryChange       // sparse types that are added or removed
	adds        bool                // something is added
	put         []*value.Shared     // values that replace an entity's own
	given       []*value.Shared     // values for entities that have none
	Into        *world.Archetype    // if set, entities get exactly its types and values
	destroys    bool                // the change is destruction: entities keep only what Destroy leaves of them
	transitions []*world.Transition // by index of the source archetype; nil: not looked up yet
}

// Part is the content of an ecs.Part.
type Part struct {
	Types  []Given
	Remove bool
	Put    bool
}

// Given is a type that a part of a change names, by a value of it or alone.
type Given struct {
	Type  *world.Type
	Value *value.Shared // nil: the type alone
}

// TakePart adds a part to the change.
func (c *Change) TakePart(p *Part) {
	w := c.World
	for _, of := range p.Types {
		w.CheckOwn("NewChange", of.Type)
		id := of.Type.ID
		if of.Type.Place() == world.PerEntity {
			c.takeSparse(of.Type, p)
			continue
		}
		switch {
		case id == world.CleanupEntityID:
			panic("ecs: NewChange: CleanupEntity comes with World.Destroy and goes with the last Cleanup type; it cannot be added or removed")
		case c.add.Has(id) != c.remove.Has(id) && c.remove.Has(id) != p.Remove:
			panic(fmt.Sprintf("ecs: NewChange: %s is added and removed", w.Types.List[id].Name))
		case c.add.Has(id) || c.remove.Has(id):
			panic(fmt.Sprintf("ecs: NewChange: %s is given twice", w.Types.List[id].Name))
		case p.Remove:
			c.remove.Add(id)
		default:
			c.add.Add(id)
			c.adds = true
		}
		if of.Value != nil {
			c.take(of, p)
		}
	}
}

// take records a shared value given in a part.
func (c *Change) take(of Given, p *Part) {
	switch {
	case p.Remove:
		panic(fmt.Sprintf("ecs: NewChange: Remove(%v): name the type, entities lose any value of it",
			of.Type.TextOf(of.Value)))
	case p.Put:
		c.put = append(c.put, of.Value)
	default:
		c.given = append(c.given, of.Value)
	}
}

// String is ecs.Change.String.
func (c *Change) String() string {
	if c.World == nil {
		return "change of no world"
	}
	if c.Into != nil {
		return "change into " + c.Into.String()
	}
	if c.destroys {
		return "destruction"
	}
	text := "change"
	for id, t := range c.World.Types.List {
		put, given := world.ValueIn(c.put, world.TypeID(id)), world.ValueIn(c.given, world.TypeID(id))
		switch {
		case put != nil:
			text += " " + t.TextOf(put)
		case given != nil:
			text += " +" + t.TextOf(given)
		case c.add.Has(world.TypeID(id)):
			text += " +" + t.Name
		case c.remove.Has(world.TypeID(id)):
			text += " -" + t.Name
		}
	}
	for _, e := range c.entries {
		if e.remove {
			text += " -" + e.t.Name
		} else {
			text += " +" + e.t.Name
		}
	}
	return text
}

// outcome returns what the change does to the entities of an archetype. It creates the target
// archetype if there is none.
func (c *Change) outcome(a *world.Archetype) (change.Outcome, error) {
	for int(a.Table.Index) >= len(c.transitions) {
		c.transitions = append(c.transitions, nil)
	}
	if p := c.transitions[a.Table.Index]; p != nil && p.From == &a.Table.Table && !p.To.Closed {
		return outcomeOf(p), nil
	}
	to, ends, err := c.target(a)
	switch {
	case err != nil:
		return change.Stay(), err
	case ends:
		return change.End(), nil
	case a.Differs(to):
		return change.Move(a.Table.ToSharedValue(&to.Table.Table)), nil
	}
	c.transitions[a.Table.Index] = a.Table.To(&to.Table.Table)
	return outcomeOf(c.transitions[a.Table.Index]), nil
}

// outcomeOf returns the outcome for rows that take the transition p. If p leads back to its own
// archetype, the rows stay.
func outcomeOf(p *world.Transition) change.Outcome {
	if p.To == p.From {
		return change.Stay()
	}
	return change.Move(p)
}

// target returns the archetype that entities of a move to. ends reports that they are destroyed
// instead.
func (c *Change) target(a *world.Archetype) (to *world.Archetype, ends bool, err error) {
	if c.Into != nil && c.Into.Table.Closed {
		if c.Into, err = c.Into.Current(); err != nil {
			return nil, false, err
		}
	}
	if c.Into != nil && !a.CleanupOnly {
		return c.Into, false, nil
	}
	sig := c.typesOf(a)
	if sig.Has(world.CleanupEntityID) && !sig.Meets(&c.World.Types.Cleanup) || c.destroys && !a.DestroyedByChange {
		return nil, true, nil
	}
	put := c.put
	if c.Into != nil {
		put = c.Into.Values
	}
	to, err = c.World.ArchetypeOf(sig, c.World.ValuesFor(make([]*value.Shared, 0, world.UsualValues), &sig,
		put, a, c.given))
	return to, false, err
}

// typesOf returns the types that an entity of a has after the change.
func (c *Change) typesOf(a *world.Archetype) world.Signature {
	sig := a.Table.Sig
	switch {
	case c.Into != nil:
		sig = c.Into.Table.Sig
		sig.Add(world.CleanupEntityID)
	case c.destroys && !a.Table.Sig.Has(world.CleanupEntityID):
		for i := range sig {
			sig[i] &= c.World.Types.Cleanup[i]
		}
		sig.Add(world.CleanupEntityID)
	}
	for i := range sig {
		sig[i] = sig[i]&^c.remove[i] | c.add[i]
	}
	return sig
}
