package ecs

import (
	"maps"
	"slices"

	"quarry/ecs/internal/entity"
)

// Names in a delta. Of each text whose entities, or their order, differ, a delta has all entities
// of both states.

// namedBy returns the entities that a text names, from the one named first on.
func (w *World) namedBy(text string) (all []entity.ID) {
	all = slices.Collect(w.names.AllNamed(text))
	slices.Reverse(all)
	return all
}

// compareNames compares the names of both states, by rising text.
func (x *differ) compareNames() {
	x.namedCount = [2]int{x.older.names.Len(), x.newer.names.Len()}
	if x.older.names.Same(&x.newer.names) {
		return
	}
	texts := map[string]bool{}
	for _, w := range [...]*World{x.older, x.newer} {
		for text := range w.names.Texts() {
			texts[text] = true
		}
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if was, is := x.older.namedBy(text), x.newer.namedBy(text); !slices.Equal(was, is) {
			x.names = append(x.names, deltaName{text, was, is})
		}
	}
}

// checkNames returns an error unless the world has the names of the older state, as far as they
// differ, and each entity will have one name.
func (p *deltaPlan) checkNames() error {
	free, named := map[uint32]bool{}, p.w.names.Len()
	if named != p.namedCount[0] {
		return p.refuse("%d entities have names, in its base %d", named, p.namedCount[0])
	}
	for i := range p.names {
		n := &p.names[i]
		if i > 0 && n.text <= p.names[i-1].text || n.text == "" || !slices.Equal(n.was, p.w.namedBy(n.text)) {
			return p.refuse("other entities than in its base have the name %q", n.text)
		}
		for _, e := range n.was {
			free[e.Index()] = true
		}
		named += len(n.is) - len(n.was)
	}
	if named != p.namedCount[1] {
		return p.refuse("%d entities will have names, not %d", named, p.namedCount[1])
	}
	given := map[uint32]bool{}
	for i := range p.names {
		for _, e := range p.names[i].is {
			taken := p.w.names.Of(e.Index()) != "" && !free[e.Index()]
			if !p.living(e) || taken || given[e.Index()] {
				return p.refuse("%v gets the name %q, and has another, or is not alive", e, p.names[i].text)
			}
			given[e.Index()] = true
		}
	}
	return p.checkKeptNames(free)
}

// checkKeptNames returns an error if an entity that ends keeps its name.
func (p *deltaPlan) checkKeptNames(free map[uint32]bool) error {
	if p.odd == 0 {
		return nil
	}
	for e, text := range p.w.names.All() {
		if !free[e.Index()] && !p.living(e) {
			return p.refuse("%v ends and keeps the name %q", e, text)
		}
	}
	return nil
}

// dropNames removes the names that differ. giveNames gives the new ones, when entities are alive.
func (p *deltaPlan) dropNames() {
	for i := range p.names {
		for _, e := range p.names[i].was {
			p.w.names.Remove(e.Index())
		}
	}
}

func (p *deltaPlan) giveNames() {
	for i := range p.names {
		for _, e := range p.names[i].is {
			p.w.SetName(Entity(e), p.names[i].text)
		}
	}
}
