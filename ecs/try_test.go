package ecs_test

import (
	"errors"
	"runtime"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestTry: the error of the call that met a limit comes back, what was done before it stays, and
// the call itself changed nothing.
func TestTry(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.WithUniverse(ecstest.NewUniverse(t, 2<<20)))
	a := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w))
	made := 0
	err := ecs.Try(func() {
		for {
			a.Create()
			made++
		}
	})
	require.ErrorIs(t, err, ecs.ErrLimit)
	require.ErrorIs(t, err, alloc.ErrFull)
	var limit *ecs.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, "Archetype.Create", limit.Op)
	require.Positive(t, made)
	require.Equal(t, made, a.Len())
	require.NoError(t, w.Verify())
	require.NoError(t, ecs.Try(func() { w.Clear() }))
}

// TestTryLetsPanicsThrough: misuse is no limit, and neither is what a program panics with.
func TestTryLetsPanicsThrough(t *testing.T) {
	other := errors.New("other")
	require.PanicsWithValue(t, other, func() { _ = ecs.Try(func() { panic(other) }) })
	w := ecstest.NewWorld(t)
	position := ecs.Register[ecstest.Position](w)
	ecstest.RequirePanic(t, "ecs: Component.Add: ", func() {
		_ = ecs.Try(func() { position.Add(ecs.Null, ecstest.Position{}) })
	})
	inner := &ecs.LimitError{Op: "inner"}
	require.Same(t, inner, ecs.Try(func() {
		_ = ecs.Try(func() {})
		panic(inner)
	}))
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- ecs.Try(runtime.Goexit)
	}()
	_, returned := <-done
	require.False(t, returned, "the goroutine has ended")
}
