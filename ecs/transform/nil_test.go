package transform_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/transform"
	"quarry/internal/lint"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	lint.CheckNil(t,
		lint.NilPanics("New", "transform: New: ", func() { transform.New(nil) }),
		lint.NilReturns("Transforms.Parallel", func(t *testing.T) {
			s := newScene(t)
			s.t.Parallel(nil)
			e := s.node(t, transform.At(1, 2, 3), ecs.Null)
			require.Equal(t, 1, s.t.Update())
			require.Equal(t, transform.Vec3{X: 1, Y: 2, Z: 3}, s.t.MatrixType().Get(e).Matrix.Position())
		}),
	)
}
