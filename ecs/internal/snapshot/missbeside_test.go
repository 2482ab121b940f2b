package snapshot_test

import (
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestMissesBesideAllRecords: look-ups in a snapshot that find nothing do not read what a goroutine
// fills that needs all records; -race sees it.
func TestMissesBesideAllRecords(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, burning := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Burning](w)
	a := ecs.NewArchetype(w, position)
	var list []ecs.Entity
	for range 3000 {
		list = append(list, a.Create())
	}
	burning.Add(list[9], ecstest.Burning{})
	w.Destroy(list[7])
	q := ecs.NewQuery(w, ecs.Read(position), ecs.With(burning))
	for name, ask := range map[string]func(s *ecs.Snapshot) (found bool){
		"Get":          func(s *ecs.Snapshot) bool { return position.Lookup(s).Get(list[7]) != nil },
		"Enabled":      func(s *ecs.Snapshot) bool { return position.Lookup(s).Enabled(list[7]) },
		"ChangedSince": func(s *ecs.Snapshot) bool { return position.Lookup(s).ChangedSince(list[7], 0) },
		"Sparse.Get":   func(s *ecs.Snapshot) bool { return burning.Lookup(s).Get(list[8]) != nil },
		"Alive":        func(s *ecs.Snapshot) bool { return s.Alive(list[7]) },
	} {
		for i := range 6 {
			s := w.Snapshot()
			require.False(t, ask(s), name)
			var wait sync.WaitGroup
			start, found := make(chan bool), false
			wait.Go(func() {
				<-start
				for range 300 {
					found = ask(s) || found
				}
			})
			wait.Go(func() {
				<-start
				if i%2 == 0 {
					s.Count(q)
				} else {
					s.Hash()
				}
			})
			close(start)
			wait.Wait()
			require.False(t, found, name)
			s.Close()
		}
	}
}
