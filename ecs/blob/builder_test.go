package blob_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/blob"
)

// Node is a tree, and more.
type Node struct {
	Value int16
	Kids  blob.Array[Node]
	Other blob.Ref[Node]
	Texts [3]blob.String
	Any   blob.Ref[int16]
	Bytes blob.Array[uint8]
}

// node is the twin of a Node, in Go memory.
type node struct {
	value int16
	kids  []*node
	other *node
	texts [3]string
	any   *node // whose value is meant
	bytes []byte
}

// growth builds random trees with references between their nodes, beside twins.
type growth struct {
	random *rand.Rand
	b      *blob.Builder[Node]
	nodes  []*Node
	twins  []*node
}

func (g *growth) grow(n *Node, twin *node, depth int) {
	g.nodes, g.twins = append(g.nodes, n), append(g.twins, twin)
	twin.value = int16(g.random.Uint32())
	n.Value = twin.value
	for i := range twin.texts {
		twin.texts[i] = string(make([]byte, g.random.IntN(4)))
		blob.SetString(g.b, &n.Texts[i], twin.texts[i])
	}
	twin.bytes = make([]byte, g.random.IntN(9))
	to := blob.Allocate(g.b, &n.Bytes, len(twin.bytes))
	for i := range to {
		twin.bytes[i] = byte(g.random.Uint32())
		to[i] = twin.bytes[i]
	}
	if depth == 0 {
		return
	}
	if g.random.IntN(4) == 0 {
		blob.Allocate(g.b, &n.Kids, 3) // replaced
	}
	kids := blob.Allocate(g.b, &n.Kids, g.random.IntN(4))
	for i := range kids {
		k := &node{}
		twin.kids = append(twin.kids, k)
		g.grow(&kids[i], k, depth-1)
	}
	if g.random.IntN(3) == 0 {
		twin.other = &node{}
		g.grow(blob.New(g.b, &n.Other), twin.other, depth-1)
	}
}

// lead makes references to any nodes.
func (g *growth) lead() {
	for i, n := range g.nodes {
		k := g.random.IntN(len(g.nodes))
		if g.random.IntN(2) == 0 && g.twins[i].other == nil {
			blob.Point(g.b, &n.Other, g.nodes[k])
			g.twins[i].other = g.twins[k]
		}
		if k = g.random.IntN(len(g.nodes)); g.random.IntN(2) == 0 {
			blob.Point(g.b, &n.Any, &g.nodes[k].Value)
			g.twins[i].any = g.twins[k]
		}
	}
}

// compare compares nodes with twins, and which is which.
func compare(t *testing.T, n *Node, twin *node, seen map[*node]*Node) {
	if at, ok := seen[twin]; ok {
		require.Same(t, at, n)
		return
	}
	seen[twin] = n
	require.Equal(t, twin.value, n.Value)
	require.Equal(t, len(twin.kids), n.Kids.Len())
	for i := range twin.texts {
		require.Equal(t, twin.texts[i], n.Texts[i].String())
		require.Equal(t, len(twin.texts[i]), n.Texts[i].Len())
	}
	require.Equal(t, string(twin.bytes), string(n.Bytes.Slice()))
	kids := n.Kids.Slice()
	for i := range kids {
		compare(t, &kids[i], twin.kids[i], seen)
	}
	require.Equal(t, twin.other == nil, n.Other.Get() == nil)
	if twin.other != nil {
		compare(t, n.Other.Get(), twin.other, seen)
	}
	require.Equal(t, twin.any == nil, n.Any.Get() == nil)
	if twin.any != nil {
		compare(t, (*Node)(unsafe.Pointer(n.Any.Get())), twin.any, seen) // a Value is at the begin of its Node
	}
}

// TestRandomTrees builds trees beside twins and compares what the store has of them.
func TestRandomTrees(t *testing.T) {
	w := newWorld(t)
	s, err := blob.NewStore(w, blob.Type[Node]())
	require.NoError(t, err)
	for seed := range uint64(150) {
		g := &growth{random: rand.New(rand.NewPCG(seed, 7)), b: blob.NewBuilder[Node]()}
		twin := &node{}
		g.grow(g.b.Root(), twin, 1+int(seed%5))
		g.lead()
		b, err := blob.Add(s, g.b)
		require.NoError(t, err)
		compare(t, b.Get(s), twin, map[*node]*Node{})
		require.NoError(t, s.Verify())
		again, err := blob.Add(s, g.b)
		require.NoError(t, err)
		require.Equal(t, b, again, "a builder may be added again")
	}
}

// TestSameBytes: the order of calls, what was replaced and padding leave no trace.
func TestSameBytes(t *testing.T) {
	s := newStore(t, newWorld(t))
	want := addMesh(t, s, 3)
	b := buildMesh(3)
	m := b.Root()
	parts := blob.Allocate(b, &m.Parts, 7) // a detour
	for i := range parts {
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&parts[i])), 4)
		raw[1], raw[2], raw[3] = 1, 2, 3
	}
	parts = blob.Allocate(b, &m.Parts, 3)
	for i := 2; i >= 0; i-- {
		p := &parts[i]
		raw := unsafe.Slice((*byte)(unsafe.Pointer(p)), 4) // Kind and padding
		raw[1], raw[2], raw[3] = 1, 2, 3
		blob.Point(b, &p.Next, &parts[(i+1)%3])
		points := blob.Allocate(b, &p.Points, i*2)
		for k := range points {
			points[k] = Vec3{float32(k), 1, 2}
		}
		blob.SetString(b, &p.Name, "part "+string(rune('0'+i)))
		p.Kind, p.At = uint8(i), Vec3{float32(i), 0, 3}
	}
	got, err := blob.Add(s, b)
	require.NoError(t, err)
	require.Equal(t, want, got)
	checkMesh(t, got.Get(s), 3)
	require.NoError(t, s.Verify())
}

// TestPaddingOfPlainTypes: padding of elements that lead nowhere is zero too.
func TestPaddingOfPlainTypes(t *testing.T) {
	type Padded struct {
		A uint8
		B uint32
	}
	type Padding struct{ All blob.Array[Padded] }
	s, err := blob.NewStore(newWorld(t), blob.Type[Padding]())
	require.NoError(t, err)
	var made [2]blob.Blob[Padding]
	for i := range made {
		b := blob.NewBuilder[Padding]()
		all := blob.Allocate(b, &b.Root().All, 5)
		for k := range all {
			*(*[4]byte)(unsafe.Pointer(&all[k])) = [4]byte{0, byte(i), byte(k), byte(i)}
			all[k] = Padded{A: uint8(k), B: 7}
			(*[4]byte)(unsafe.Pointer(&all[k]))[2] = byte(i)
		}
		made[i], err = blob.Add(s, b)
		require.NoError(t, err)
	}
	require.Equal(t, made[0], made[1])
	require.Equal(t, Padded{4, 7}, made[0].Get(s).All.Slice()[4])
}

// TestOneBuilderManyStores: goroutines build, and one builder serves several worlds.
func TestOneBuilderManyStores(t *testing.T) {
	var all [4]*blob.Builder[Mesh]
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { all[i] = buildMesh(i) })
	}
	group.Wait()
	for range 2 {
		s := newStore(t, newWorld(t))
		for i, b := range all {
			m, err := blob.Add(s, b)
			require.NoError(t, err)
			checkMesh(t, m.Get(s), i)
		}
	}
	s := newStore(t, newWorld(t))
	m, err := blob.Add(s, all[2])
	require.NoError(t, err)
	all[2].Root().Slots[1].On = false
	o, err := blob.Add(s, all[2])
	require.NoError(t, err)
	require.NotEqual(t, m, o, "a builder that has changed makes another blob")
	require.False(t, o.Get(s).Slots[1].On)
}

// TestInBuilder: fields are empty until they are in a blob; nil takes a reference away.
func TestInBuilder(t *testing.T) {
	b := buildMesh(4)
	m := b.Root()
	require.Zero(t, m.Parts.Len())
	require.Nil(t, m.Parts.Slice())
	require.Zero(t, m.Name.Len())
	require.Zero(t, m.Name.String())
	require.Nil(t, m.First.Get())
	blob.Point(b, &m.First, nil)
	require.Nil(t, blob.Allocate(b, &m.Parts, 0))
	blob.SetString(b, &m.Name, "")
	s := newStore(t, newWorld(t))
	x, err := blob.Add(s, b)
	require.NoError(t, err)
	require.Nil(t, x.Get(s).First.Get())
	require.Nil(t, x.Get(s).Parts.Slice())
	require.Zero(t, x.Get(s).Name.String())
	require.NoError(t, s.Verify())
}

// TestMisuse: what is not the builder's is refused.
func TestMisuse(t *testing.T) {
	b, other := blob.NewBuilder[Mesh](), blob.NewBuilder[Mesh]()
	var loose Mesh
	const hint = "; fields are those of Root, and of what Allocate and New return"
	require.PanicsWithValue(t, "blob: Allocate: the Array[quarry/ecs/blob_test.Part] is not in the builder"+hint,
		func() { blob.Allocate(b, &loose.Parts, 1) })
	require.PanicsWithValue(t, "blob: SetString: the String is not in the builder"+hint,
		func() { blob.SetString(b, &other.Root().Name, "x") })
	require.PanicsWithValue(t, "blob: New: the Ref[quarry/ecs/blob_test.Part] is not in the builder"+hint,
		func() { blob.New(b, &loose.First) })
	require.PanicsWithValue(t, "blob: Point: the Ref[quarry/ecs/blob_test.Part] is not in the builder"+hint,
		func() { blob.Point(b, nil, new(Part)) })
	require.PanicsWithValue(t, "blob: Point: the Part to point to is not in the builder",
		func() { blob.Point(b, &b.Root().First, new(Part)) })
	require.PanicsWithValue(t, "blob: Allocate: n=-1 is negative", func() { blob.Allocate(b, &b.Root().Parts, -1) })
	require.PanicsWithValue(t, "blob: SetString: the builder is nil; NewBuilder makes one",
		func() { blob.SetString(&blob.Builder[Mesh]{}, &loose.Name, "x") })
	func() {
		defer func() { require.ErrorIs(t, recover().(error), ecs.ErrLimit) }()
		blob.Allocate(b, &b.Root().Parts, 1<<30)
	}()

	s := newStore(t, newWorld(t))
	*(*[8]byte)(unsafe.Pointer(&b.Root().First)) = [8]byte{8, 0, 0, 0, 1} // as a copy from a blob has it
	require.PanicsWithValue(t, "blob: Add: Mesh.First was copied from another builder or from a blob",
		func() { _, _ = blob.Add(s, b) })
	*(*[8]byte)(unsafe.Pointer(&b.Root().First)) = [8]byte{0, 0, 0, 0, 0xf0, 0xff, 0xff, 0xff}
	require.PanicsWithValue(t, "blob: Add: Mesh.First was copied from another builder or from a blob",
		func() { _, _ = blob.Add(s, b) })
	require.NoError(t, s.Verify())
	c := buildMesh(4)
	*(*[8]byte)(unsafe.Pointer(&c.Root().First)) = *(*[8]byte)(unsafe.Pointer(&c.Root().Name)) // leads to bytes
	require.PanicsWithValue(t, "blob: Add: Mesh.First was copied from another builder or from a blob",
		func() { _, _ = blob.Add(s, c) })
}

// TestRefusedTypes: pointers, entities and types without a size, with the path.
func TestRefusedTypes(t *testing.T) {
	type Deep struct{ Names [2]string }
	type Pointers struct{ Parts blob.Array[Deep] }
	require.PanicsWithValue(t, "blob: Type[Pointers]: at Pointers.Parts[]: Deep.Names[] is a string",
		func() { blob.Type[Pointers]() })
	type Owner struct{ By [3]struct{ Who ecs.Entity } }
	type Entities struct{ First blob.Ref[Owner] }
	const moving = " is an ecs.Entity, whose number changes when worlds are merged; a blob never changes"
	require.PanicsWithValue(t, "blob: Type[Entities]: Entities.First.By[].Who"+moving, func() { blob.Type[Entities]() })
	type Blobs struct{ Other blob.Blob[Mesh] }
	require.PanicsWithValue(t, "blob: NewBuilder[Blobs]: Blobs.Other.entity"+moving,
		func() { blob.NewBuilder[Blobs]() })
	type Empty struct{ None blob.Array[struct{}] }
	require.PanicsWithValue(t, "blob: Type[Empty]: Empty.None[] has no size", func() { blob.Type[Empty]() })
	require.PanicsWithValue(t, "blob: Type[struct {}]: struct {} has no size", func() { blob.Type[struct{}]() })
	require.NotPanics(t, func() { blob.Type[Node]() }, "a type may hold itself")
	type Embeds struct {
		blob.Array[Vec3]
		More blob.String
	}
	require.NotPanics(t, func() {
		b := blob.NewBuilder[Embeds]()
		blob.Allocate(b, &b.Root().Array, 2)[1].X = 3
		blob.SetString(b, &b.Root().More, "more")
		s, err := blob.NewStore(newWorld(t), blob.Type[Embeds]())
		require.NoError(t, err)
		e, err := blob.Add(s, b)
		require.NoError(t, err)
		require.Equal(t, []Vec3{{}, {X: 3}}, e.Get(s).Slice())
		require.Equal(t, "more", e.Get(s).More.String())
	})
}
