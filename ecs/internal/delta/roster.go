package delta

import (
	"slices"

	"quarry/ecs/internal/codec"
	"quarry/ecs/internal/snapshot"
	"quarry/ecs/internal/value"
	"quarry/ecs/internal/world"
)

// The roster lists the archetypes of a state in the order in which queries visit them, also those
// without rows: later rows are visited at their archetype's place. If the rosters of two states
// differ, a delta has the newer one, as runs of the older list:
//
//	0..11 of the older state, 13..40, one with types and shared values, ...
//
// Archetypes in no run were given up. A checksum of the older list shows whether a world's own
// list begins with it. A world with another list makes the new archetypes and reorders only those
// with rows. Archetypes whose shared values cannot be encoded are in no list: each stays after its
// predecessor.

// deltaRoster is the archetypes of the newer state.
type deltaRoster struct {
	older int    // archetypes of the older state
	sum   uint64 // of them, see rosterSum
	types []world.Description
	parts []rosterPart
}

// rosterPart is n archetypes of the older state that follow one another, or, if n is 0, one that is
// described.
type rosterPart struct {
	first, n int
	types    []int // in deltaRoster.types
	values   [][]byte
	pinned   bool
}

// tableWritable reports whether deltas can describe the archetype.
func tableWritable(a *world.Archetype) bool {
	for _, v := range a.Values {
		if _, err := a.World.Types.List[v.Type].EncodeForDelta(v.Any()); err != nil {
			return false
		}
	}
	return true
}

// writable returns the archetypes that deltas can describe, in order.
func writable(w *world.World) []*world.Archetype {
	return slices.DeleteFunc(slices.Clone(w.Archetypes.List),
		func(a *world.Archetype) bool { return !tableWritable(a) })
}

// rosterSum returns a hash of the types and shared values of archetypes, in order.
func rosterSum(w *world.World, list []*world.Archetype) uint64 {
	h, sum := world.NewHashing(w), world.HashAt(0)
	for _, a := range list {
		types := uint64(0)
		for _, id := range a.Table.Types {
			shared := uint64(0)
			if v := a.ValueOf(id); v != nil {
				shared = h.Shared(v)
			}
			types += world.HashWords(h.Types[id], shared)
		}
		sum = world.HashWord(sum, types)
	}
	return world.HashEnd(sum)
}

// compareRosters compares the archetypes of both states and their order.
func (x *differ) compareRosters() {
	r := &deltaRoster{}
	list, at, numbers := writable(x.Older), map[*world.Archetype]int{}, map[world.TypeID]int{}
	for i, a := range list {
		at[a] = i
	}
	for _, a := range x.Newer.Archetypes.List {
		old := archetypeLike(x.Older, a)
		place, had := at[old]
		switch last := len(r.parts) - 1; {
		case !had || old.Pinned != a.Pinned:
			if tableWritable(a) {
				r.parts = append(r.parts, x.rosterPart(r, a, numbers))
			}
		case last >= 0 && r.parts[last].n > 0 && r.parts[last].first+r.parts[last].n == place:
			r.parts[last].n++
		default:
			r.parts = append(r.parts, rosterPart{first: place, n: 1})
		}
	}
	r.older, r.sum = len(list), rosterSum(x.Older, list)
	if len(r.parts) == 1 && r.parts[0].n == r.older || len(r.parts) == 0 && r.older == 0 {
		return // they differ only in archetypes that cannot be described
	}
	x.Delta.Roster = r
}

// rosterPart describes a writable archetype of the newer state.
func (x *differ) rosterPart(r *deltaRoster, a *world.Archetype, numbers map[world.TypeID]int) rosterPart {
	part := rosterPart{pinned: a.Pinned}
	for _, id := range a.Table.Types {
		n, ok := numbers[id]
		if !ok {
			n = len(r.types)
			numbers[id] = n
			r.types = append(r.types, x.described[id])
		}
		part.types = append(part.types, n)
		if v := a.ValueOf(id); v != nil {
			encoded, _ := x.Newer.Types.List[id].EncodeForDelta(v.Any()) // which is writable
			part.values = append(part.values, encoded)
		}
	}
	return part
}

// roster codes the archetypes. Deltas of format 1 have no roster.
func (c *deltaCoder) roster(d *Delta) {
	has := d.Roster != nil
	if c.Flag(&has); !has {
		return
	}
	if c.Reading {
		d.Roster = &deltaRoster{}
	}
	r := d.Roster
	c.Number(&r.older)
	c.Word(&r.sum)
	codec.List(&c.Coder, &r.types, func(t *world.Description) { t.Code(&c.Coder) })
	codec.List(&c.Coder, &r.parts, func(p *rosterPart) {
		if c.Number(&p.n); p.n > 0 {
			c.Number(&p.first)
			return
		}
		codec.List(&c.Coder, &p.types, c.Number)
		codec.List(&c.Coder, &p.values, c.Bytes)
		c.Flag(&p.pinned)
	})
}

// plannedRoster is a deltaRoster resolved against a world.
type plannedRoster struct {
	old   []*world.Archetype        // those of the older state; nil: the world has others, and keeps its order
	gone  map[*world.Archetype]bool // of old, those that the newer state does not have
	parts []plannedPart
}

// plannedPart is archetypes of the older state, or one that is described.
type plannedPart struct {
	first, n int
	sig      world.Signature
	given    []*value.Shared
	pinned   bool
	a        *world.Archetype // that is described; nil until it is made
	lacks    bool             // the world lacks one of its types, and goes without it
}

// checkRoster finds the archetypes of the newer state. Types that only archetypes without rows have
// need not be registered.
func (p *deltaPlan) checkRoster() error {
	r := p.Delta.Roster
	if r == nil {
		return nil
	}
	types := make([]*world.Type, len(r.types))
	for i := range r.types {
		types[i], _ = r.types[i].Find(p.described)
	}
	if list := writable(p.w); r.older <= len(list) && rosterSum(p.w, list[:r.older]) == r.sum {
		p.roster.old = list[:r.older]
	}
	for i := range r.parts {
		part := &r.parts[i]
		planned := plannedPart{first: part.first, n: part.n, pinned: part.pinned}
		if part.first > r.older || part.n > r.older-part.first {
			return p.refuse("%d archetypes from %d on of %d", part.n, part.first, r.older)
		}
		if part.n == 0 {
			for _, of := range part.types {
				planned.lacks = planned.lacks || of < len(types) && types[of] == nil
			}
		}
		if part.n == 0 && !planned.lacks {
			var err error
			if planned.sig, planned.given, err = p.archetypeOf(types, part.types, part.values, 0); err != nil {
				return err
			}
		}
		p.roster.parts = append(p.roster.parts, planned)
	}
	return nil
}

// makeRoster makes the new archetypes.
func (p *deltaPlan) makeRoster() error {
	for i := range p.roster.parts {
		part := &p.roster.parts[i]
		if part.n > 0 || part.lacks {
			continue
		}
		a, err := p.w.ArchetypeOf(part.sig, p.w.ValuesFor(nil, &part.sig, part.given, nil, nil))
		if err != nil {
			return world.WithOp(p.op, err)
		}
		part.a = a
	}
	return nil
}

// arrangeRoster gives the archetypes the order of the newer state. Archetypes that it lacks follow
// in their present order.
func (p *deltaPlan) arrangeRoster() {
	for i := range p.roster.parts {
		if part := &p.roster.parts[i]; part.a != nil {
			part.a.Pinned = part.a.Pinned || part.pinned
		}
	}
	if p.roster.old == nil {
		return
	}
	w, listed := p.w, map[*world.Archetype]bool{}
	order, followers := p.rosterFollowers()
	add := func(a *world.Archetype) {
		if a != nil && !listed[a] {
			listed[a] = true
			order = append(append(order, a), followers[a]...)
		}
	}
	for i := range p.roster.parts {
		part := &p.roster.parts[i]
		add(part.a)
		for _, a := range p.roster.old[part.first : part.first+part.n] {
			add(a)
		}
	}
	if !slices.Equal(order, w.Archetypes.List[:min(len(order), len(w.Archetypes.List))]) {
		snapshot.Arrange(w, order)
	}
	p.roster.gone = map[*world.Archetype]bool{}
	for _, a := range p.roster.old {
		p.roster.gone[a] = !listed[a]
	}
}

// retireGone gives up archetypes that the newer state lacks, if they have no rows and are not held.
func (p *deltaPlan) retireGone() {
	if gone := p.roster.gone; gone != nil {
		p.w.Retire(func(a *world.Archetype) bool { return gone[a] && !a.Pinned && a.Table.Len() == 0 })
	}
}

// rosterFollowers returns the archetypes that cannot be described: those at the beginning, and
// those after each describable one.
func (p *deltaPlan) rosterFollowers() (first []*world.Archetype, followers map[*world.Archetype][]*world.Archetype) {
	followers = map[*world.Archetype][]*world.Archetype{}
	var last *world.Archetype
	for _, a := range p.w.Archetypes.List {
		switch {
		case tableWritable(a):
			last = a
		case last == nil:
			first = append(first, a)
		default:
			followers[last] = append(followers[last], a)
		}
	}
	return first, followers
}
