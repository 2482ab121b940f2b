package journal_test

import (
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/journal"

	"github.com/stretchr/testify/require"
)

// TestCloseAtABadTime: inside a loop over rows and while the world is lent, Close panics before
// anything has changed; afterwards the journal is closed as ever.
func TestCloseAtABadTime(t *testing.T) {
	folder := t.TempDir()
	var m villagers
	j, err := journal.Open(folder, m.register)
	require.NoError(t, err)
	m.frame(1)
	require.NoError(t, j.Commit())
	require.Panics(t, func() {
		for range m.moving.Rows() {
			_ = j.Close()
		}
	})
	borrow := m.w.Lend()
	require.PanicsWithValue(t,
		"journal: Journal.Close: "+folder+
			": the journal is closed inside a loop over rows, or while the world is lent",
		func() { _ = j.Close() })
	borrow.End()
	m.frame(2)
	require.NoError(t, j.Commit())
	require.NoError(t, j.Close())
	hash := m.w.Hash()
	require.NoError(t, m.w.Close())
	j, err = journal.Open(folder, m.register)
	require.NoError(t, err)
	require.Equal(t, hash, m.w.Hash())
	require.NoError(t, j.Close())
	require.NoError(t, m.w.Close())
}

// TestCloseTwiceAtOnce: of two calls at once one closes the journal, and the other waits for it.
func TestCloseTwiceAtOnce(t *testing.T) {
	for range 20 {
		j, err := journal.Open(t.TempDir(), func(*ecs.World) {})
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.NoError(t, j.World().Close())
	}
}
