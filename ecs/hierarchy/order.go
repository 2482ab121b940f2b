package hierarchy

import (
	"iter"

	"quarry/ecs"
)

// order is all linked entities by depth, and for each its parent.
type order struct {
	nodes, parents []ecs.Entity
	starts         []int // where each level begins, and the end
	count          int   // entities that the query of nodes had
}

// ByDepth yields the levels, parents before children: every entity at one depth that
// has a parent or a buffer of children, and the parent of each, Null in level 0. In a
// level the children of one parent stand together, in order. Hidden
// entities are there too. Entities without either type are roots that it leaves out.
//
// The slices are to read. They are made anew by the first call after links
// were set or rows with links came, went or moved, and good until then; else a call
// allocates nothing and costs a comparison a chunk. Making them costs some look-ups
// an entity. Entities whose links were broken directly may be missing until Sweep.
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

// refresh makes the order anew when something has changed. A chunk that lost its last
// row is shown by no query, so the entities are counted as well.
func (h *Hierarchy) refresh() {
	if h.order.count == h.nodes.Count() && h.moved.Empty() {
		return
	}
	h.order.make(h)
	for range h.moved.Rows() {
		continue // the end of the loop moves the query's Since to now
	}
}

// make fills the order level by level, from the entities without a parent.
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
