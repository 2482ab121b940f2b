package scene_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/scene"
	"quarry/internal/lint"

	"github.com/stretchr/testify/require"
)

// TestNil calls whatever takes a pointer, a function or an interface with nil.
func TestNil(t *testing.T) {
	b := newBakery(t)
	g := newGame(t)
	lint.CheckNil(t,
		lint.NilPanics("NewBakery", "scene: NewBakery: ", func() { _, _ = scene.NewBakery(nil) }),
		lint.NilPanics("AddBaker", "scene: AddBaker: ", func() { scene.AddBaker[int](b, "int", nil) }),
		lint.NilPanics("Bakery.AddSystem", "scene: Bakery.AddSystem: ", func() { b.AddSystem("none", nil) }),
		lint.NilPanics("Bakery.ReadJSON", "scene: Bakery.ReadJSON: ", func() { _, _ = b.ReadJSON("none", nil) }),
		lint.NilPanics("NewHost", "scene: NewHost: ", func() { scene.NewHost(g.w, nil) }),
		lint.NilPanics("Of", "scene: Context.Of: ", func() { scene.Of[int](nil, "x") }),
		lint.NilPanics("Put", "scene: Context.Put: ", func() { scene.Put(nil, ecs.Null, 1) }),
		lint.NilPanics("PutBuffer", "scene: Context.PutBuffer: ", func() { scene.PutBuffer(nil, ecs.Null, 1) }),
		lint.NilPanics("AddBlob", "scene: Context.AddBlob: ", func() { scene.AddBlob[int](nil, nil) }),
		lint.NilReturns("Host.Check", func(t *testing.T) { g.host.Check(nil) }),
		lint.NilPanics("Register", "ecs: ", func() { scene.Register(nil) }),
		lint.NilReturns("Files", func(t *testing.T) {
			fresh, err := scene.NewBakery(registerTown, scene.Files(nil))
			require.NoError(t, err)
			require.NoError(t, fresh.Close())
		}),
	)
}
