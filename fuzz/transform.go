package fuzz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/hierarchy"
	"quarry/ecs/job"
	"quarry/ecs/transform"
)

// The driver of transforms. The model is the components of each entity, and its parent. The twin of
// Update is a recursion from an entity to its root, by Local.Matrix and Mat4.Mul.

// body is what the model knows of an entity.
type body struct {
	local  *transform.Local
	post   *transform.Mat4
	matrix *transform.Mat4 // what the component must hold now
	parent ecs.Entity      // whom its Parent names, dead or alive; Null: it has none
}

// forest is what the model knows of a world.
type forest struct {
	list   []ecs.Entity // in the order in which they came; dead ones too
	bodies map[ecs.Entity]*body
}

// clone returns a copy.
func (m *forest) clone() *forest {
	c := &forest{list: slices.Clone(m.list), bodies: make(map[ecs.Entity]*body, len(m.bodies))}
	for e, b := range m.bodies {
		copied := *b
		copied.local, copied.post, copied.matrix = cloned(b.local), cloned(b.post), cloned(b.matrix)
		c.bodies[e] = &copied
	}
	return c
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// parentOf returns the parent of an entity, if its link holds, or Null.
func (m *forest) parentOf(e ecs.Entity) ecs.Entity {
	if p := m.bodies[e].parent; m.bodies[p] != nil {
		return p
	}
	return ecs.Null
}

// isBelow reports whether an entity is another, or below it.
func (m *forest) isBelow(e, top ecs.Entity) bool {
	for ; e != ecs.Null; e = m.parentOf(e) {
		if e == top {
			return true
		}
	}
	return false
}

// propagate gives each entity the matrix that it must have after Update.
func (m *forest) propagate() {
	done := make(map[ecs.Entity]bool, len(m.bodies))
	for e := range m.bodies {
		m.matrixOf(e, done)
	}
}

// matrixOf is propagate for an entity with a matrix, and those above.
func (m *forest) matrixOf(e ecs.Entity, done map[ecs.Entity]bool) *transform.Mat4 {
	b := m.bodies[e]
	if done[e] || b.matrix == nil || b.local == nil {
		return b.matrix
	}
	done[e] = true
	*b.matrix = b.local.Matrix()
	if p := m.parentOf(e); p != ecs.Null {
		if above := m.matrixOf(p, done); above != nil {
			*b.matrix = above.Mul(*b.matrix)
		}
	}
	if b.post != nil {
		*b.matrix = b.matrix.Mul(*b.post)
	}
	return b.matrix
}

// filler is a component without a meaning: with it, rows lie elsewhere.
type filler struct{ A, B, C int64 }

// transforms is one run.
type transforms struct {
	w        *ecs.World
	h        *hierarchy.Hierarchy
	t        *transform.Transforms
	spots    ecs.Component[filler]
	disabled ecs.Component[ecs.DisabledEntity]
	jobs     *job.Scheduler // nil: the owner computes
	m        *forest
	saved    *ecs.Snapshot // nil: there is none
	then     *forest       // of saved
	quiet    bool          // nothing has changed since the last Update
	computed int
}

// transformOps are the operations; their order is part of the meaning of a stream.
var transformOps = []struct {
	name string
	do   func(*transforms, record) error
}{
	{"Create", (*transforms).create},
	{"Update", (*transforms).update},
	{"SetLocal", alone((*transforms).setLocal)},
	{"SetPost", alone((*transforms).setPost)},
	{"GiveMatrix", alone((*transforms).giveMatrix)},
	{"SwitchLocal", (*transforms).switchLocal},
	{"SwitchPost", (*transforms).switchPost},
	{"SwitchMatrix", (*transforms).switchMatrix},
	{"MoveRow", (*transforms).moveRow},
	{"SetParent", (*transforms).setParent},
	{"Orphan", (*transforms).orphan},
	{"Destroy", (*transforms).destroy},
	{"DestroyTree", (*transforms).destroyTree},
	{"Sweep", (*transforms).sweep},
	{"Parallel", (*transforms).parallel},
	{"Snapshot", (*transforms).snapshot},
	{"Restore", (*transforms).restore},
}

// RunTransforms applies a stream to the transforms of a new world and returns the first difference
// from the model, and how many matrices Update computed. Bit 0 of the flags begins with a tree that
// is large enough for levels in jobs.
func RunTransforms(data []byte, u *alloc.Universe) (steps, computed int, err error) {
	s := newStream(data)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return 0, 0, fmt.Errorf("fuzz: RunTransforms: %w", err)
	}
	h := hierarchy.New(w)
	d := &transforms{
		w: w, h: h, t: transform.New(h), spots: ecs.Register[filler](w), disabled: ecs.Register[ecs.DisabledEntity](w),
		m: &forest{bodies: map[ecs.Entity]*body{}},
	}
	if s.flags&1 != 0 {
		if err := guarded(func() error { return d.crowd(2100+int(s.seed%500), int(1+s.size%9)) }); err != nil {
			return 0, 0, fmt.Errorf("fuzz: RunTransforms: the tree: %w", err)
		}
	}
	table := s.table(len(transformOps), 0, 1)
	for r, ok := s.next(); ok; r, ok = s.next() {
		op := &transformOps[choose(table, r)]
		if err := guarded(func() error { return op.do(d, r) }); err != nil {
			return steps, d.computed, fmt.Errorf("fuzz: RunTransforms: step %d, %s %+v: %w", steps, op.name, r, err)
		}
		steps++
	}
	if err := guarded(d.end); err != nil {
		return steps, d.computed, fmt.Errorf("fuzz: RunTransforms: after %d steps: %w", steps, err)
	}
	return steps, d.computed, nil
}

// alone returns an operation that is often the only one between two calls of Update, so that these
// compute a part.
func alone(do func(*transforms, record) error) func(*transforms, record) error {
	return func(d *transforms, r record) error {
		if r.n>>30 == 0 {
			return do(d, r)
		}
		return errors.Join(d.update(r), do(d, r), d.update(r))
	}
}

// end compares for the last time, and closes all.
func (d *transforms) end() error {
	if err := errors.Join(d.update(record{}), d.w.Verify(), d.t.Verify()); err != nil {
		return err
	}
	if d.saved != nil {
		d.saved.Close()
	}
	var err error
	if d.jobs != nil {
		err = d.jobs.Close()
	}
	d.t.Close()
	return errors.Join(err, d.w.Close())
}

// pick returns an entity and its body, which is nil if it is dead. Of three records one takes a
// young one.
func (d *transforms) pick(who uint16) (ecs.Entity, *body) {
	n := len(d.m.list)
	if n == 0 {
		return ecs.Null, nil
	}
	i := int(who) % n
	if who%3 == 0 {
		i = n - 1 - int(who/3)%min(n, 16)
	}
	e := d.m.list[i]
	return e, d.m.bodies[e]
}

// changed notes that something was written.
func (d *transforms) changed() { d.quiet = false }

// localOf makes a Local of a record. What is below it grows and shrinks little.
func localOf(r record) transform.Local {
	unit := func(at int) float32 { return float32(r.bits(at, 8))/128 - 1 }
	axis := [...]func(transform.Local, float32) transform.Local{
		transform.Local.RotateX, transform.Local.RotateY, transform.Local.RotateZ,
	}[r.kind%3]
	return axis(transform.At(unit(0), unit(8), unit(16)), unit(24)).ScaleBy(0.9 + float32(r.kind)/1280)
}

// postOf makes the matrix of a Post.
func postOf(r record) transform.Mat4 {
	m := transform.Identity
	m[0], m[4], m[13] = 1+float32(r.kind)/2048, float32(r.bits(0, 8))/1024, float32(r.bits(8, 8))
	m[3] = float32(r.bits(16, 1)) // which counts as 0
	return m
}

// create makes an entity, or a few.
func (d *transforms) create(r record) error {
	for i := range 1 + uint32(r.kind>>5) {
		r := record{kind: uint8(mix(uint64(r.n + i))), who: r.who + uint16(5*i), n: r.n + i}
		if err := d.createOne(r); err != nil {
			return err
		}
	}
	return nil
}

// createOne makes an entity with some of the types, below another or not.
func (d *transforms) createOne(r record) error {
	types := []ecs.Type{d.t.LocalType(), d.t.MatrixType()}
	b := &body{local: &transform.Local{}, matrix: &transform.Mat4{}}
	if r.kind&3 == 0 {
		types = append(types, d.spots)
	}
	if r.kind&28 == 0 {
		types, b.post = append(types, d.t.PostType()), &transform.Mat4{}
	}
	parent, _ := d.pick(r.who)
	e := ecs.NewArchetype(d.w, types...).Create()
	d.m.list = append(d.m.list, e)
	d.m.bodies[e] = b
	d.changed()
	*b.local = localOf(r)
	d.t.LocalType().Set(e, *b.local)
	if r.kind&224 == 0 {
		return nil
	}
	return d.link(e, parent)
}

// crowd makes n entities, of which each has the given number of children.
func (d *transforms) crowd(n, children int) error {
	made, err := ecs.NewArchetype(d.w, d.t.LocalType(), d.t.MatrixType(), d.h.ParentType(), d.h.ChildType()).CreateN(n)
	if err != nil {
		return err
	}
	d.m.list = made.Entities(nil)
	for i, e := range d.m.list {
		l := localOf(record{kind: uint8(i), n: uint32(mix(uint64(i)))})
		d.m.bodies[e] = &body{local: &l, matrix: &transform.Mat4{}}
		d.t.LocalType().Set(e, l)
		if i > 0 {
			parent := (i - 1) / children
			if children == 9 {
				parent = i % 2 * min(i-1, 7) // all below two or one
			}
			if err := d.link(e, d.m.list[parent]); err != nil {
				return err
			}
		}
	}
	return nil
}

// update lets Update compute, and compares all matrices with those of the twin.
func (d *transforms) update(record) error {
	n := d.t.Update()
	before := make(map[ecs.Entity]transform.Mat4, len(d.m.bodies))
	all := 0
	for e, b := range d.m.bodies {
		if b.matrix != nil && b.local != nil {
			before[e] = *b.matrix
			all++
		}
	}
	d.m.propagate()
	least := 0
	for e, m := range before {
		if !sameBits(&m, d.m.bodies[e].matrix) {
			least++
		}
	}
	if n < least || n > all || d.quiet && n != 0 {
		return fmt.Errorf("update computed %d matrices, of %d, of which %d must change; quiet %v",
			n, all, least, d.quiet)
	}
	d.quiet = true
	d.computed += n
	return d.compare()
}

// compare compares all matrices, whether they are computed or not.
func (d *transforms) compare() error {
	for e, b := range d.m.bodies {
		got := d.t.MatrixType().Get(e)
		if (got != nil) != (b.matrix != nil) {
			return fmt.Errorf("%v: got a matrix %v want %v", e, got, b.matrix)
		}
		if got != nil && !sameBits(&got.Matrix, b.matrix) {
			return fmt.Errorf("%v: got %v want %v", e, got.Matrix, *b.matrix)
		}
	}
	return nil
}

// sameBits compares two matrices, bit for bit.
func sameBits(a, b *transform.Mat4) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}
