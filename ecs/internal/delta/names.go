package delta

import (
	"maps"
	"slices"

	"quarry/ecs/internal/world"
)

// Names in a delta. For each text whose entities, or their order, differ, it lists all entities of
// both states.

// compareNames compares the names of both states in the order of their texts.
func (x *differ) compareNames() {
	x.namedCount = [2]int{x.Older.Names.Len(), x.Newer.Names.Len()}
	if x.Older.Names.Same(&x.Newer.Names) {
		return
	}
	texts := map[string]bool{}
	for _, w := range [...]*world.World{x.Older, x.Newer} {
		for text := range w.Names.Texts() {
			texts[text] = true
		}
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if older, newer := x.Older.NamedBy(text), x.Newer.NamedBy(text); !slices.Equal(older, newer) {
			x.Names = append(x.Names, deltaName{text, older, newer})
		}
	}
}

// checkNames returns an error unless the world has the names that the delta replaces, and each
// entity will have at most one name.
func (p *deltaPlan) checkNames() error {
	named := p.w.Names.Len()
	if named != p.namedCount[0] {
		return p.refuse("%d entities have names, in its base %d", named, p.namedCount[0])
	}
	if len(p.Names) == 0 && named == p.namedCount[1] {
		return p.checkKeptNames(nil)
	}
	free := map[uint32]bool{}
	for i := range p.Names {
		n := &p.Names[i]
		if i > 0 && n.text <= p.Names[i-1].text || n.text == "" || !slices.Equal(n.older, p.w.NamedBy(n.text)) {
			return p.refuse("other entities than in its base have the name %q", n.text)
		}
		for _, e := range n.older {
			free[e.Index()] = true
		}
		named += len(n.newer) - len(n.older)
	}
	if named != p.namedCount[1] {
		return p.refuse("%d entities will have names, not %d", named, p.namedCount[1])
	}
	given := map[uint32]bool{}
	for i := range p.Names {
		for _, e := range p.Names[i].newer {
			taken := p.w.Names.Of(e.Index()) != "" && !free[e.Index()]
			if !p.living(e) || taken || given[e.Index()] {
				return p.refuse("%v gets the name %q, and has another, or is not alive", e, p.Names[i].text)
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
	for e, text := range p.w.Names.All() {
		if !free[e.Index()] && !p.living(e) {
			return p.refuse("%v ends and keeps the name %q", e, text)
		}
	}
	return nil
}

// dropNames removes the names that differ. giveNames gives the new ones, when entities are alive.
func (p *deltaPlan) dropNames() {
	for i := range p.Names {
		for _, e := range p.Names[i].older {
			p.w.Names.Remove(e.Index())
		}
	}
}

func (p *deltaPlan) giveNames() {
	for i := range p.Names {
		for _, e := range p.Names[i].newer {
			p.w.SetName(e, p.Names[i].text)
		}
	}
}
