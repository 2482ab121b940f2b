package transform_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/job"
	"quarry/ecs/transform"
)

// scene is a world with transforms.
type scene struct {
	w *ecs.World
	h *hierarchy.Hierarchy
	t *transform.Transforms
}

func newScene(t testing.TB) scene {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	h := hierarchy.New(w)
	return scene{w, h, transform.New(h)}
}

// node makes an entity at a place, below a parent or Null.
func (s *scene) node(t testing.TB, l transform.Local, parent ecs.Entity, more ...ecs.Type) ecs.Entity {
	e := ecs.NewArchetype(s.w, append(more, s.t.LocalType(), s.t.MatrixType())...).Create()
	s.t.LocalType().Set(e, l)
	require.NoError(t, s.h.SetParent(e, parent))
	return e
}

func near(t testing.TB, want, got transform.Vec3) {
	for _, pair := range [][2]float32{{want.X, got.X}, {want.Y, got.Y}, {want.Z, got.Z}} {
		require.InDelta(t, pair[0], pair[1], 1e-5, "want %v, got %v", want, got)
	}
}

// TestKernelsTakeComponents: a Local and a matrix are what asm.Compose takes them for.
func TestKernelsTakeComponents(t *testing.T) {
	var l transform.Local
	require.Equal(t, [4]uintptr{32, 0, 12, 16},
		[4]uintptr{unsafe.Sizeof(l), unsafe.Offsetof(l.Position), unsafe.Offsetof(l.Scale),
			unsafe.Offsetof(l.Rotation)})
	require.Equal(t, [4]uintptr{0, 4, 8, 12},
		[4]uintptr{unsafe.Offsetof(l.Rotation.X), unsafe.Offsetof(l.Rotation.Y), unsafe.Offsetof(l.Rotation.Z),
			unsafe.Offsetof(l.Rotation.W)})
	require.Equal(t, [2]uintptr{4, 8}, [2]uintptr{unsafe.Offsetof(l.Position.Y), unsafe.Offsetof(l.Position.Z)})
	require.Equal(t, uintptr(64), unsafe.Sizeof(transform.LocalToWorld{}))
}

// TestNotANumber: a NaN stays a NaN in the children, and Verify holds.
func TestNotANumber(t *testing.T) {
	s := newScene(t)
	broken := transform.At(1, 2, 3)
	broken.Position.Y = float32(math.NaN())
	root := s.node(t, broken, ecs.Null)
	child := s.node(t, transform.At(4, 5, 6), root)
	require.Equal(t, 2, s.t.Update())
	at := s.t.MatrixType().Get(child).Matrix.Position()
	require.Equal(t, [2]float32{5, 9}, [2]float32{at.X, at.Z})
	require.True(t, math.IsNaN(float64(at.Y)))
	require.NoError(t, s.t.Verify())
	s.t.MatrixType().Mut(child).Matrix[13] = 7
	require.ErrorIs(t, s.t.Verify(), transform.ErrStale)
}

// TestArm: a hand at the end of an arm that turns.
func TestArm(t *testing.T) {
	s := newScene(t)
	shoulder := s.node(t, transform.At(10, 0, 0), ecs.Null)
	elbow := s.node(t, transform.At(2, 0, 0), shoulder)
	hand := s.node(t, transform.At(1, 0, 0), elbow)
	at := func(e ecs.Entity) transform.Vec3 { return s.t.MatrixType().Get(e).Matrix.Position() }
	require.Equal(t, 3, s.t.Update())
	near(t, transform.Vec3{X: 13}, at(hand))
	require.Zero(t, s.t.Update(), "nothing was written")
	l := s.t.LocalType().Mut(elbow)
	*l = l.RotateZ(math.Pi / 2)
	require.Equal(t, 2, s.t.Update())
	near(t, transform.Vec3{X: 12, Y: 1}, at(hand))
	l = s.t.LocalType().Mut(shoulder)
	*l = l.RotateY(math.Pi / 2).ScaleBy(3).Translate(transform.Vec3{X: -10})
	require.Equal(t, 3, s.t.Update())
	near(t, transform.Vec3{Y: 3, Z: -6}, at(hand))
	require.NoError(t, s.t.Verify())
	require.NoError(t, s.h.SetParent(hand, ecs.Null))
	s.t.Update()
	near(t, transform.Vec3{X: 1}, at(hand))
}

// TestGivenMatrices: a node without Local has the matrix that the program gives it, and what is
// below follows.
func TestGivenMatrices(t *testing.T) {
	s := newScene(t)
	body := ecs.NewArchetype(s.w, s.t.MatrixType()).Create()
	s.t.MatrixType().Set(body, transform.LocalToWorld{Matrix: transform.Identity})
	l := transform.At(1, 2, 3)
	wheel := s.node(t, l, body)
	other := s.node(t, l, ecs.Null)
	s.t.Update()
	m := transform.At(5, 0, 0).RotateZ(math.Pi)
	s.t.MatrixType().Set(body, transform.LocalToWorld{Matrix: m.Matrix()})
	require.Equal(t, 1, s.t.Update())
	near(t, transform.Vec3{X: 4, Y: -2, Z: 3}, s.t.MatrixType().Get(wheel).Matrix.Position())
	near(t, transform.Vec3{X: 1, Y: 2, Z: 3}, s.t.MatrixType().Get(other).Matrix.Position())
	require.Zero(t, s.t.Update())
	require.NoError(t, s.t.Verify())
}

// TestLocalAlgebra: a Local and its matrix do the same, inverses take back, and products follow one
// another.
func TestLocalAlgebra(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() transform.Vec3 {
		return transform.Vec3{X: r.Float32()*4 - 2, Y: r.Float32()*4 - 2, Z: r.Float32()*4 - 2}
	}
	local := func() transform.Local {
		l := transform.At(0, 0, 0).Translate(some()).RotateX(r.Float32() * 6).RotateY(r.Float32() *
			6).RotateZ(r.Float32() * 6)
		l.Rotation = l.Rotation.Normalize()
		return l.ScaleBy(0.5 + r.Float32())
	}
	for range 1000 {
		a, b, p := local(), local(), some()
		m, n := a.Matrix(), b.Matrix()
		near(t, m.Point(p), a.Point(p))
		near(t, p, a.Inverse().Point(a.Point(p)))
		product := m.Mul(n)
		near(t, a.Point(b.Point(p)), product.Point(p))
		near(t, a.Point(b.Point(p)), a.Mul(b).Point(p))
		near(t, p, a.Rotation.Conjugate().Rotate(a.Rotation.Rotate(p)))
	}
	near(t, transform.Vec3{Z: -1}, transform.At(0, 0, 0).RotateY(math.Pi/2).Point(transform.Vec3{X: 1}))
	near(t, transform.Vec3{Y: 1}, transform.AxisAngle(transform.Vec3{Z: 1}, math.Pi/2).Rotate(transform.Vec3{X: 1}))
	require.Equal(t, transform.NoRotation, transform.Quat{}.Normalize())
}

// TestSameBits: products and matrices have the same bits on every platform, whichever fuses a
// product with a sum.
func TestSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	number := func() float32 { return r.Float32()*4 - 2 }
	local := func() transform.Local {
		q := transform.Quat{X: number(), Y: number(), Z: number(), W: number()}
		return transform.Local{
			Position: transform.Vec3{X: number(), Y: number(), Z: number()}, Scale: 1 + number()/8, Rotation: q.Normalize(),
		}
	}
	h := fnv.New64a()
	for range 1000 {
		a, b := local(), local()
		m, n := a.Matrix(), b.Matrix()
		c := a.Mul(b).Mul(a.Inverse())
		require.NoError(t, binary.Write(h, binary.LittleEndian, [3]transform.Mat4{
			m.Mul(n), n.Mul(m).Mul(m), c.Matrix(),
		}))
	}
	require.Equal(t, uint64(0x4b8db86bbafb88ef), h.Sum64())
}

// crowd is a scene that changes at random.
type crowd struct {
	scene
	r   *rand.Rand
	tag ecs.Component[struct{ N int32 }]
	all []ecs.Entity
}

func (c *crowd) pick() ecs.Entity { return c.all[c.r.IntN(len(c.all))] }

// local returns a Local that neither grows nor shrinks much what is below it.
func (c *crowd) local() transform.Local {
	l := transform.At(c.r.Float32(), c.r.Float32(), c.r.Float32()).RotateX(c.r.Float32()).RotateZ(c.r.Float32())
	return l.ScaleBy(0.9 + c.r.Float32()/5)
}

// born makes an entity.
func (c *crowd) born(t testing.TB) {
	parent := ecs.Null
	if len(c.all) > 0 && c.r.IntN(4) > 0 {
		parent = c.pick()
	}
	if parent != ecs.Null && !c.w.Alive(parent) {
		parent = ecs.Null
	}
	var more []ecs.Type
	if c.r.IntN(3) == 0 {
		more = append(more, c.tag)
	}
	if c.r.IntN(5) == 0 {
		more = append(more, c.t.PostType())
	}
	c.all = append(c.all, c.node(t, c.local(), parent, more...))
}

// change does one of many things to an entity, which may be dead.
func (c *crowd) change(t testing.TB, op int) {
	e := c.pick()
	switch alive := c.w.Alive(e); {
	case op == 2:
		_ = c.h.SetParent(e, c.pick()) // a cycle or a dead one is refused
	case op == 3:
		_ = c.h.SetParent(e, ecs.Null)
	case op == 4:
		if c.r.IntN(6) == 0 {
			c.w.Destroy(e)
		}
	case op == 5:
		c.h.Destroy(e)
	case op > 11:
		c.t.LocalType().Set(e, c.local())
	case op == 11:
		if p := c.t.PostType().Mut(e); p != nil {
			p.Matrix[12] = c.r.Float32()
		}
	case !alive:
	case op == 6:
		if !c.tag.Remove(e) {
			c.tag.Add(e, struct{ N int32 }{1})
		}
	case op == 7:
		if !c.t.PostType().Remove(e) {
			c.t.PostType().Add(e, transform.Post{Matrix: transform.Mat4{0: 2, 5: 1, 10: .5, 4: .25, 15: 1}})
		}
	case op == 8:
		if !c.t.LocalType().Remove(e) {
			c.t.LocalType().Add(e, c.local())
		}
	case op == 9:
		if !c.t.LocalType().Has(e) {
			l := c.local()
			c.t.MatrixType().Set(e, transform.LocalToWorld{Matrix: l.Matrix()})
		}
	default:
		if !c.t.MatrixType().Remove(e) && c.r.IntN(3) > 0 {
			c.t.MatrixType().Add(e, transform.LocalToWorld{})
		}
	}
}

// step changes something, and checks all matrices two times of three. It returns how many were
// computed.
func (c *crowd) step(t testing.TB) (computed int) {
	op := c.r.IntN(20)
	if op < 2 || len(c.all) < 5 {
		c.born(t)
	} else {
		c.change(t, op)
	}
	if c.r.IntN(3) > 0 {
		computed = c.t.Update()
		require.NoError(t, c.t.Verify(), "op %d", op)
	}
	return computed
}

// newCrowd returns a crowd of nobody, whose changes a source decides.
func newCrowd(t testing.TB, source rand.Source) *crowd {
	c := &crowd{scene: newScene(t), r: rand.New(source)}
	c.tag = ecs.Register[struct{ N int32 }](c.w)
	return c
}

// TestAgainstTwin: after writes, new parents, births, deaths and changes of types, Update gives
// each entity the matrix that a recursion from it to the root gives, bit for bit.
func TestAgainstTwin(t *testing.T) {
	steps := 1500
	if testing.Short() {
		steps = 300
	}
	for seed := range uint64(4) {
		c := newCrowd(t, rand.NewPCG(seed, 9))
		partly := 0
		for range steps {
			if n := c.step(t); n > 0 && n < c.w.Stats().Alive/2 {
				partly++
			}
		}
		require.Greater(t, partly, steps/20)
		require.NoError(t, c.w.Verify())
	}
}

// TestParallel: levels that are computed in jobs have the same bits, after any write, and after
// nodes have come and gone.
func TestParallel(t *testing.T) {
	const n = 12_000
	var hashes [2]uint64
	for k := range hashes {
		s := newScene(t)
		jobs := job.NewScheduler(s.w, job.Workers(2+k))
		if k > 0 {
			s.t.Parallel(jobs)
		}
		r := rand.New(rand.NewPCG(7, 8))
		made, err := ecs.NewArchetype(s.w, s.t.LocalType(), s.t.MatrixType(), s.h.ParentType()).CreateN(n)
		require.NoError(t, err)
		nodes := made.Entities(nil)
		r.Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		for i, e := range nodes {
			s.t.LocalType().Set(e, transform.Local{
				Position: transform.Vec3{X: r.Float32()}, Scale: 1, Rotation: transform.Quat{X: 0.6, W: 0.8},
			})
			if i >= 3 {
				require.NoError(t, s.h.SetParent(e, nodes[i/3]))
			}
		}
		require.Equal(t, n, s.t.Update())
		for range 20 {
			for range r.IntN(200) {
				s.t.LocalType().Mut(nodes[r.IntN(n)]).Position.Y++
			}
			if r.IntN(4) == 0 {
				e := nodes[r.IntN(n)]
				require.NoError(t, s.h.SetParent(e, ecs.Null))
				s.t.PostType().Add(e, transform.Post{Matrix: transform.At(0, 1, 0).Matrix()})
			}
			s.t.Update()
			require.NoError(t, s.t.Verify())
		}
		hashes[k] = s.w.Hash()
		s.t.Parallel(nil)
		require.NoError(t, jobs.Close())
		s.t.LocalType().Mut(nodes[0]).Scale = 2
		s.t.Update()
		require.NoError(t, s.t.Verify())
	}
	require.Equal(t, hashes[0], hashes[1])
}

// TestAfterRestore: matrices are those of the locals after a world has gone back to a snapshot, and
// forth again.
func TestAfterRestore(t *testing.T) {
	c := newCrowd(t, rand.NewPCG(3, 4))
	for range 300 {
		c.step(t)
	}
	c.t.Update()
	before := c.w.Snapshot()
	defer before.Close()
	for range 50 {
		c.step(t)
	}
	after := c.w.Snapshot() // matrices may be stale in it
	defer after.Close()
	for _, s := range []*ecs.Snapshot{before, after, before} {
		require.NoError(t, c.w.Restore(s))
		c.t.Update()
		require.NoError(t, c.t.Verify())
		require.NoError(t, c.w.Verify())
	}
}

// TestMatricesOfOthers: Update computes matrices again that the program has written, or that a
// restore has brought back from before the first Update, though no Local was written.
func TestMatricesOfOthers(t *testing.T) {
	s := newScene(t)
	root := s.node(t, transform.At(1, 0, 0), ecs.Null)
	leaf := s.node(t, transform.At(0, 2, 0), root)
	before := s.w.Snapshot()
	defer before.Close()
	require.Equal(t, 2, s.t.Update())
	require.NoError(t, s.w.Restore(before))
	require.Equal(t, 2, s.t.Update())
	near(t, transform.Vec3{X: 1, Y: 2}, s.t.MatrixType().Get(leaf).Matrix.Position())
	require.Zero(t, s.t.Update())
	s.t.MatrixType().Mut(root).Matrix[12] = 7
	require.NotZero(t, s.t.Update())
	require.NoError(t, s.t.Verify())
	require.Zero(t, s.t.Update())
}

// TestMarksChanged: matrices are marked changed in the chunks that have one that was computed, and
// in no others; Verify sees a Local that was written after Update.
func TestMarksChanged(t *testing.T) {
	s := newScene(t)
	made, err := ecs.NewArchetype(s.w, s.t.LocalType(), s.t.MatrixType()).CreateN(1000)
	require.NoError(t, err)
	nodes := made.Entities(nil)
	q := ecs.NewQuery(s.w, ecs.Read(s.t.MatrixType()), ecs.Changed(s.t.MatrixType()))
	chunks := func() (n int) {
		for range q.Rows() {
			n++
		}
		return n
	}
	require.Equal(t, 1000, s.t.Update())
	all := chunks()
	require.Greater(t, all, 2)
	require.Zero(t, chunks())
	s.t.LocalType().Set(nodes[500], transform.At(1, 2, 3))
	require.ErrorIs(t, s.t.Verify(), transform.ErrStale)
	require.ErrorContains(t, s.t.Verify(), "M1")
	require.Equal(t, 1, s.t.Update())
	require.NoError(t, s.t.Verify())
	require.Equal(t, 1, chunks())
	require.Zero(t, s.t.Update())
	require.Zero(t, chunks())
}

// bytesSource is a source of the bytes of a fuzzer, and of random numbers behind them.
type bytesSource struct {
	data []byte
	rest *rand.PCG
}

func (s *bytesSource) Uint64() uint64 {
	if len(s.data) < 4 {
		s.data = nil
		return s.rest.Uint64()
	}
	v := binary.LittleEndian.Uint32(s.data)
	s.data = s.data[4:]
	return uint64(v) * 0x9e3779b97f4a7c15 // both halves depend on all bits
}

// FuzzUpdate is TestAgainstTwin with changes that bytes decide.
func FuzzUpdate(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 5 {
		data := make([]byte, 200*n)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		source := &bytesSource{data[:min(len(data), 4<<10)], rand.NewPCG(1, 2)}
		c := newCrowd(t, source)
		for len(source.data) > 0 {
			c.step(t)
		}
		c.t.Update()
		require.NoError(t, c.t.Verify())
		require.NoError(t, c.w.Verify())
	})
}
