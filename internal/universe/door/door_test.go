package door

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
	"quarry/internal/growth"
	"quarry/internal/universe"
)

// TestCores: a face is a struct of its core alone.
func TestCores(t *testing.T) {
	for face, core := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[alloc.Universe](): reflect.TypeFor[universe.Universe](),
		reflect.TypeFor[alloc.Growth]():   reflect.TypeFor[growth.Policy](),
	} {
		require.Equal(t, 1, face.NumField(), face)
		require.Equal(t, core, face.Field(0).Type, face)
	}
}

// TestConversions: there and back is the same, and nothing is one.
func TestConversions(t *testing.T) {
	u, err := alloc.NewUniverse(alloc.Size(2 << 20))
	require.NoError(t, err)
	require.Same(t, u, Face(Universe(u)))
	require.Equal(t, u.Base(), Universe(u).Base())
	require.NoError(t, Universe(u).Close())
	require.Zero(t, u.Size())
	require.Nil(t, Universe(nil))
	require.Nil(t, Face(nil))
	g := alloc.Geometric(1.5).Capped(7).Plus(2)
	require.Equal(t, growth.Geometric(1.5).Capped(7).Plus(2), Policy(g))
	require.Equal(t, g, Growth(Policy(g)))
}
