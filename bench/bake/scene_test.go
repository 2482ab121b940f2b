package bake

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"
	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/scene"
	"quarry/ecs/transform"
)

// forest writes a document of random nodes: each may hang below one before it, or be a root.
func forest(t testing.TB, seed uint64, n int, folder string) string {
	r := rand.New(rand.NewPCG(seed, 7))
	doc := gltf.NewDocument()
	for range 3 {
		points := make([][3]float32, 4+r.IntN(8))
		for i := range points {
			points[i] = [3]float32{r.Float32(), r.Float32(), r.Float32()}
		}
		corners := make([]uint16, 3*(1+r.IntN(9)))
		for i := range corners {
			corners[i] = uint16(r.IntN(len(points)))
		}
		doc.Meshes = append(doc.Meshes, &gltf.Mesh{Primitives: []*gltf.Primitive{{
			Attributes: gltf.PrimitiveAttributes{gltf.POSITION: modeler.WritePosition(doc, points)},
			Indices:    gltf.Index(modeler.WriteIndices(doc, corners)),
		}}})
	}
	for i := range n {
		node := new(gltf.Node)
		if r.IntN(5) > 0 {
			node.Translation = [3]float64{r.Float64()*20 - 10, r.Float64()*20 - 10, r.Float64()*20 - 10}
		}
		if r.IntN(3) > 0 {
			q := [4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			length := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
			for k := range q {
				node.Rotation[k] = q[k] / length
			}
		}
		if r.IntN(3) == 0 {
			s := .8 + r.Float64()*.4
			node.Scale = [3]float64{s, s, s}
		}
		if r.IntN(2) == 0 {
			node.Mesh = gltf.Index(r.IntN(3))
		}
		if i > 0 && r.IntN(20) > 0 {
			parent := doc.Nodes[max(0, i-1-r.IntN(30))]
			parent.Children = append(parent.Children, i)
		} else {
			doc.Scenes[0].Nodes = append(doc.Scenes[0].Nodes, i)
		}
		doc.Nodes = append(doc.Nodes, node)
	}
	path := filepath.Join(folder, "forest.glb")
	require.NoError(t, gltf.SaveBinary(doc, path))
	return path
}

// exact returns the matrices of all nodes in float64, by the formula of the specification.
func exact(doc *gltf.Document) [][16]float64 {
	all := make([][16]float64, len(doc.Nodes))
	var visit func(i int, above [16]float64)
	visit = func(i int, above [16]float64) {
		n := doc.Nodes[i]
		t, q, s := n.TranslationOrDefault(), n.RotationOrDefault(), n.ScaleOrDefault()
		x, y, z, w := q[0], q[1], q[2], q[3]
		m := [16]float64{
			(1 - 2*(y*y+z*z)) * s[0], 2 * (x*y + z*w) * s[0], 2 * (x*z - y*w) * s[0], 0,
			2 * (x*y - z*w) * s[1], (1 - 2*(x*x+z*z)) * s[1], 2 * (y*z + x*w) * s[1], 0,
			2 * (x*z + y*w) * s[2], 2 * (y*z - x*w) * s[2], (1 - 2*(x*x+y*y)) * s[2], 0,
			t[0], t[1], t[2], 1,
		}
		for col := range 4 {
			for row := range 4 {
				for k := range 4 {
					all[i][4*col+row] += above[4*k+row] * m[4*col+k]
				}
			}
		}
		for _, c := range n.Children {
			visit(c, all[i])
		}
	}
	for _, root := range doc.Scenes[0].Nodes {
		visit(root, [16]float64{0: 1, 5: 1, 10: 1, 15: 1})
	}
	return all
}

// openWorld loads sections and waits for them.
func openWorld(t testing.TB, folder string, sections ...string) (*ecs.World, []*scene.Instance) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	host := scene.NewHost(w, register)
	t.Cleanup(func() {
		require.NoError(t, host.Close())
		require.NoError(t, w.Close())
	})
	var list []*scene.Instance
	for _, s := range sections {
		list = append(list, host.Load(filepath.Join(folder, s+".world")))
	}
	for host.Update(time.Millisecond) {
		time.Sleep(time.Millisecond)
	}
	for _, i := range list {
		require.NoError(t, i.Err())
		require.Equal(t, scene.Loaded, i.State())
	}
	require.NoError(t, host.Verify())
	return w, list
}

// TestScenes bakes two documents into two sections, and compares matrices, parents and meshes with
// those of the documents.
func TestScenes(t *testing.T) {
	folder := t.TempDir()
	docs, names := map[string]*gltf.Document{}, []string{"oaks", "firs"}
	var objects []scene.Object
	for seed, name := range names {
		doc, err := gltf.Open(forest(t, uint64(seed), 3000, folder))
		require.NoError(t, err)
		docs[name] = doc
		list, err := nodes(doc, name)
		require.NoError(t, err)
		require.Len(t, list, 3000)
		objects = append(objects, list...)
	}
	b, err := newBakery()
	require.NoError(t, err)
	report, err := b.Bake(folder, objects)
	require.NoError(t, err)
	require.Equal(t, 6000, report.Baked)
	w, list := openWorld(t, folder, names...)
	require.NoError(t, w.Verify())
	h := hierarchy.New(w)
	tr := transform.New(h)
	require.Equal(t, 6000, tr.Update())
	require.NoError(t, tr.Verify())
	shape, mesh := ecs.RegisterBuffer[Shape](w, ecs.Inline(0)), ecs.Register[Mesh](w)
	far := 0.0
	for _, section := range list {
		doc := docs[section.Name()]
		want, same := exact(doc), make([]transform.Mat4, len(doc.Nodes))
		known := map[string]Node{}
		for _, o := range objects {
			known[o.ID] = o.Value.(Node)
		}
		var visit func(i int, parent ecs.Entity, above transform.Mat4)
		visit = func(i int, parent ecs.Entity, above transform.Mat4) {
			e, id := section.Entity(nodeID(section.Name(), i)), nodeID(section.Name(), i)
			require.NotEqual(t, ecs.Null, e)
			require.Equal(t, parent, h.Parent(e))
			n := known[id]
			same[i] = n.local().Matrix()
			if parent != ecs.Null {
				same[i] = above.Mul(same[i])
			}
			got := tr.MatrixType().Get(e).Matrix
			require.Equal(t, same[i], got, id)
			for k := range got {
				far = max(far, math.Abs(float64(got[k])-want[i][k])/(1+math.Abs(want[i][k])))
			}
			var corners []Shape
			for _, c := range n.Corners {
				corners = append(corners, Shape(vector(n.Points[c])))
			}
			require.Equal(t, n.Mesh >= 0, mesh.Has(e))
			require.Equal(t, doc.Nodes[i].Mesh != nil, mesh.Has(e))
			require.Equal(t, len(corners), len(shape.Slice(e)))
			for k := range corners {
				require.Equal(t, corners[k], shape.Slice(e)[k])
			}
			for _, c := range doc.Nodes[i].Children {
				visit(c, e, same[i])
			}
		}
		for _, root := range doc.Scenes[0].Nodes {
			visit(root, ecs.Null, transform.Identity)
		}
	}
	t.Logf("farthest from float64: %.3g", far)
	require.Less(t, far, 1e-2) // hundreds of products deep
	tr.Close()
	h.Close()
	require.NoError(t, b.Close())
}

func vector(p [3]float32) transform.Vec3 { return transform.Vec3{X: p[0], Y: p[1], Z: p[2]} }

// TestBadScene: what is not baked is an error that names the node.
func TestBadScene(t *testing.T) {
	b, err := newBakery()
	require.NoError(t, err)
	doc := gltf.NewDocument()
	doc.Nodes = []*gltf.Node{{Children: []int{1}}, {Scale: [3]float64{1, 2, 3}}}
	list, err := nodes(doc, "odd")
	require.NoError(t, err)
	_, err = b.Bake(t.TempDir(), list)
	require.ErrorContains(t, err, "odd.1 (odd, node 1): baker node: a scale that differs by axis")
	doc.Nodes[1].Children = []int{7}
	_, err = nodes(doc, "odd")
	require.ErrorContains(t, err, "node 1 has the child 7")
	doc.Nodes[1] = &gltf.Node{Mesh: gltf.Index(3)}
	_, err = nodes(doc, "odd")
	require.ErrorContains(t, err, "mesh 3 is not there")
	require.NoError(t, b.Close())
}
