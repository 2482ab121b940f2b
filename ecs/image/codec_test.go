package image_test

import (
	"path/filepath"
	"testing"

	"quarry/ecs"
	"quarry/ecs/image"

	"github.com/stretchr/testify/require"
)

// TestLossySharedCodec: shared values that a codec does not distinguish are refused when they are
// saved, not when the file is opened.
func TestLossySharedCodec(t *testing.T) {
	type side struct{ Name *string }
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	sides := ecs.RegisterShared[side](w, ecs.Codec(func(b []byte, s *side) ([]byte, error) { return b, nil },
		func([]byte, *side) error { return nil }))
	red, blue := "red", "blue"
	ecs.NewArchetype(w, sides.Of(side{&red})).Create()
	path := filepath.Join(t.TempDir(), "sides.world")
	require.NoError(t, image.SaveFile(w, path), "there is one")
	require.EqualError(t, image.SaveFile(w, ""), "image: SaveFile: the file has no name")
	ecs.NewArchetype(w, sides.Of(side{&blue})).Create()
	err = image.SaveFile(w, path)
	require.ErrorContains(t, err,
		"a value of the shared type side cannot be written: decoded it is the same as another one")
	require.NoError(t, w.Close())
	w, err = image.Open(path, func(w *ecs.World) {
		ecs.RegisterShared[side](w, ecs.Codec(func(b []byte, s *side) ([]byte, error) { return b, nil },
			func([]byte, *side) error { return nil }))
	})
	require.NoError(t, err)
	require.NoError(t, w.Close())
}
