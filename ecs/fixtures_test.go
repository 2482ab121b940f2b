package ecs_test

import (
	"fmt"
	"testing"

	"quarry/alloc"
	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

type Tag struct{}
type Health struct{ HP, Max int32 }
type Stun struct{ Left float32 }
type Owner struct{ Of ecs.Entity }
type Hit struct {
	By     ecs.Entity
	Damage int32
}

// newWorld makes a world that must be sound at the test's end and return all of
// its memory.
func newWorld(t testing.TB, options ...ecs.Option) *ecs.World {
	t.Helper()
	w, err := ecs.NewWorld(options...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
		require.NoError(t, w.Close(), "closing twice does nothing")
	})
	return w
}

// newUniverse makes a small universe for worlds that are to run out of room.
func newUniverse(t testing.TB, size int) *alloc.Universe {
	t.Helper()
	u, err := alloc.NewUniverse(alloc.Size(size))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, u.Stats().LiveChunks, "a closed world leaves nothing")
		require.NoError(t, u.Close())
	})
	return u
}

// panicText returns what f panics with, as text, or "".
func panicText(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func rowsOf(q *ecs.Query, f func(ecs.Rows)) func() {
	return func() {
		for rows := range q.Rows() {
			f(rows)
		}
	}
}
