package hierarchy

import (
	"slices"

	"quarry/ecs"
)

// Destroy ends entities with all their descendants, and returns how many those are.
// All end or, where it panics like World.DestroyList, none. What is dead is passed by.
// Links that go in a circle end too. Cost: two look-ups an entity, and one pass over
// the children of each parent that stays.
func (h *Hierarchy) Destroy(entities ...ecs.Entity) int {
	var parents []ecs.Entity
	list := slices.Clone(entities) // the dead and strangers too, which DestroyList knows
	for _, e := range entities {
		if h.world.Alive(e) {
			parents = append(parents, h.Parent(e))
			list = h.descendants(list, e)
		}
	}
	n := h.world.DestroyList(list)
	slices.SortFunc(parents, ecs.Entity.Compare)
	for _, p := range slices.Compact(parents) {
		h.prune(p, nil)
	}
	return n
}

// descendants appends all below root to list, parents before children. An entity has one
// parent, so no circle can be entered from above: only root itself may come again.
func (h *Hierarchy) descendants(list []ecs.Entity, root ecs.Entity) []ecs.Entity {
	next := len(list)
	for e := root; ; e, next = list[next], next+1 {
		for c := range h.Children(e) {
			if c != root {
				list = append(list, c)
			}
		}
		if next == len(list) {
			return list
		}
	}
}

// prune takes from e's buffer what is not e's child, and what seen has already, to
// which it adds the others when it is not nil. It returns how many it took.
func (h *Hierarchy) prune(e ecs.Entity, seen map[ecs.Entity]bool) int {
	list, ok := h.children.Mut(e)
	if !ok {
		return 0
	}
	all, kept := list.Slice(), 0
	for _, c := range all {
		if !h.linked(c.Entity, e) || seen[c.Entity] {
			continue
		}
		if seen != nil {
			seen[c.Entity] = true
		}
		all[kept] = c
		kept++
	}
	list.Resize(kept)
	return len(all) - kept
}
