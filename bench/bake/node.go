package bake

import (
	"errors"
	"fmt"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/scene"
	"quarry/ecs/transform"
)

// Node is authoring data: a node of a glTF scene.
type Node struct {
	Translation, Scale [3]float32
	Rotation           [4]float32 // X, Y, Z, W
	Mesh               int        // -1: none
	Points             [][3]float32
	Corners            []uint32 // of triangles, places in Points
}

// Shape is an element of a buffer: a corner of a triangle of a node's mesh.
type Shape struct{ X, Y, Z float32 }

// Mesh is which mesh of the document a node shows.
type Mesh struct{ Index uint32 }

// register registers the types of glTF scenes and of the catalogue.
func register(w *ecs.World) {
	transform.New(hierarchy.New(w)).Close()
	ecs.RegisterBuffer[Shape](w, ecs.Inline(0))
	ecs.Register[Mesh](w)
	ecs.Register[Body](w)
}

// nodes returns the nodes of a document as authoring data of a section.
func nodes(doc *gltf.Document, section string) ([]scene.Object, error) {
	parents := make([]int, len(doc.Nodes))
	for i := range parents {
		parents[i] = -1
	}
	for i, n := range doc.Nodes {
		for _, c := range n.Children {
			if c < 0 || c >= len(parents) || parents[c] >= 0 {
				return nil, fmt.Errorf("bake: %s: node %d has the child %d, which is not there or has a parent",
					section, i, c)
			}
			parents[c] = i
		}
	}
	list := make([]scene.Object, 0, len(doc.Nodes))
	for i, n := range doc.Nodes {
		o := scene.Object{ID: nodeID(section, i), Section: section, Place: fmt.Sprintf("%s, node %d", section, i)}
		if parents[i] >= 0 {
			o.Parent = nodeID(section, parents[i])
		}
		v := Node{Mesh: -1}
		for k := range 3 {
			v.Translation[k] = float32(n.TranslationOrDefault()[k])
			v.Scale[k] = float32(n.ScaleOrDefault()[k])
		}
		for k := range 4 {
			v.Rotation[k] = float32(n.RotationOrDefault()[k])
		}
		if n.Mesh != nil {
			if err := v.readMesh(doc, *n.Mesh); err != nil {
				return nil, fmt.Errorf("bake: %s: %w", o.Place, err)
			}
		}
		o.Value = v
		list = append(list, o)
	}
	return list, nil
}

func nodeID(section string, i int) string { return fmt.Sprintf("%s.%d", section, i) }

// readMesh reads the first primitive of a mesh.
func (v *Node) readMesh(doc *gltf.Document, mesh int) (err error) {
	if mesh < 0 || mesh >= len(doc.Meshes) || len(doc.Meshes[mesh].Primitives) == 0 {
		return fmt.Errorf("mesh %d is not there, or has no primitives", mesh)
	}
	p := doc.Meshes[mesh].Primitives[0]
	at, ok := p.Attributes[gltf.POSITION]
	if !ok || p.Indices == nil {
		return fmt.Errorf("mesh %d has no positions or no indices", mesh)
	}
	v.Mesh = mesh
	if v.Points, err = modeler.ReadPosition(doc, doc.Accessors[at], nil); err != nil {
		return err
	}
	v.Corners, err = modeler.ReadIndices(doc, doc.Accessors[*p.Indices], nil)
	return err
}

// bakeNode is the baker of nodes.
func bakeNode(c *scene.Context, n Node) error {
	e := c.Entity()
	scene.Put(c, e, n.local())
	scene.Put(c, e, transform.LocalToWorld{})
	if n.Scale[0] != n.Scale[1] || n.Scale[0] != n.Scale[2] {
		return errors.New("a scale that differs by axis is not baked")
	}
	if n.Mesh < 0 {
		return nil
	}
	scene.Put(c, e, Mesh{uint32(n.Mesh)})
	shape := make([]Shape, 0, len(n.Corners))
	for _, i := range n.Corners {
		if int(i) >= len(n.Points) {
			return fmt.Errorf("corner %d of %d points", i, len(n.Points))
		}
		p := n.Points[i]
		shape = append(shape, Shape{p[0], p[1], p[2]})
	}
	scene.PutBuffer(c, e, shape...)
	return nil
}

// local returns where the node is on its parent.
func (n *Node) local() transform.Local {
	t, r := n.Translation, n.Rotation
	return transform.Local{
		Position: transform.Vec3{X: t[0], Y: t[1], Z: t[2]}, Scale: n.Scale[0],
		Rotation: transform.Quat{X: r[0], Y: r[1], Z: r[2], W: r[3]},
	}
}

// newBakery returns a bakery that knows nodes and orbits.
func newBakery() (*scene.Bakery, error) {
	b, err := scene.NewBakery(register)
	if err == nil {
		scene.AddBaker(b, "node", bakeNode)
		scene.AddBaker(b, "orbit", bakeOrbit)
	}
	return b, err
}
