package hierarchy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

type body struct{ Mass int64 }

// newHierarchy gives a hierarchy in a fresh world and a function that makes entities.
func newHierarchy(t testing.TB) (*ecs.World, *hierarchy.Hierarchy, func() ecs.Entity) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w, hierarchy.New(w), ecs.NewArchetype(w, ecs.Register[body](w)).Create
}

// childrenOf returns e's children, never nil.
func childrenOf(h *hierarchy.Hierarchy, e ecs.Entity) []ecs.Entity {
	return append([]ecs.Entity{}, slices.Collect(h.Children(e))...)
}

// model is the obvious hierarchy: a map of parents and one of lists.
type model struct {
	parent   map[ecs.Entity]ecs.Entity
	children map[ecs.Entity][]ecs.Entity
	alive    []ecs.Entity
}

func (m *model) depth(e ecs.Entity) (n int) {
	for p, ok := m.parent[e]; ok; p, ok = m.parent[p] {
		n++
	}
	return n
}

// under reports whether e is top or below it.
func (m *model) under(e, top ecs.Entity) bool {
	p, ok := m.parent[e]
	return e == top || ok && m.under(p, top)
}

func (m *model) detach(e ecs.Entity) {
	if p, ok := m.parent[e]; ok {
		m.children[p] = slices.DeleteFunc(m.children[p], func(c ecs.Entity) bool { return c == e })
		delete(m.parent, e)
	}
}

// destroy ends e alone: its children become roots.
func (m *model) destroy(e ecs.Entity) {
	m.detach(e)
	for _, c := range m.children[e] {
		delete(m.parent, c)
	}
	delete(m.children, e)
	m.alive = slices.DeleteFunc(m.alive, func(o ecs.Entity) bool { return o == e })
}

func (m *model) destroyAll(top ecs.Entity) (n int) {
	for _, e := range slices.Clone(m.alive) {
		if m.under(e, top) {
			defer m.destroy(e)
			n++
		}
	}
	return n
}

// TestModel runs a stream of every operation, destruction around the hierarchy
// included, and compares everything that can be asked with the model after each step.
func TestModel(t *testing.T) {
	for seed := range uint64(8) {
		w, h, create := newHierarchy(t)
		m := &model{parent: map[ecs.Entity]ecs.Entity{}, children: map[ecs.Entity][]ecs.Entity{}}
		r := rand.New(rand.NewPCG(seed, 9))
		for range 400 {
			step(t, r, w, h, create, m)
			compare(t, h, m)
		}
		require.NoError(t, w.Verify())
	}
}

func step(t *testing.T, r *rand.Rand, w *ecs.World, h *hierarchy.Hierarchy, create func() ecs.Entity, m *model) {
	pick := func() ecs.Entity { return m.alive[r.IntN(len(m.alive))] }
	switch op := r.IntN(20); {
	case len(m.alive) < 4 || op < 5:
		m.alive = append(m.alive, create())
	case op < 16:
		child, parent := pick(), pick()
		if m.under(parent, child) {
			require.ErrorIs(t, h.SetParent(child, parent), hierarchy.ErrCycle)
			return
		}
		require.NoError(t, h.SetParent(child, parent))
		if m.parent[child] != parent {
			m.detach(child)
			m.parent[child], m.children[parent] = parent, append(m.children[parent], child)
		}
	case op < 17:
		child := pick()
		require.NoError(t, h.SetParent(child, ecs.Null))
		m.detach(child)
	case op < 18:
		list, n := []ecs.Entity{pick(), pick(), pick()}[:1+r.IntN(3)], 0 // the same, or one below another, now and then
		for _, e := range list {
			n += m.destroyAll(e)
		}
		require.Equal(t, n, h.Destroy(list...))
	case op < 19: // rows move, links stay
		if e, bodies := pick(), ecs.Register[body](w); !bodies.Remove(e) {
			bodies.Add(e, body{3})
		}
	default:
		e := pick()
		linked := m.parent[e] != ecs.Null || len(m.children[e]) > 0
		require.True(t, w.Destroy(e))
		m.destroy(e)
		compareLinks(t, h, m) // without Sweep
		if linked {
			require.ErrorIs(t, h.Verify(), hierarchy.ErrBroken)
		}
		n, err := h.Sweep()
		require.NoError(t, err)
		require.Equal(t, linked, n > 0)
	}
}

func compareLinks(t *testing.T, h *hierarchy.Hierarchy, m *model) {
	for _, e := range m.alive {
		require.Equal(t, m.parent[e], h.Parent(e))
		require.Equal(t, append([]ecs.Entity{}, m.children[e]...), childrenOf(h, e))
		require.Equal(t, m.depth(e), h.Depth(e))
	}
}

func compare(t *testing.T, h *hierarchy.Hierarchy, m *model) {
	require.NoError(t, h.Verify())
	compareLinks(t, h, m)
	seen, level := map[ecs.Entity]bool{}, 0
	for nodes, parents := range h.ByDepth() {
		for i, e := range nodes {
			require.False(t, seen[e])
			seen[e] = true
			require.Equal(t, level, m.depth(e))
			require.Equal(t, m.parent[e], parents[i])
		}
		level++
	}
	for _, e := range m.alive {
		require.True(t, seen[e] || m.parent[e] == ecs.Null && len(m.children[e]) == 0)
	}
}

// TestVerifyNames breaks each invariant directly, sees it named, and mended.
func TestVerifyNames(t *testing.T) {
	for name, harm := range map[string]func(w *ecs.World, h *hierarchy.Hierarchy, a, b, c ecs.Entity){
		"H1": func(w *ecs.World, _ *hierarchy.Hierarchy, a, _, _ ecs.Entity) { w.Destroy(a) },
		"H2": func(w *ecs.World, _ *hierarchy.Hierarchy, _, _, c ecs.Entity) { w.Destroy(c) },
		"H3": func(_ *ecs.World, h *hierarchy.Hierarchy, a, b, _ ecs.Entity) {
			h.ChildType().Append(a, hierarchy.Child{Entity: b})
		},
		"H3: ": func(_ *ecs.World, h *hierarchy.Hierarchy, a, _, _ ecs.Entity) { h.ChildType().Remove(a) },
		"H4": func(_ *ecs.World, h *hierarchy.Hierarchy, a, _, c ecs.Entity) {
			h.ParentType().Add(a, hierarchy.Parent{Entity: c})
			h.ChildType().Add(c)
			h.ChildType().Append(c, hierarchy.Child{Entity: a})
		},
	} {
		w, h, create := newHierarchy(t)
		a, b, c := create(), create(), create()
		require.NoError(t, h.SetParent(b, a))
		require.NoError(t, h.SetParent(c, b))
		require.NoError(t, h.Verify())
		harm(w, h, a, b, c)
		require.ErrorContains(t, h.Verify(), name)
		n, err := h.Sweep()
		require.NoError(t, err)
		require.Equal(t, 1, n, name)
		require.NoError(t, h.Verify(), name)
	}
}

// TestVerifyNamesTheOrder writes through the slices of ByDepth, which are to read.
func TestVerifyNamesTheOrder(t *testing.T) {
	_, h, create := newHierarchy(t)
	a, b, twin, c, leaf, other := create(), create(), create(), create(), create(), create()
	require.NoError(t, h.SetParent(b, a))
	require.NoError(t, h.SetParent(twin, a))
	require.NoError(t, h.SetParent(c, b))
	h.ChildType().Add(leaf)
	type entry struct{ e, parent ecs.Entity }
	for _, harm := range []map[entry]entry{
		{{b, a}: {b, leaf}},                   // whose parent is a
		{{b, a}: {c, b}, {c, b}: {b, a}},      // a child before its parent
		{{twin, a}: {b, a}},                   // b twice
		{{leaf, ecs.Null}: {other, ecs.Null}}, // who has neither type
	} {
		for nodes, parents := range h.ByDepth() {
			for i := range nodes {
				if by, ok := harm[entry{nodes[i], parents[i]}]; ok {
					nodes[i], parents[i] = by.e, by.parent
				}
			}
		}
		require.ErrorContains(t, h.Verify(), "H5", harm)
		h.ParentType().Mut(c) // a chunk changed: the order is made anew
		require.NoError(t, h.Verify())
	}
}

// TestByDepthOfALentWorld: levels are taken before Lend, since two readers would make the order
// at once.
func TestByDepthOfALentWorld(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	h := hierarchy.New(w)
	a := ecs.NewArchetype(w)
	root, child := a.Create(), a.Create()
	require.NoError(t, h.SetParent(child, root))
	levels := h.ByDepth()
	borrow := w.Lend()
	const text = "hierarchy: Hierarchy.ByDepth: the world is lent; take the levels before World.Lend, they are good until Borrow.End"
	require.PanicsWithValue(t, text, func() { h.ByDepth() })
	var nodes []ecs.Entity
	for level := range levels {
		nodes = append(nodes, level...)
	}
	require.Equal(t, []ecs.Entity{root, child}, nodes)
	borrow.End()
	h.ByDepth()
	h.Close()
	require.NoError(t, w.Close())
}

// TestByDepthIsKept: as long as no link changes the slices are the same memory and
// nothing is allocated, whatever other entities do.
func TestByDepthIsKept(t *testing.T) {
	w, h, create := newHierarchy(t)
	a, b, c := create(), create(), create()
	require.NoError(t, h.SetParent(b, a))
	first := func() *ecs.Entity {
		for nodes := range h.ByDepth() {
			return &nodes[0]
		}
		return nil
	}
	at := first()
	w.Destroy(c)
	*at = b // a write that only a new order would undo
	require.Equal(t, b, *first())
	require.Zero(t, testing.AllocsPerRun(10, func() { first() }))
	*at = a
	w.Destroy(b)
	n := 0
	for nodes := range h.ByDepth() {
		require.Equal(t, []ecs.Entity{a}, nodes)
		n++
	}
	require.Equal(t, 1, n)
}

// TestInLoop: within a loop over rows a cascade panics, and nothing has changed.
func TestInLoop(t *testing.T) {
	w, h, create := newHierarchy(t)
	a, b := create(), create()
	require.NoError(t, h.SetParent(b, a))
	q := ecs.NewQuery(w)
	for range q.Rows() {
		require.Panics(t, func() { h.Destroy(b) })
		require.Panics(t, func() { _ = h.SetParent(b, ecs.Null) })
		require.Panics(t, func() { _ = h.SetParent(a, create()) })
	}
	require.Equal(t, []ecs.Entity{b}, childrenOf(h, a))
	require.NoError(t, h.Verify())
}

// TestTooManyChildren: the child that a buffer has no room for stays with its parent.
func TestTooManyChildren(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20)) // room for a block of 1 MiB and for no second one
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	defer func() {
		require.NoError(t, w.Close())
		require.NoError(t, u.Close())
	}()
	h, create := hierarchy.New(w), ecs.NewArchetype(w).Create
	a, b, c := create(), create(), create()
	require.NoError(t, h.SetParent(c, b))
	require.NoError(t, h.SetParent(create(), a))
	list, _ := h.ChildType().Mut(a)
	full := list.Len()
	list.Resize(1 << 17)
	require.ErrorIs(t, h.SetParent(c, a), ecs.ErrLimit)
	require.Equal(t, b, h.Parent(c))
	list, _ = h.ChildType().Mut(a)
	list.Resize(full)
	require.NoError(t, h.Verify())
}

// TestNoMemory fills a universe with pairs that are linked until a link is refused for
// want of memory: links are as before, and can be set when there is room again.
func TestNoMemory(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	h := hierarchy.New(w)
	made, err := ecs.NewArchetype(w, ecs.Register[body](w)).CreateN(50_000)
	require.NoError(t, err)
	list, links, refused := made.Entities(nil), 0, 0
	for pass := range 2 { // parents first, then what were children get some too
		for i := range len(list) / 2 {
			child, parent := list[2*i+pass], list[(2*i+1+pass)%len(list)]
			before := h.Parent(child)
			switch err := h.SetParent(child, parent); {
			case err == nil:
				links++
			default:
				require.ErrorIs(t, err, ecs.ErrLimit)
				require.Equal(t, before, h.Parent(child))
				refused++
			}
		}
	}
	require.NoError(t, h.Verify())
	require.NoError(t, w.Verify())
	t.Log(links, "links,", refused, "refused")
	require.Positive(t, links)
	require.Positive(t, refused)
	require.Positive(t, h.Destroy(list[1000:]...))
	require.NoError(t, h.SetParent(list[998], list[0]))
	require.NoError(t, h.Verify())
	h.Close()
	require.NoError(t, w.Close())
	require.NoError(t, u.Close())
}

// TestLeaveEarly: loops that are left by break, and a child that is put back among the
// children of a parent that lost its buffer.
func TestLeaveEarly(t *testing.T) {
	_, h, create := newHierarchy(t)
	a, b, c := create(), create(), create()
	require.NoError(t, h.SetParent(b, a))
	require.NoError(t, h.SetParent(c, a))
	for e := range h.Children(a) {
		require.Equal(t, b, e)
		break
	}
	for nodes := range h.ByDepth() {
		require.Equal(t, []ecs.Entity{a}, nodes)
		break
	}
	h.ChildType().Remove(a)
	require.NoError(t, h.SetParent(c, a))
	require.NoError(t, h.SetParent(b, a))
	require.Equal(t, []ecs.Entity{c, b}, childrenOf(h, a))
	require.NoError(t, h.Verify())
}
