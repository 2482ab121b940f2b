package hierarchy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
)

// tree makes n entities under one root, ten children each, made in random order.
func tree(b *testing.B, n int) (*ecs.World, *transforms, []ecs.Entity) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, w.Close()) })
	h := hierarchy.New(w)
	t := newTransforms(w, h)
	made, err := ecs.NewArchetype(w, t.local, t.global).CreateN(n)
	require.NoError(b, err)
	nodes := made.Entities(nil)
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	for i, e := range nodes {
		t.local.Set(e, Local{A: 1, D: 1, X: 1})
		if i > 0 {
			require.NoError(b, h.SetParent(e, nodes[(i-1)/10]))
		}
	}
	return w, t, nodes
}

// BenchmarkPropagate sets the Global of 100,000 nodes, 5 deep: with the order kept, and
// with one that is made anew each time.
func BenchmarkPropagate(b *testing.B) {
	for _, kept := range []bool{true, false} {
		b.Run(map[bool]string{true: "kept", false: "anew"}[kept], func(b *testing.B) {
			_, t, nodes := tree(b, 100_000)
			last := nodes[len(nodes)-1]
			for b.Loop() {
				if !kept {
					t.links.ParentType().Mut(last)
				}
				t.propagate()
			}
			require.Equal(b, float32(t.links.Depth(last)+1), t.global.Get(last).X)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(nodes)), "ns/node")
		})
	}
}

// place and sum are two numbers of a node: where it is on its parent, and in the world.
type (
	spot struct{ X, Y float64 }
	sum  struct{ X, Y float64 }
)

// add computes the sums of siblings.
func add(to []sum, own []spot, from sum) {
	for i := range min(len(to), len(own)) {
		to[i] = sum{own[i].X + from.X, own[i].Y + from.Y}
	}
}

// BenchmarkLevels adds two numbers of 100,000 nodes to those of their parents, 5 deep, by runs;
// rows lie in the order of levels or at random.
func BenchmarkLevels(b *testing.B) {
	const n = 100_000
	for _, shuffled := range []bool{false, true} {
		b.Run(map[bool]string{false: "in-order", true: "shuffled"}[shuffled], func(b *testing.B) {
			w, err := ecs.NewWorld()
			require.NoError(b, err)
			defer func() { require.NoError(b, w.Close()) }()
			h := hierarchy.New(w)
			spots, sums := ecs.Register[spot](w), ecs.Register[sum](w)
			made, err := ecs.NewArchetype(w, spots, sums, h.ParentType(), h.ChildType()).CreateN(n)
			require.NoError(b, err)
			nodes := made.Entities(nil)
			if shuffled {
				rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			}
			for i, e := range nodes {
				spots.Set(e, spot{1, 2})
				if i > 0 {
					require.NoError(b, h.SetParent(e, nodes[(i-1)/10]))
				}
			}
			l := h.NewLevels(ecs.Read(spots), ecs.Write(sums))
			var own [][]spot
			var all [][]sum
			l.Refresh()
			for b.Loop() {
				l.Refresh()
				own, all = hierarchy.Columns(l, spots, own[:0]), hierarchy.Columns(l, sums, all[:0])
				for _, run := range l.Runs() {
					from := sum{}
					if run.Up.Chunk >= 0 {
						from = all[run.Up.Chunk][run.Up.Row]
					}
					add(all[run.At.Chunk][run.At.Row:][:run.Len], own[run.At.Chunk][run.At.Row:][:run.Len], from)
				}
			}
			require.Equal(b, sum{6, 12}, *sums.Get(nodes[n-1]))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
		})
	}
}

// BenchmarkSetParent moves leaves between parents with ten children.
func BenchmarkSetParent(b *testing.B) {
	_, t, nodes := tree(b, 100_000)
	for i := 0; b.Loop(); i++ {
		if err := t.links.SetParent(nodes[50_000+i*7%50_000], nodes[100+i*13%4900]); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, t.links.Verify())
}

// BenchmarkDestroy ends a tree of 100,000 from its root.
func BenchmarkDestroy(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		_, t, nodes := tree(b, 100_000)
		b.StartTimer()
		require.Equal(b, len(nodes), t.links.Destroy(nodes[0]))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/node")
}

// family makes a parent and n children of it.
func family(b *testing.B, n int) (*hierarchy.Hierarchy, ecs.Entity, []ecs.Entity) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, w.Close()) })
	h := hierarchy.New(w)
	made, err := ecs.NewArchetype(w, h.ParentType(), h.ChildType()).CreateN(n + 1)
	require.NoError(b, err)
	list := made.Entities(nil)
	for _, e := range list[1:] {
		require.NoError(b, h.SetParent(e, list[0]))
	}
	return h, list[0], list[1:]
}

// BenchmarkSiblings ends or takes away 10,000 children of one parent.
func BenchmarkSiblings(b *testing.B) {
	for name, end := range map[string]func(h *hierarchy.Hierarchy, children []ecs.Entity){
		"destroy": func(h *hierarchy.Hierarchy, children []ecs.Entity) { h.Destroy(children...) },
		"leave/first": func(h *hierarchy.Hierarchy, children []ecs.Entity) {
			for _, c := range children {
				_ = h.SetParent(c, ecs.Null)
			}
		},
		"leave/last": func(h *hierarchy.Hierarchy, children []ecs.Entity) {
			for _, c := range slices.Backward(children) {
				_ = h.SetParent(c, ecs.Null)
			}
		},
		"leave/any": func(h *hierarchy.Hierarchy, children []ecs.Entity) {
			r := rand.New(rand.NewPCG(1, 2))
			r.Shuffle(len(children), func(i, j int) { children[i], children[j] = children[j], children[i] })
			for _, c := range children {
				_ = h.SetParent(c, ecs.Null)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			const n = 10_000
			for b.Loop() {
				b.StopTimer()
				h, parent, children := family(b, n)
				b.StartTimer()
				end(h, children)
				b.StopTimer()
				for range h.Children(parent) {
					b.Fatal("a child is left")
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/child")
		})
	}
}
