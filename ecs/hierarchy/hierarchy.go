package hierarchy

import (
	"errors"
	"fmt"
	"iter"

	"quarry/ecs"
)

// What SetParent's errors wrap, beside those of package ecs.
var (
	// ErrDead says that an entity is not alive in the hierarchy's world.
	ErrDead = errors.New("not alive in this world")
	// ErrCycle says that an entity would become its own ancestor.
	ErrCycle = errors.New("would be its own ancestor")
)

// inline is how many children lie in the chunk before they spill to the heap.
const inline = 4

// Parent is the component of entities that have a parent. One of Null or of an
// entity that is dead is as none.
type Parent struct{ Entity ecs.Entity }

// Child is an element of the buffer of entities that have, or had, children.
type Child struct{ Entity ecs.Entity }

// Hierarchy keeps the parents and the children of a world's entities true to each
// other. Several of one world are the same, but for what ByDepth remembers. It
// belongs to the world's owner: one goroutine at a time.
type Hierarchy struct {
	world       *ecs.World
	parent      ecs.Component[Parent]
	children    ecs.Buffer[Child]
	addChildren *ecs.Change
	nodes       *ecs.Query // all that have either type
	moved       *ecs.Query // those in chunks that changed since order was made
	order       order
}

// New registers Parent and Child with w and returns its hierarchy. It panics like
// ecs.Register. Make it once: it has two queries, which Close takes out of the world.
func New(w *ecs.World) *Hierarchy {
	p, c := ecs.Register[Parent](w), ecs.RegisterBuffer[Child](w, ecs.Inline(inline))
	either, disabled, prefabs := ecs.Any(p, c), ecs.IncludeDisabled(), ecs.IncludePrefabs()
	return &Hierarchy{
		world: w, parent: p, children: c,
		addChildren: ecs.NewChange(w, ecs.Add(c)),
		nodes:       ecs.NewQuery(w, either, disabled, prefabs),
		moved:       ecs.NewQuery(w, either, disabled, prefabs, ecs.Changed(p, c), ecs.Ordered()),
	}
}

// Close takes the hierarchy's queries out of its world; the links stay.
func (h *Hierarchy) Close() {
	h.nodes.Close()
	h.moved.Close()
}

// ParentType returns the handle of Parent, for archetypes and terms: ecs.Without of it
// finds roots. Writing or removing through it breaks links, which Verify tells: Sweep
// mends them, and comes before the next SetParent of those entities.
func (h *Hierarchy) ParentType() ecs.Component[Parent] { return h.parent }

// ChildType returns the handle of the buffer of children, as ParentType.
func (h *Hierarchy) ChildType() ecs.Buffer[Child] { return h.children }

// Parent returns e's parent, Null when it has none, when its parent is dead and when
// e is. It panics for an entity of another world.
func (h *Hierarchy) Parent(e ecs.Entity) ecs.Entity {
	if p := h.parent.Get(e); p != nil && h.world.Alive(p.Entity) {
		return p.Entity
	}
	return ecs.Null
}

// Children yields e's children in the order in which they came; those that are dead
// or have another parent are passed by. It panics for an entity of another world, and
// when the structure of the world changes meanwhile. Cost: two look-ups a child.
func (h *Hierarchy) Children(e ecs.Entity) iter.Seq[ecs.Entity] {
	return func(yield func(ecs.Entity) bool) {
		list, ok := h.children.Get(e)
		for i := 0; ok && i < list.Len(); i++ {
			c := list.Slice()[i].Entity
			if h.linked(c, e) && !yield(c) {
				return
			}
		}
	}
}

// linked reports whether c is alive and names e, which is alive, as its parent.
func (h *Hierarchy) linked(c, e ecs.Entity) bool {
	return h.world.Alive(c) && h.parent.Has(c) && h.parent.Get(c).Entity == e
}

// Ancestors yields e's parent, its parent and so on. It ends too where links that were
// written directly go in a circle, having yielded each at least once. It panics for an
// entity of another world. Cost: two look-ups each.
func (h *Hierarchy) Ancestors(e ecs.Entity) iter.Seq[ecs.Entity] {
	return func(yield func(ecs.Entity) bool) {
		// The mark moves up after 1, 2, 4 ... steps, so a circle comes to meet it.
		a, mark, left, stride := h.Parent(e), e, 1, 1
		for ; a != ecs.Null; a = h.Parent(a) {
			if !yield(a) || a == mark {
				return
			}
			if left--; left == 0 {
				stride *= 2
				mark, left = a, stride
			}
		}
	}
}

// Depth returns the number of e's ancestors: 0 for a root, and for what is dead.
func (h *Hierarchy) Depth(e ecs.Entity) int {
	n := 0
	for range h.Ancestors(e) {
		n++
	}
	return n
}

// SetParent makes child the last child of parent, and takes it from the one it had;
// Null only takes it, and Parent with it. The order of other children stays, and so does
// child's place when parent is its parent already. It is a structural change where a
// type comes or goes: within a loop over rows that panics.
//
// An error wraps ErrDead or ErrCycle and names both, or is a *ecs.LimitError: a parent has
// 131,072 children at most. No link has changed then. Cost: child's depth in
// look-ups, and a search through the children that it leaves.
func (h *Hierarchy) SetParent(child, parent ecs.Entity) error {
	if err := h.refuse(child, parent); err != nil {
		return fmt.Errorf("hierarchy: SetParent(%v, %v): %w", child, parent, err)
	}
	old := h.Parent(child)
	if parent == ecs.Null {
		if _, err := h.parent.TryRemove(child); err != nil {
			return fmt.Errorf("hierarchy: SetParent(%v, %v): %w", child, parent, err)
		}
		h.unlist(child, old)
		return nil
	}
	if old == parent && h.lists(parent, child) {
		return nil
	}
	if err := h.list(child, parent); err != nil {
		return fmt.Errorf("hierarchy: SetParent(%v, %v): %w", child, parent, err)
	}
	h.parent.Set(child, Parent{parent})
	if old != parent {
		h.unlist(child, old)
	}
	return nil
}

// refuse says why parent cannot be child's, or returns nil.
func (h *Hierarchy) refuse(child, parent ecs.Entity) error {
	if !h.world.Alive(child) {
		return fmt.Errorf("the child is %w", ErrDead)
	}
	if parent == ecs.Null {
		return nil
	}
	if !h.world.Alive(parent) {
		return fmt.Errorf("the parent is %w", ErrDead)
	}
	if child == parent {
		return fmt.Errorf("the child %w", ErrCycle)
	}
	if !h.children.Has(child) {
		return nil // nobody's ancestor
	}
	for a := range h.Ancestors(parent) {
		if a == child {
			return fmt.Errorf("the child %w", ErrCycle)
		}
	}
	return nil
}

// list adds child to parent's buffer and gives child a Parent, all that can fail. On an
// error child may keep a Parent of Null, which is as none.
func (h *Hierarchy) list(child, parent ecs.Entity) error {
	if _, err := h.addChildren.Apply(parent); err != nil {
		return err
	}
	if _, err := h.parent.TryAdd(child, Parent{}); err != nil {
		return err
	}
	list, _ := h.children.Mut(parent)
	return list.TryAppend(Child{child})
}

// lists reports whether child is in parent's buffer.
func (h *Hierarchy) lists(parent, child ecs.Entity) bool {
	for _, c := range h.children.Slice(parent) {
		if c.Entity == child {
			return true
		}
	}
	return false
}

// unlist takes child from the buffer of the parent that it had, if that is alive.
func (h *Hierarchy) unlist(child, old ecs.Entity) {
	list, ok := h.children.Mut(old)
	for i := 0; ok && i < list.Len(); i++ {
		if list.Slice()[i].Entity == child {
			list.RemoveAt(i)
			return
		}
	}
}
