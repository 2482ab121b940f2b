package hierarchy

import (
	"iter"

	"quarry/ecs"
)

// order lists all linked entities by depth, each with its parent.
type order struct {
	nodes, parents []ecs.Entity
	starts         []int // where each level begins; the last element is the end
	count          int   // entities that nodes had when the order was made
}

// ByDepth yields the levels of the hierarchy, parents before children. A level has every entity of
// one depth with a parent or a buffer of children, and the parent of each; in level 0 the parents
// are Null. Children of one parent are adjacent, in order. Disabled entities and prefabs are
// included. Entities with neither type are roots that ByDepth leaves out.
//
// The slices are read-only. They are valid until a call of ByDepth that follows a change: links
// set, or rows with links added, removed or moved. That call rebuilds the order, at the cost of
// some look-ups an entity. Every other call allocates nothing and costs one comparison a chunk.
// Entities whose links were broken directly may be missing until Sweep. ByDepth panics while the
// world is lent, since it may rebuild the order that another goroutine reads; slices from before
// Share are good until Borrow.End.
func (h *Hierarchy) ByDepth() iter.Seq2[[]ecs.Entity, []ecs.Entity] {
	h.refresh()
	return func(yield func(nodes, parents []ecs.Entity) bool) {
		o := &h.order
		for i := 1; i < len(o.starts); i++ {
			lo, hi := o.starts[i-1], o.starts[i]
			if !yield(o.nodes[lo:hi:hi], o.parents[lo:hi:hi]) {
				return
			}
		}
	}
}

// refresh rebuilds the order if something has changed, and panics while the world is lent. A
// chunk that lost its last row is no longer visible to a query, so the entities are counted as
// well.
func (h *Hierarchy) refresh() {
	if h.world.Lent() {
		panic("hierarchy: Hierarchy.ByDepth: the world is lent; take the levels before World.Lend, they are good until Borrow.End")
	}
	if h.order.count == h.nodes.Count() && h.moved.Empty() {
		return
	}
	h.order.make(h)
	for range h.moved.Rows() {
		continue // the end of the loop sets the query's Since to now
	}
}

// make fills the order level by level, starting with the entities without a parent.
func (o *order) make(h *Hierarchy) {
	o.nodes, o.parents, o.starts = o.nodes[:0], o.parents[:0], append(o.starts[:0], 0)
	o.count = h.nodes.Count()
	for rows := range h.nodes.Rows() {
		for i := range rows.Each() {
			if e := rows.Entities()[i]; h.Parent(e) == ecs.Null {
				o.nodes, o.parents = append(o.nodes, e), append(o.parents, ecs.Null)
			}
		}
	}
	for lo := 0; lo < len(o.nodes); {
		hi := len(o.nodes)
		o.starts = append(o.starts, hi)
		for _, e := range o.nodes[lo:hi] {
			for _, c := range h.children.Slice(e) {
				if h.linked(c.Entity, e) {
					o.nodes, o.parents = append(o.nodes, c.Entity), append(o.parents, e)
				}
			}
		}
		lo = hi
	}
}
