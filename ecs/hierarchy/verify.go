package hierarchy

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// ErrBroken is wrapped by what Verify returns.
var ErrBroken = errors.New("a link is broken")

// Verify checks the invariants, H1 to H5 of hierarchy.go, and names the first that does not hold: a
// parent or child that is dead (H1, H2), a link with one side only (H2, H3), a circle (H4), which
// Sweep mends, or the slices of ByDepth, which a write to them broke (H5). Only writes around the
// Hierarchy break one, World.Destroy included. Cost: it looks at every link, and allocates a map of
// them.
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
	// All links are mutual now, so a level-by-level walk misses circles and nothing else.
	h.refresh()
	if n := len(nodes) - len(h.order.nodes); n != 0 {
		return broken("H4: %d entities are under none that has no parent", n)
	}
	return h.verifyOrder()
}

// verifyOrder checks H5 of an order that has as many entities as there are nodes.
func (h *Hierarchy) verifyOrder() error {
	o, depth := &h.order, map[ecs.Entity]int{} // plus 1: Null has 0
	for i := 1; i < len(o.starts); i++ {
		for at := o.starts[i-1]; at < o.starts[i]; at++ {
			e, p := o.nodes[at], o.parents[at]
			if depth[e] != 0 || !h.parent.Has(e) && !h.children.Has(e) {
				return broken("H5: %v is in the order twice, or without links", e)
			}
			if p != h.Parent(e) || depth[p] != i-1 {
				return broken("H5: %v is at depth %d under %v, its parent %v is at depth %d", e, i-1, p, h.Parent(e), depth[p]-1)
			}
			depth[e] = i
		}
	}
	return nil
}

func broken(format string, args ...any) error {
	return fmt.Errorf("hierarchy: Verify: %w: "+format, append([]any{ErrBroken}, args...)...)
}

// Sweep mends what was done around the hierarchy, and returns how many links that was. A Parent
// that is dead goes; children that are dead, twice or another's leave the buffer; a child that is
// not in its parent's buffer becomes the last there; a circle is opened at one of its entities. An
// error is a *ecs.LimitError, and the rest is mended by another call. It is a structural change.
// Cost: as Verify.
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
			_, err = h.parent.TryRemove(e)
		}
		if err != nil {
			return mended, fmt.Errorf("hierarchy: Sweep: %w", err)
		}
		mended++
	}
	n, err := h.openCircles(nodes)
	return mended + n, err
}

// openCircles takes one entity of each circle from its parent.
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
