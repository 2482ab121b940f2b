package command

import (
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestChunkTypesByCommands: commands add and remove chunk types as tags. Rows come one group after
// the other, so no value goes along; entities that come have the value of their chunk.
func TestChunkTypesByCommands(t *testing.T) {
	y := openYard(t)
	cb := y.open(t)
	type sector struct{ N int64 }
	at := ecs.RegisterChunk[sector](y.w)
	a := ecs.NewArchetype(y.w, y.pos, at)
	one := a.Create()
	at.Set(one, sector{7})
	var plain []ecs.Entity
	for range 10 {
		plain = append(plain, ecs.NewArchetype(y.w, y.pos).Create())
	}
	cb.AddList(plain[:4], at)
	cb.Add(plain[4], at)
	cb.Apply(plain[5], ecs.NewChange(y.w, ecs.Add(at)))
	made := cb.Create(a)
	Set(cb, made, y.pos, position{X: 3})
	require.NoError(t, cb.Play())
	require.Equal(t, 8, a.Len())
	for _, e := range plain[:6] {
		require.Equal(t, sector{7}, *at.Get(e))
	}
	cb.RemoveQuery(ecs.NewQuery(y.w, ecs.With(at, y.pos)), at)
	require.NoError(t, cb.Play())
	require.Zero(t, a.Len())
	require.Nil(t, at.Get(one))
	cb.Add(one, at)
	require.NoError(t, cb.Play())
	require.Equal(t, sector{}, *at.Get(one), "the value ended with the last row")
	require.NoError(t, y.w.Verify())
}
