package hierarchy

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Instantiate copies root and all its descendants n times, like World.InstantiateGroup. The copies
// are linked among themselves, in the same order. The copies of root become the last children of
// root's parent. The batch has the n copies of root first, then the copies of each descendant.
// Either all copies are made, or none is and the error wraps a *ecs.LimitError. Instantiate panics
// like World.InstantiateGroup, for instance if root is not alive.
func (h *Hierarchy) Instantiate(root ecs.Entity, n int) (ecs.Batch, error) {
	group, parent := []ecs.Entity{root}, ecs.Null
	if h.world.Alive(root) {
		group, parent = h.descendants(group, root), h.Parent(root)
	}
	if slices.Contains(group, parent) {
		parent = ecs.Null // in a cycle the copies have parents of their own
	}
	if err := h.makeRoom(parent, n); err != nil {
		return ecs.Batch{}, fmt.Errorf("hierarchy: Instantiate(%v, %d): %w", root, n, err)
	}
	batch, err := h.world.InstantiateGroup(group, n)
	if err != nil {
		return batch, err
	}
	copies := batch.Entities(nil)[:n]
	list, ok := h.children.Mut(parent)
	for _, e := range copies {
		if ok {
			list.Append(Child{e})
		} else if p := h.parent.Get(e); p != nil && !h.world.Alive(p.Entity) {
			h.parent.Set(e, Parent{}) // root's parent is dead
		}
	}
	return batch, nil
}

// makeRoom makes room for n more children in parent's buffer, if it has one.
func (h *Hierarchy) makeRoom(parent ecs.Entity, n int) error {
	list, ok := h.children.Mut(parent)
	if !ok || n <= 0 {
		return nil
	}
	return ecs.Try(func() { list.Reserve(list.Len() + n) })
}
