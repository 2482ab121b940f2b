package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

// TestTwoGoroutinesRecord records while a record is being written, as a goroutine beside
// another finds a writer that they share: it is refused by name, and so is no record after one that found
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
	require.Nil(t, record())
	for record() == nil {
	}
	require.ErrorIs(t, record().(error), ErrLimit, "not by another goroutine")
	require.NoError(t, cb.Play())
	require.Nil(t, record())
}
