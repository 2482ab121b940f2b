package door_test

import (
	"encoding/binary"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// TestPlaceholderIsNobody makes an entity with the placeholder's bit through the bytes of a buffer,
// and one by Placeholder: no call takes them for the entity whose index they have, and all but
// Alive report what they are.
func TestPlaceholderIsNobody(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, words := ecs.Register[ecstest.Position](w), ecs.RegisterBuffer[uint64](w)
	e := ecs.NewArchetype(w, position, words).Create()
	b, err := e.MarshalBinary()
	require.NoError(t, err)
	words.Append(e, binary.LittleEndian.Uint64(b)|1<<31)
	d, _ := words.Mut(e)
	p := ecs.Reinterpret[ecs.Entity](d).Slice()[0]
	made := door.Placeholder(e.Index(), e.Version())
	number, buffer := door.Number(made)
	require.Equal(t, []any{e.Index(), e.Version(), true, false}, []any{
		number, buffer, made.IsPlaceholder(), e.IsPlaceholder(),
	})
	for _, p := range []ecs.Entity{p, made} {
		require.False(t, w.Alive(p))
		require.False(t, w.Owns(p))
		for _, f := range []func(){
			func() { position.Remove(p) }, func() { position.Get(p) }, func() { w.DestroyList([]ecs.Entity{p}) },
			func() { w.Destroy(p) }, func() { position.Add(p, ecstest.Position{}) }, func() { w.Instantiate(p) },
		} {
			require.Panics(t, f)
		}
	}
	require.PanicsWithValue(t,
		"ecs: World.Destroy: placeholder 1: a placeholder names an entity in its command buffer only, until that is played",
		func() { w.Destroy(made) })
	require.Panics(t, func() { door.Placeholder(-1, 0) })
	require.Panics(t, func() { door.Placeholder(world.MaxPlaceholders, 0) })
	require.True(t, position.Has(e))
	require.NoError(t, w.Verify())
}
