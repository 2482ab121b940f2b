package hierarchy

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"quarry/ecs"
)

// The links.
//
// Each link is stored twice: the child names its parent in a component, and the parent lists the
// child in a buffer. Either alone would serve one direction, and cost a search of the world for the
// other. The third way, a linked list of siblings, costs a cold record per step and a second write
// per neighbour. Entities have versions, so a name that outlives its entity is recognized as dead.
// Look-ups are therefore right without clean-up; what World.Destroy leaves behind is ignored until
// Sweep.
//
//	Parent of moon = earth         <- the truth: one word, so no entity has two parents
//	[]Child of earth = moon, ...   <- the index of it, in the order in which they came
//
// If the two differ, the child's word counts. SetParent therefore first does everything that can
// fail: the buffer, the child's Parent of Null, the element. Then it writes the child's word, which
// makes the link. Last, it removes the child from its former parent's list, which cannot fail.
//
// The list keeps its order, so removing a child takes a search and moves the siblings behind it: 8
// B a sibling, read in order, about 1.0 us for 10,000. An index kept in the child would save the
// search but not the move, and would be one more thing to keep consistent. Destroy removes all
// ended children from a parent's list in one pass, 41 ns for each of 10,000.
//
// Invariants, checked by Verify. Only writes around the Hierarchy break them, including
// World.Destroy, World.Instantiate and World.SwapComponents. Sweep repairs the first four:
//
//	H1 A Parent is Null or alive.
//	H2 Every entity in a buffer is alive, and its Parent is the buffer's entity.
//	H3 An entity with a parent is in that parent's buffer exactly once.
//	H4 No entity is its own ancestor.
//	H5 While no chunk of linked entities has changed since the order of ByDepth was made,
//	   the order has each linked entity once, one level after its parent.

// Errors that SetParent's errors wrap, besides the errors of package ecs.
var (

	// ErrDead is the error of an entity that is not alive in the hierarchy's world.
	ErrDead = errors.New("not alive in this world")

	// ErrCycle is the error of an entity that would become its own ancestor.
	ErrCycle = errors.New("would be its own ancestor")
)

// inline is how many children lie in the chunk before they spill to the heap.
const inline = 4

// Parent is the component of entities that have a parent. A Parent of Null or of a dead entity
// counts as none.
type Parent struct{ Entity ecs.Entity }

// Child is an element of the buffer of an entity that has or had children.
type Child struct{ Entity ecs.Entity }

// Hierarchy keeps the parents and the children of a world's entities consistent. All hierarchies of
// one world see the same links; only the order that ByDepth keeps is their own. A Hierarchy belongs
// to the world's owner: one goroutine at a time.
type Hierarchy struct {
	world       *ecs.World
	parent      ecs.Component[Parent]
	children    ecs.Buffer[Child]
	addChildren *ecs.Change
	nodes       *ecs.Query // all entities with either type
	moved       *ecs.Query // the nodes in chunks that changed since order was made
	order       order
}

// New registers Parent and Child with w and returns a hierarchy of w. It panics if w is nil, and
// like ecs.Register. Make one hierarchy per world: each has two queries, which Close removes.
func New(w *ecs.World) *Hierarchy {
	if w == nil {
		panic("hierarchy: New: the world is nil")
	}
	p, c := ecs.Register[Parent](w), ecs.RegisterBuffer[Child](w, ecs.Inline(inline))
	either, disabled, prefabs := ecs.Any(p, c), ecs.IncludeDisabled(), ecs.IncludePrefabs()
	return &Hierarchy{
		world: w, parent: p, children: c,
		addChildren: ecs.NewChange(w, ecs.Add(c)),
		nodes:       ecs.NewQuery(w, either, disabled, prefabs),
		moved:       ecs.NewQuery(w, either, disabled, prefabs, ecs.Changed(p, c), ecs.Ordered()),
	}
}

// World returns the world of the links.
func (h *Hierarchy) World() *ecs.World { return h.world }

// Close removes the hierarchy's queries from the world; the links stay.
func (h *Hierarchy) Close() {
	h.nodes.Close()
	h.moved.Close()
}

// ParentType returns the handle of Parent, for archetypes and terms: ecs.Without of it finds roots.
// Writes and removals through the handle break links. Verify reports broken links, and Sweep
// repairs them; call Sweep before the next SetParent of those entities.
func (h *Hierarchy) ParentType() ecs.Component[Parent] { return h.parent }

// ChildType returns the handle of the buffer of children. Writes through it break links; see
// ParentType.
func (h *Hierarchy) ChildType() ecs.Buffer[Child] { return h.children }

// Parent returns e's parent. It returns Null if e has no parent, or if e or its parent is dead. It
// panics for an entity of another world.
func (h *Hierarchy) Parent(e ecs.Entity) ecs.Entity {
	if p := h.parent.Get(e); p != nil && h.world.Alive(p.Entity) {
		return p.Entity
	}
	return ecs.Null
}

// Children yields e's children in the order in which they were added. Dead entities, and entities
// with another parent, are skipped. It panics for an entity of another world, and if the structure
// of the world changes during the loop. To destroy or move the children, collect them first with
// slices.Collect. Cost: two look-ups a child.
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

// linked reports whether c is alive and names e as its parent; e is alive.
func (h *Hierarchy) linked(c, e ecs.Entity) bool {
	return h.world.Alive(c) && h.parent.Has(c) && h.parent.Get(c).Entity == e
}

// Ancestors yields e's parent, then the parent's parent, and so on. It also ends if links that were
// written directly form a cycle, after it has yielded each entity at least once. It panics for an
// entity of another world. Cost: two look-ups each.
func (h *Hierarchy) Ancestors(e ecs.Entity) iter.Seq[ecs.Entity] {
	return func(yield func(ecs.Entity) bool) {
		// mark is moved up after 1, 2, 4 ... steps, so in a cycle the walk meets it.
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

// Depth returns the number of e's ancestors: 0 for a root or a dead entity.
func (h *Hierarchy) Depth(e ecs.Entity) int {
	n := 0
	for range h.Ancestors(e) {
		n++
	}
	return n
}

// SetParent makes child the last child of parent, and removes it from its former parent. If parent
// is Null, SetParent only removes child from its parent, along with its Parent component. The order
// of other children stays. If parent is child's parent already, nothing changes. SetParent is a
// structural change if it adds or removes a type, and then panics inside a loop over rows.
//
// An error wraps ErrDead or ErrCycle and names both entities, or wraps a *ecs.LimitError: children
// are elements of a buffer, which needs room in a row. After an error no link has changed. Cost: a
// walk over parent's ancestors if child has or had children, and a search through the former
// siblings: 0.6 to 1.6 us for 10,000.
func (h *Hierarchy) SetParent(child, parent ecs.Entity) error {
	if err := h.refuse(child, parent); err != nil {
		return fmt.Errorf("hierarchy: SetParent(%v, %v): %w", child, parent, err)
	}
	old := h.Parent(child)
	if parent == ecs.Null {
		if err := ecs.Try(func() { h.parent.Remove(child) }); err != nil {
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

// refuse returns the reason why parent cannot be child's parent, or nil.
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
		return nil // child has no descendants
	}
	for a := range h.Ancestors(parent) {
		if a == child {
			return fmt.Errorf("the child %w", ErrCycle)
		}
	}
	return nil
}

// list adds child to parent's buffer and gives child a Parent, which is all that can fail. After an
// error child may keep a Parent of Null, which counts as none.
func (h *Hierarchy) list(child, parent ecs.Entity) error {
	if _, err := h.addChildren.Apply(parent); err != nil {
		return err
	}
	if err := ecs.Try(func() { h.parent.Add(child, Parent{}) }); err != nil {
		return err
	}
	list, _ := h.children.Mut(parent)
	return ecs.Try(func() { list.Append(Child{child}) })
}

// lists reports whether child is in parent's buffer.
func (h *Hierarchy) lists(parent, child ecs.Entity) bool {
	return slices.Contains(h.children.Slice(parent), Child{child})
}

// unlist removes child from the buffer of its former parent, if that is alive.
func (h *Hierarchy) unlist(child, old ecs.Entity) {
	list, ok := h.children.Mut(old)
	if !ok {
		return
	}
	if i := slices.Index(list.Slice(), Child{child}); i >= 0 {
		list.RemoveAt(i)
	}
}
