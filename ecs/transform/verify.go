package transform

import (
	"errors"
	"fmt"

	"quarry/ecs"
)

// ErrStale is wrapped by the errors of Verify.
var ErrStale = errors.New("a matrix is not what the locals say")

// Verify checks that each matrix follows from the locals, as after Update, and returns an error
// that names the first that is not. It goes from each entity up to the root, without what Update
// keeps. Entities in a cycle, which only writes around the hierarchy make, are passed by. Cost: the
// depth of each entity.
func (t *Transforms) Verify() error {
	q := ecs.NewQuery(t.world, ecs.With(t.local, t.global), ecs.IncludeDisabled(), ecs.IncludePrefabs())
	defer q.Close()
	for _, e := range q.Entities(nil) {
		want, ok := t.slow(e, 0)
		if got := t.global.Get(e).Matrix; ok && !same(got, want) {
			return fmt.Errorf("transform: %w: M1: %v has %v, expected %v", ErrStale, e, got, want)
		}
	}
	return nil
}

// same reports whether two matrices have the same elements; any two NaN are the same.
func same(a, b Mat4) bool {
	for i, v := range a {
		if v != b[i] && (v == v || b[i] == b[i]) {
			return false
		}
	}
	return true
}

// deepest is the most ancestors that Verify looks at: more are a cycle.
const deepest = 1 << 16

// slow returns the matrix of an entity, by the matrices of those above, and false in a cycle.
func (t *Transforms) slow(e ecs.Entity, depth int) (m Mat4, ok bool) {
	l := t.local.Get(e)
	switch {
	case depth > deepest:
		return m, false
	case l == nil:
		return t.global.Get(e).Matrix, true
	}
	m = l.Matrix()
	if p := t.links.Parent(e); p != ecs.Null && t.global.Has(p) {
		above, ok := t.slow(p, depth+1)
		if !ok {
			return m, false
		}
		m = above.Mul(m)
	}
	if p := t.post.Get(e); p != nil {
		m = m.Mul(p.Matrix)
	}
	return m, true
}
