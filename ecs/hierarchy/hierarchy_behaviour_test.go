package hierarchy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// What the peers' own suites agree on about hierarchies, a test each.

// TestBehaviourCascade: destroying a parent ends all below it, a circle that was
// written directly and a chain of 100,000 included.
func TestBehaviourCascade(t *testing.T) {
	w, h, create := newHierarchy(t)
	root, aside := create(), create()
	end := root
	for range 100_000 {
		next := create()
		require.True(t, h.ChildType().Add(end))
		h.ChildType().Append(end, hierarchy.Child{Entity: next})
		h.ParentType().Add(next, hierarchy.Parent{Entity: end})
		end = next
	}
	require.NoError(t, h.Verify())
	require.Equal(t, 100_000, h.Depth(end))
	h.ParentType().Add(root, hierarchy.Parent{Entity: end})
	h.ChildType().Add(end)
	h.ChildType().Append(end, hierarchy.Child{Entity: root})
	require.Error(t, h.Verify())
	require.Equal(t, 100_001, h.Destroy(root))
	require.Equal(t, 1, w.Stats().Alive)
	require.True(t, w.Alive(aside))
	require.Zero(t, h.Destroy(root, ecs.Null))
}

// TestBehaviourRecycled: an entity that gets the index of a dead parent or child has no
// part in its links.
func TestBehaviourRecycled(t *testing.T) {
	w, h, create := newHierarchy(t)
	parent, child, other := create(), create(), create()
	require.NoError(t, h.SetParent(child, parent))
	require.NoError(t, h.SetParent(parent, other))
	w.Destroy(parent)
	again := create()
	for again.Index() != parent.Index() { // indices come again when a word of 64 is used up
		require.Less(t, again.Index(), 1000)
		again = create()
	}
	require.Equal(t, ecs.Null, h.Parent(child))
	require.Equal(t, ecs.Null, h.Parent(again))
	require.Empty(t, childrenOf(h, again))
	require.Empty(t, childrenOf(h, other))
	n, err := h.Sweep()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.False(t, h.ParentType().Has(child))
	require.NoError(t, h.Verify())
}

// TestBehaviourOrder: who leaves a parent or ends leaves the others in order, and who
// is given the same parent again keeps its place.
func TestBehaviourOrder(t *testing.T) {
	w, h, create := newHierarchy(t)
	p, q := create(), create()
	var c []ecs.Entity
	for range 7 { // more than lie in the chunk
		c = append(c, create())
		require.NoError(t, h.SetParent(c[len(c)-1], p))
	}
	require.NoError(t, h.SetParent(c[2], q))
	require.Equal(t, []ecs.Entity{c[0], c[1], c[3], c[4], c[5], c[6]}, childrenOf(h, p))
	require.NoError(t, h.SetParent(c[1], p))
	h.Destroy(c[0])
	w.Destroy(c[4])
	require.Equal(t, []ecs.Entity{c[1], c[3], c[5], c[6]}, childrenOf(h, p))
	require.NoError(t, h.SetParent(c[2], p))
	require.Equal(t, []ecs.Entity{c[1], c[3], c[5], c[6], c[2]}, childrenOf(h, p))
	require.Empty(t, childrenOf(h, q))
}

// TestBehaviourExclusive: a second parent replaces the first.
func TestBehaviourExclusive(t *testing.T) {
	_, h, create := newHierarchy(t)
	p, q, c := create(), create(), create()
	require.NoError(t, h.SetParent(c, p))
	require.NoError(t, h.SetParent(c, q))
	require.Equal(t, q, h.Parent(c))
	require.Empty(t, childrenOf(h, p))
	require.NoError(t, h.SetParent(c, ecs.Null))
	require.False(t, h.ParentType().Has(c))
	require.NoError(t, h.SetParent(c, ecs.Null))
	require.NoError(t, h.Verify())
}

// TestBehaviourBatch: parents that end in one batch, through the hierarchy with all
// below them, or through the world, when their children become roots.
func TestBehaviourBatch(t *testing.T) {
	w, h, create := newHierarchy(t)
	top := create()
	var parents, children []ecs.Entity
	for range 20 {
		p, c := create(), create()
		require.NoError(t, h.SetParent(p, top))
		require.NoError(t, h.SetParent(c, p))
		parents, children = append(parents, p), append(children, c)
	}
	require.Equal(t, 20, h.Destroy(append(parents[:10:10], children[:10]...)...))
	require.Equal(t, parents[10:], childrenOf(h, top))
	require.NoError(t, h.Verify())
	require.Equal(t, 10, w.DestroyList(parents))
	require.Empty(t, childrenOf(h, top))
	for _, c := range children[10:] {
		require.True(t, w.Alive(c))
		require.Equal(t, ecs.Null, h.Parent(c))
	}
	n, err := h.Sweep()
	require.NoError(t, err)
	require.Equal(t, 20, n)
}

// TestBehaviourRefused: itself, a descendant, the dead and strangers, with both names.
func TestBehaviourRefused(t *testing.T) {
	w, h, create := newHierarchy(t)
	_, _, stranger := newHierarchy(t)
	a, b, c, dead := create(), create(), create(), create()
	w.Destroy(dead)
	require.NoError(t, h.SetParent(b, a))
	require.NoError(t, h.SetParent(c, b))
	require.EqualError(t, h.SetParent(a, a), "hierarchy: SetParent(1v1, 1v1): the child would be its own ancestor")
	require.EqualError(t, h.SetParent(a, c), "hierarchy: SetParent(1v1, 3v1): the child would be its own ancestor")
	require.EqualError(t, h.SetParent(a, dead), "hierarchy: SetParent(1v1, 4v1): the parent is not alive in this world")
	require.ErrorIs(t, h.SetParent(dead, a), hierarchy.ErrDead)
	require.ErrorIs(t, h.SetParent(stranger(), a), hierarchy.ErrDead)
	require.ErrorIs(t, h.SetParent(a, stranger()), hierarchy.ErrDead)
	require.ErrorIs(t, h.SetParent(ecs.Null, a), hierarchy.ErrDead)
	require.NoError(t, h.Verify())
	require.Equal(t, b, h.Parent(c))
}

// TestBehaviourOneSided: who stands in the buffer of an entity that it does not name is
// not its child, and does not end with it.
func TestBehaviourOneSided(t *testing.T) {
	w, h, create := newHierarchy(t)
	a, b, c := create(), create(), create()
	require.NoError(t, h.SetParent(c, b))
	h.ChildType().Add(a)
	h.ChildType().Append(a, hierarchy.Child{Entity: c})
	require.Empty(t, childrenOf(h, a))
	require.ErrorContains(t, h.Verify(), "H2")
	require.Equal(t, 1, h.Destroy(a))
	require.True(t, w.Alive(c))
	require.NoError(t, h.Verify())
}

// TestBehaviourCircleAbove: asking for the ancestors of who hangs below a circle ends,
// and opening the circle leaves it where it is.
func TestBehaviourCircleAbove(t *testing.T) {
	_, h, create := newHierarchy(t)
	a, b, low := create(), create(), create()
	require.NoError(t, h.SetParent(low, b))
	require.NoError(t, h.SetParent(b, a))
	h.ParentType().Add(a, hierarchy.Parent{Entity: b})
	met := map[ecs.Entity]int{}
	for e := range h.Ancestors(low) {
		met[e]++
		require.Less(t, met[e], 4)
	}
	require.Len(t, met, 2)
	n, err := h.Sweep()
	require.NoError(t, err)
	require.Equal(t, 2, n) // the child that was not listed, and the circle
	require.Equal(t, b, h.Parent(low))
	require.NoError(t, h.Verify())
}

// TestBehaviourInstantiate: a copy of a tree is a tree, under the same parent, whose children Sweep
// updates. A copy of one entity has its parent and none of its children.
func TestBehaviourInstantiate(t *testing.T) {
	w, h, create := newHierarchy(t)
	top, a, b, c := create(), create(), create(), create()
	require.NoError(t, h.SetParent(a, top))
	require.NoError(t, h.SetParent(b, a))
	require.NoError(t, h.SetParent(c, a))
	made, err := w.InstantiateGroup([]ecs.Entity{a, b, c}, 2)
	require.NoError(t, err)
	copies := made.Entities(nil) // of a, a, b, b, c, c
	one := w.Instantiate(a)
	for range 2 {
		require.Equal(t, top, h.Parent(one))
		require.Empty(t, childrenOf(h, one))
		require.Equal(t, []ecs.Entity{b, c}, childrenOf(h, a))
		for i := range 2 {
			require.Equal(t, top, h.Parent(copies[i]))
			require.Equal(t, []ecs.Entity{copies[2+i], copies[4+i]}, childrenOf(h, copies[i]))
		}
		if len(childrenOf(h, top)) == 1 {
			require.ErrorIs(t, h.Verify(), hierarchy.ErrBroken)
			n, err := h.Sweep()
			require.NoError(t, err)
			require.Equal(t, 5, n, "three that are listed, two children of the one that are not its")
		}
		require.NoError(t, h.Verify())
	}
	require.Len(t, childrenOf(h, top), 4)
	require.Equal(t, 3, h.Destroy(copies[0]))
	require.NoError(t, h.Verify())
}

// TestBehaviourCopies: the hierarchy's own Instantiate leaves it true: copies of a tree are
// listed behind the children of its parent, and all below them in order.
func TestBehaviourCopies(t *testing.T) {
	w, h, create := newHierarchy(t)
	top, a, b, c, d := create(), create(), create(), create(), create()
	for child, parent := range map[ecs.Entity]ecs.Entity{a: top, b: a, d: b} {
		require.NoError(t, h.SetParent(child, parent))
	}
	require.NoError(t, h.SetParent(c, a))
	for range 40 {
		made, err := h.Instantiate(a, 3)
		require.NoError(t, err)
		require.NoError(t, h.Verify())
		ids := made.Entities(nil)
		require.Len(t, ids, 12)
		all := childrenOf(h, top)
		require.Equal(t, ids[:3], all[len(all)-3:])
		for i := range 3 {
			below := childrenOf(h, ids[i])
			require.Len(t, below, 2)
			require.Len(t, childrenOf(h, below[0]), 1)
			require.Equal(t, 2, h.Depth(below[0]))
		}
	}
	require.Len(t, childrenOf(h, top), 121)
	_, err := h.Instantiate(top, 2)
	require.NoError(t, err)
	require.NoError(t, h.Verify())
	require.True(t, w.Destroy(top))
	orphan, err := h.Instantiate(a, 1)
	require.NoError(t, err)
	require.Equal(t, ecs.Null, h.Parent(orphan.Entities(nil)[0]))
	require.Len(t, childrenOf(h, orphan.Entities(nil)[0]), 2)
	n, err := h.Sweep()
	require.NoError(t, err)
	require.Equal(t, 121, n, "those whose parent was destroyed around the hierarchy")
	require.NoError(t, h.Verify())
	require.Panics(t, func() { _, _ = h.Instantiate(top, 1) })
	require.Panics(t, func() { _, _ = h.Instantiate(a, -1) })
}
