package edit_test

import (
	"errors"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// refusedWorld runs structural changes of components and buffers on a world whose universe refuses
// by s, and counts the requests of each in asked. It returns the first refusal.
func refusedWorld(s *alloc.Failures, asked map[string]int) error {
	singles, many := 12, 600
	if testing.Short() {
		singles, many = 5, 200
	}
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	type speed struct{ X, Y float64 }
	place, velocity := ecs.Register[[3]float64](w), ecs.Register[speed](w)
	hits := ecs.RegisterBuffer[uint64](w, ecs.Inline(2))
	still := ecs.NewArchetype(w, place, hits)
	moved := ecs.NewQuery(w, ecs.Write(place), ecs.Read(velocity))
	all := ecs.NewQuery(w, ecs.Read(place))
	ids := make([]ecs.Entity, 5*many)
	var some []ecs.Entity
	r := &ecstest.Refusals{Failures: s, Asked: asked, Worlds: []*ecs.World{w}}
	try := r.Try
	for range singles {
		try("TryCreate", func() error {
			var e ecs.Entity
			err := ecs.Try(func() { e = still.Create() })
			if err == nil {
				some = append(some, e)
			}
			return err
		})
	}
	try("CreateN", func() error { _, err := still.CreateN(many); return err })
	for i, e := range some {
		try("TryAppend", func() error {
			b, _ := hits.Mut(e)
			return ecs.Try(func() { b.Append(make([]uint64, 1+700*i)...) })
		})
		try("TryAdd", func() error { err := ecs.Try(func() { velocity.Add(e, speed{1, 2}) }); return err })
	}
	try("ApplyQuery", func() error { _, err := ecs.NewChange(w, ecs.Add(velocity)).ApplyQuery(all); return err })
	try("Reserve", func() error { return w.Reserve(ids) })
	if ids[len(ids)-1] != (ecs.Entity{}) {
		try("CreateReserved", func() error { _, err := still.CreateReserved(ids); return err })
	}
	for _, e := range some {
		try("TryRemove", func() error { err := ecs.Try(func() { hits.Remove(e) }); return err })
	}
	try("DestroyQuery", func() error { w.DestroyQuery(moved); return nil })
	try("CreateN", func() error { _, err := still.CreateN(4 * many); return err })
	return errors.Join(r.First, w.Close(), u.Verify(), u.Close())
}

// TestEveryFailureOfAWorld: whichever request for memory is refused, alone or with all
// after it, the world is as before the call that it was for, and nothing is lost.
func TestEveryFailureOfAWorld(t *testing.T) {
	asked := map[string]int{}
	require.NoError(t, refusedWorld(&alloc.Failures{}, asked))
	for _, name := range []string{"TryCreate", "CreateN", "TryAppend", "TryAdd", "ApplyQuery", "TryRemove"} {
		require.Positive(t, asked[name], "%s asks for memory: %v", name, asked)
	}
	require.NoError(t, alloc.CheckEveryFailure(func(s *alloc.Failures) error { return refusedWorld(s, asked) }))
}
