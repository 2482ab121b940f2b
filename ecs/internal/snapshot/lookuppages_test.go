package snapshot_test

import (
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestLookupsByPages compares look-ups in a snapshot, by several goroutines while the world
// changes, with what was, for entities of several pages of records; and with a fork, which has all
// records.
func TestLookupsByPages(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	a := ecs.NewArchetype(w, position)
	var list []ecs.Entity
	for i := range 3*2048 + 100 {
		e := a.Create()
		position.Set(e, ecstest.Position{X: float64(i)})
		list = append(list, e)
	}
	for i := 0; i < len(list); i += 5 {
		w.Destroy(list[i])
	}
	s := w.Snapshot()
	check := func() bool {
		look := position.Lookup(s)
		for k := range list {
			i := k * 2053 % len(list) // page after page
			p := look.Get(list[i])
			dead := i%5 == 0
			if s.Alive(list[i]) == dead || (p == nil) != dead || look.ChangedSince(list[i], 0) == dead ||
				!dead && p.X != float64(i) {
				return false
			}
		}
		return true
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if !check() {
				t.Error("a look-up beside the owner finds another state")
			}
		})
	}
	for i := range list {
		switch i % 5 {
		case 0:
			a.Create() // with an index that was free, and a later version
		case 1:
			w.Destroy(list[i])
		case 2:
			velocity.Add(list[i], ecstest.Velocity{})
		}
	}
	wg.Wait()
	late := a.Create()
	require.True(t, check())
	require.False(t, s.Alive(late))
	fork, err := s.Fork()
	require.NoError(t, err)
	for i, e := range list {
		require.Equal(t, s.Alive(e), fork.Alive(e), i)
	}
	require.NoError(t, fork.Close())
	s.Renew()
	require.True(t, s.Alive(late))
	require.False(t, s.Alive(list[1]))
	s.Close()
}
