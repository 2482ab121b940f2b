package hierarchy

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// ErrBroken is wrapped by the errors of Verify.
var ErrBroken = errors.New("a link is broken")

// Verify checks the invariants H1 to H5 of hierarchy.go and returns an error that names the first
// broken one: a dead parent or child (H1, H2), a link on one side only (H2, H3), a cycle (H4), or a
// write to the slices of ByDepth (H5). Sweep repairs all but the last. Only writes around the
// Hierarchy, including World.Destroy and World.SwapComponents, break invariants. Cost: one visit of
// every link, and a map of all links.
func (h *Hierarchy) Verify() error {
	listed := map[ecs.Entity]bool{}
	nodes := h.nodes.Entities(nil)
	for _, e := range nodes {
		if p := h.parent.Get(e); p != nil && p.Entity != ecs.Null && !h.world.Alive(p.Entity) {
			return broken("H1: %v, the parent of %v, is dead", p.Entity, e)
		}
		for i, c := range h.children.Slice(e) {
			if !h.linked(c.Entity, e) {
				return broken("H2: child %d of %v, %v, is dead or not its child", i, e, c.Entity)
			}
			if listed[c.Entity] {
				return broken("H3: child %d of %v, %v, is there twice", i, e, c.Entity)
			}
			listed[c.Entity] = true
		}
	}
	for _, e := range nodes {
		if p := h.Parent(e); p != ecs.Null && !listed[e] {
			return broken("H3: %v is not among the children of its parent %v", e, p)
		}
	}
	// All links are mutual here, so a walk by level misses entities in cycles and no others.
	h.refresh()
	if n := len(nodes) - len(h.order.nodes); n != 0 {
		return broken("H4: %d entities are under none that has no parent", n)
	}
	return h.verifyOrder()
}

// verifyOrder checks H5 of an order with as many entities as there are nodes.
func (h *Hierarchy) verifyOrder() error {
	o, depth := &h.order, map[ecs.Entity]int{} // plus 1: Null has 0
	for i := 1; i < len(o.starts); i++ {
		for at := o.starts[i-1]; at < o.starts[i]; at++ {
			e, p := o.nodes[at], o.parents[at]
			if depth[e] != 0 || !h.parent.Has(e) && !h.children.Has(e) {
				return broken("H5: %v is in the order twice, or without links", e)
			}
			if p != h.Parent(e) || depth[p] != i-1 {
				return broken("H5: %v is at depth %d under %v, its parent %v is at depth %d",
					e, i-1, p, h.Parent(e), depth[p]-1)
			}
			depth[e] = i
		}
	}
	return nil
}

func broken(format string, args ...any) error {
	return fmt.Errorf("hierarchy: Verify: %w: "+format, append([]any{ErrBroken}, args...)...)
}

// Sweep repairs links that were broken around the hierarchy, and returns the number of repairs. It
// removes a dead Parent. It removes from a buffer dead entities, duplicates, and children of
// another parent. It appends a child that is missing from its parent's buffer. It opens a cycle at
// one of its entities. An error wraps a *ecs.LimitError; another call repairs the rest. Sweep is a
// structural change. Cost: as Verify.
func (h *Hierarchy) Sweep() (mended int, err error) {
	nodes, listed := h.nodes.Entities(nil), map[ecs.Entity]bool{}
	for _, e := range nodes {
		mended += h.prune(e, listed)
	}
	for _, e := range nodes {
		p := h.parent.Get(e)
		if p == nil || p.Entity == ecs.Null || listed[e] {
			continue
		}
		if h.world.Alive(p.Entity) {
			err = h.list(e, p.Entity)
		} else {
			err = ecs.Try(func() { h.parent.Remove(e) })
		}
		if err != nil {
			return mended, fmt.Errorf("hierarchy: Sweep: %w", err)
		}
		mended++
	}
	n, err := h.openCircles(nodes)
	return mended + n, err
}

// openCircles removes one entity of each cycle from its parent.
func (h *Hierarchy) openCircles(nodes []ecs.Entity) (opened int, err error) {
	h.refresh()
	if len(h.order.nodes) == h.nodes.Count() {
		return 0, nil
	}
	for _, e := range nodes {
		for a := range h.Ancestors(e) {
			if a != e {
				continue
			}
			if err := h.SetParent(e, ecs.Null); err != nil {
				return opened, err
			}
			opened++
			break
		}
	}
	return opened, nil
}
