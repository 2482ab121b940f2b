package hierarchy

import (
	"fmt"
	"slices"

	"quarry/ecs"
)

// Instantiate copies root with all its descendants n times, as World.InstantiateGroup does: the
// copies have parents and children among themselves, in the same order, and those of root come
// behind the children of its parent. The batch is the n copies of root, then those of each
// descendant. All are made or none: an error is a *ecs.LimitError. It panics like
// World.InstantiateGroup, as when root is not alive or was destroyed.
func (h *Hierarchy) Instantiate(root ecs.Entity, n int) (ecs.Batch, error) {
	group, parent := []ecs.Entity{root}, ecs.Null
	if h.world.Alive(root) {
		group, parent = h.descendants(group, root), h.Parent(root)
	}
	if slices.Contains(group, parent) {
		parent = ecs.Null // in a circle the copies have parents of their own
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

// makeRoom makes room for n children more in parent's buffer, if it has one.
func (h *Hierarchy) makeRoom(parent ecs.Entity, n int) error {
	list, ok := h.children.Mut(parent)
	if !ok || n <= 0 {
		return nil
	}
	return list.TryReserve(list.Len() + n)
}
