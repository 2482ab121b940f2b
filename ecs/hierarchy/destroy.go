package hierarchy

import (
	"slices"

	"quarry/ecs"
)

// Destroy ends the entities and all their descendants, and returns how many it ended. Dead entities
// are ignored, and cycles end too. If Destroy panics, as World.DestroyList does, no entity has
// ended. Cost: two look-ups an entity, and one pass over the children of each parent that stays.
func (h *Hierarchy) Destroy(entities ...ecs.Entity) int {
	var parents []ecs.Entity
	list := slices.Clone(entities) // dead and foreign entities are left to DestroyList
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

// descendants appends everything below root to list, parents before children. An entity has one
// parent, so no cycle can be entered from above: only root itself may appear again.
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

// prune removes from e's buffer every entity that is not e's child, and every entity that is
// already in seen. If seen is not nil, prune adds the remaining children to it. It returns how many
// entities it removed.
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
