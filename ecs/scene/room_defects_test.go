package scene_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/scene"

	"github.com/stretchr/testify/require"
)

// A reload for which there is no room changes nothing, with managed values in the world.
func TestReloadWithoutRoom(t *testing.T) {
	folder := t.TempDir()
	b := newBakery(t)
	bake := func(n int, x float32, lit bool, street string) {
		var objects []scene.Object
		for i := range n {
			h := House{X: x, Lit: lit, Sign: "sign", Doors: 1}
			if i%2 == 0 {
				h.Street = street
			}
			objects = append(objects, scene.Object{ID: fmt.Sprint("inn", i+int(x)), Value: h})
		}
		_, err := b.Bake(folder, objects)
		require.NoError(t, err)
	}
	bake(3000, 1, false, "")
	u, err := alloc.NewUniverse(alloc.Size(48 << 20))
	require.NoError(t, err)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	h := scene.NewHost(w, registerTown)
	h.LiveLink()
	i := h.Load(filepath.Join(folder, "main.world"))
	settle(t, h)
	require.NoError(t, i.Err())
	bake(3000, 2, true, "High")
	i.Reload()
	aWhile()
	aWhile()
	aWhile()
	area := ecs.NewArchetype(w, ecs.Register[wide](w))
	for {
		if err := ecs.Try(func() { area.Create() }); err != nil {
			break
		}
	}
	before := imprint(w)
	settle(t, h)
	var limit *ecs.LimitError
	t.Logf("%.300v", i.Err())
	if i.Err() != nil {
		require.True(t, errors.As(i.Err(), &limit))
		after := imprint(w)
		require.Equal(t, len(before), len(after))
		for k := range before {
			require.Equal(t, before[k], after[k])
		}
	}
	require.NoError(t, w.Verify())
	require.NoError(t, h.Verify())
	require.NoError(t, h.Close())
	require.NoError(t, w.Close())
	require.NoError(t, u.Close())
}
