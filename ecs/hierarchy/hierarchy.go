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
// A link is written down twice: the child names its parent in a component, and the parent lists the
// child in a buffer. Either alone would do for one direction and cost a search of the world for the
// other; siblings in a list of links from one to the next, the third way, cost a cold record for
// each step and a second write for each neighbour. Entities have versions, so a name that outlived
// its entity is known for dead, and nothing must be cleaned for look-ups to be right: what
// World.Destroy leaves behind is passed by until Sweep.
//
//	Parent of moon = earth         <- the truth: one word, so no entity has two parents
//	[]Child of earth = moon, ...   <- the index of it, in the order in which they came
//
// Where the two differ the child's word counts. SetParent therefore does all that can fail first
// (the buffer, the child's Parent of Null, the element), then writes the word, which makes the
// link, and last takes the child out of the list that it left, which cannot fail.
//
// The list keeps its order, so a child that leaves is searched for, and moves those behind it: 8 B
// a sibling, read in order, some 1.0 us of 10,000. An index kept in the child would spare the
// search and not the move, and be one more thing to keep true. Destroy takes all that end out of a
// parent's list in one pass, 41 ns each of 10,000.
//
// Invariants, checked by Verify; only writes around the Hierarchy break them, World.Destroy and
// World.Instantiate included, and Sweep mends the first four:
//
//	H1 A Parent is Null or alive.
//	H2 Who is in a buffer is alive, and its Parent is the buffer's entity.
//	H3 Who has a parent is in its buffer, once.
//	H4 Nobody is its own ancestor.
//	H5 The order that ByDepth keeps, while no chunk of linked entities has changed since,
//	   has each of them once, a level after its parent.

// What SetParent's errors wrap, beside those of package ecs.
var (
	// ErrDead says that an entity is not alive in the hierarchy's world.
	ErrDead = errors.New("not alive in this world")
	// ErrCycle says that an entity would become its own ancestor.
	ErrCycle = errors.New("would be its own ancestor")
)

// inline is how many children lie in the chunk before they spill to the heap.
const inline = 4

// Parent is the component of entities that have a parent. One of Null or of an entity that is dead
// is as none.
type Parent struct{ Entity ecs.Entity }

// Child is an element of the buffer of entities that have, or had, children.
type Child struct{ Entity ecs.Entity }

// Hierarchy keeps the parents and the children of a world's entities true to each other. Several of
// one world are the same, but for what ByDepth remembers. It belongs to the world's owner: one
// goroutine at a time.
type Hierarchy struct {
	world       *ecs.World
	parent      ecs.Component[Parent]
	children    ecs.Buffer[Child]
	addChildren *ecs.Change
	nodes       *ecs.Query // all that have either type
	moved       *ecs.Query // those in chunks that changed since order was made
	order       order
}

// New registers Parent and Child with w and returns its hierarchy. It panics like ecs.Register.
// Make it once: it has two queries, which Close takes out of the world.
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

// Close takes the hierarchy's queries out of its world; the links stay.
func (h *Hierarchy) Close() {
	h.nodes.Close()
	h.moved.Close()
}

// ParentType returns the handle of Parent, for archetypes and terms: ecs.Without of it finds roots.
// Writing or removing through it breaks links, which Verify tells: Sweep mends them, and comes
// before the next SetParent of those entities.
func (h *Hierarchy) ParentType() ecs.Component[Parent] { return h.parent }

// ChildType returns the handle of the buffer of children, as ParentType.
func (h *Hierarchy) ChildType() ecs.Buffer[Child] { return h.children }

// Parent returns e's parent, Null when it has none, when its parent is dead and when e is. It
// panics for an entity of another world.
func (h *Hierarchy) Parent(e ecs.Entity) ecs.Entity {
	if p := h.parent.Get(e); p != nil && h.world.Alive(p.Entity) {
		return p.Entity
	}
	return ecs.Null
}

// Children yields e's children in the order in which they came; those that are dead or have another
// parent are passed by. It panics for an entity of another world, and when the structure of the
// world changes meanwhile: to destroy or move the children, gather them first, by slices.Collect.
// Cost: two look-ups a child.
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

// Ancestors yields e's parent, its parent and so on. It ends too where links that were written
// directly go in a circle, having yielded each at least once. It panics for an entity of another
// world. Cost: two look-ups each.
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

// SetParent makes child the last child of parent, and takes it from the one it had; Null only takes
// it, and Parent with it. The order of other children stays, and so does child's place when parent
// is its parent already. It is a structural change where a type comes or goes: within a loop over
// rows that panics.
//
// An error wraps ErrDead or ErrCycle and names both, or is a *ecs.LimitError: a parent has 131,072
// children at most. No link has changed then. Cost: child's depth in look-ups, and a search through
// the children that it leaves: 0.6 to 1.6 us of 10,000.
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

// list adds child to parent's buffer and gives child a Parent, all that can fail. On an error child
// may keep a Parent of Null, which is as none.
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
	return slices.Contains(h.children.Slice(parent), Child{child})
}

// unlist takes child from the buffer of the parent that it had, if that is alive.
func (h *Hierarchy) unlist(child, old ecs.Entity) {
	list, ok := h.children.Mut(old)
	if !ok {
		return
	}
	if i := slices.Index(list.Slice(), Child{child}); i >= 0 {
		list.RemoveAt(i)
	}
}
