package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/internal/seam"
)

func TestTransactionMoves(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	a, b := ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, velocity)
	e := a.Create()
	b.Create()
	var tx seam.Transaction
	seam.Begin(&tx, w, "test")
	out, err := seam.After(seam.OutcomeOf(a), ecs.NewChange(w, ecs.Add(velocity)))
	require.NoError(t, err)
	require.Same(t, b, seam.At(&out))
	seam.Move(&tx, []ecs.Entity{e}, &out)
	require.NoError(t, seam.Reserve(&tx))
	require.Equal(t, 1, seam.Run(&tx, 0).Len())
	seam.Finish(&tx)
	require.True(t, velocity.Has(e))
	require.NoError(t, w.Verify())
}
