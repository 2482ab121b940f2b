package command

import (
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

// TestTwoGoroutinesRecord records while a record is being written, as a goroutine beside another
// finds a writer that they share: it is refused by name, and so is no record after one that found
// no memory.
func TestTwoGoroutinesRecord(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	e := ecs.NewArchetype(w).Create()
	cb := NewBuffer(w, Limit(16<<10))
	defer cb.Close()
	record := func() (text any) {
		defer func() { text = recover() }()
		cb.Destroy(e)
		return nil
	}
	cb.stream.inside = true
	require.Contains(t, record(), "command: two goroutines record by one writer at once")
	cb.stream.inside = false
	cb.Clear()
	require.Nil(t, record())
	for record() == nil {
	}
	require.ErrorIs(t, record().(error), ErrLimit, "not by another goroutine")
	require.NoError(t, cb.Play())
	require.Nil(t, record())
}

// What two goroutines recorded by one writer may be torn: it is dropped, not played, and the buffer
// can be used again.
func TestTwoGoroutinesOneWriter(t *testing.T) {
	y := openYard(t)
	e := y.full.Create()
	for _, play := range []func(*Buffer) error{(*Buffer).Play, (*Buffer).PlayRest} {
		cb := y.open(t)
		cb.Destroy(e)
		cb.stream.inside = true // another goroutine is at it
		require.Panics(t, func() { cb.Destroy(e) })
		cb.stream.inside = false // and done
		cb.Destroy(e)
		require.ErrorIs(t, play(cb), ErrTorn)
		require.True(t, y.w.Alive(e))
		require.Zero(t, cb.Len())
		require.NoError(t, play(cb))
		cb.Create(y.full)
		require.NoError(t, play(cb))

		cb.stream.inside = true
		require.Panics(t, func() { cb.Destroy(e) })
		cb.stream.inside = false
		cb.Clear()
		cb.Create(y.full)
		require.NoError(t, play(cb))
	}
}
