package hierarchy_test

import (
	"fmt"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// Local is where an entity is as its parent sees it: a turn and a shift.
type Local struct{ A, B, C, D, X, Y float32 }

// Global is where the entity is in the world.
type Global Local

// under gives the place of what is at l in a frame that is at g.
func (l Local) under(g Global) Global {
	return Global{
		g.A*l.A + g.B*l.C, g.A*l.B + g.B*l.D, g.C*l.A + g.D*l.C, g.C*l.B + g.D*l.D,
		g.A*l.X + g.B*l.Y + g.X, g.C*l.X + g.D*l.Y + g.Y,
	}
}

// transforms keeps what a propagation needs from one frame to the next.
type transforms struct {
	links  *hierarchy.Hierarchy
	local  ecs.Component[Local]
	global ecs.Component[Global]
	roots  *ecs.Query
	locals []Local
	frames []Global
	out    []*Global
}

func newTransforms(w *ecs.World, h *hierarchy.Hierarchy) *transforms {
	t := &transforms{links: h, local: ecs.Register[Local](w), global: ecs.Register[Global](w)}
	t.roots = ecs.NewQuery(w, ecs.Read(t.local), ecs.Write(t.global), ecs.Without(h.ParentType()))
	const block = 512 // look-ups at once, whose values stay in the cache
	t.locals, t.frames = make([]Local, block), make([]Global, block)
	return t
}

// propagate sets every Global: roots column by column where they lie, all others level by
// level, in blocks that are gathered into columns.
func (t *transforms) propagate() {
	for rows := range t.roots.Rows() {
		l, g := t.local.Slice(rows), t.global.Slice(rows)
		for i := range l {
			g[i] = Global(l[i])
		}
	}
	level := 0
	for nodes, parents := range t.links.ByDepth() {
		for level++; level > 1 && len(nodes) > 0; {
			n := min(len(nodes), len(t.locals))
			locals, frames := t.locals[:n], t.frames[:n]
			t.local.CopyList(locals, nodes[:n])
			t.global.CopyList(frames, parents[:n])
			t.out = t.global.MutList(t.out[:0], nodes[:n])
			for i, out := range t.out {
				if out != nil {
					*out = locals[i].under(frames[i])
				}
			}
			nodes, parents = nodes[n:], parents[n:]
		}
	}
}

// A sun turns by a quarter, and what goes around it with it.
func Example() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	h := hierarchy.New(w)
	t := newTransforms(w, h)
	bodies := ecs.NewArchetype(w, t.local, t.global)
	sun, earth, moon := bodies.Create(), bodies.Create(), bodies.Create()
	fmt.Println(h.SetParent(moon, earth), h.SetParent(earth, sun))
	fmt.Println(h.SetParent(sun, moon))
	t.local.Set(sun, Local{A: 1, D: 1})
	t.local.Set(earth, Local{A: 1, D: 1, X: 10})
	t.local.Set(moon, Local{A: 1, D: 1, X: 2})
	show := func() {
		t.propagate()
		m := t.global.Get(moon)
		fmt.Printf("the moon, at depth %d, is at %v, %v\n", h.Depth(moon), m.X, m.Y)
	}
	show()
	t.local.Set(sun, Local{B: -1, C: 1})
	show()
	fmt.Println(h.SetParent(moon, sun))
	show()
	fmt.Println(h.Destroy(sun), "gone")
	// Output:
	// <nil> <nil>
	// hierarchy: SetParent(1v1, 3v1): the child would be its own ancestor
	// the moon, at depth 2, is at 12, 0
	// the moon, at depth 2, is at 0, 12
	// <nil>
	// the moon, at depth 1, is at 0, 2
	// 3 gone
}

// What the links of an entity with a parent and children take in its row.
func ExampleHierarchy_ChildType() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	h := hierarchy.New(w)
	plan := ecs.NewArchetype(w, h.ParentType(), h.ChildType()).Plan()
	plan.CacheLine = 64 // with longer lines it is the same but for this number
	fmt.Println(plan)
	// Output:
	// 16384 B chunk, 64 B lines, 256 rows of 64 B, 100.0 % used
	// offset   bytes     pad  column
	//      0    2048       0  Entity 256 x 8 B
	//   2048    2048       0  Parent 256 x 8 B
	//   4096   12288       0  []Child 256 x 48 B
	// beside the chunk: 12 B of versions, 0 B of enable masks
}
