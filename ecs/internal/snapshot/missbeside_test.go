package snapshot_test

import (
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
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
	for _, ask := range map[string]func(s *ecs.Snapshot){
		"Get":          func(s *ecs.Snapshot) { position.Lookup(s).Get(list[7]) },
		"Enabled":      func(s *ecs.Snapshot) { position.Lookup(s).Enabled(list[7]) },
		"ChangedSince": func(s *ecs.Snapshot) { position.Lookup(s).ChangedSince(list[7], 0) },
		"Sparse.Get":   func(s *ecs.Snapshot) { burning.Lookup(s).Get(list[8]) },
		"Alive":        func(s *ecs.Snapshot) { s.Alive(list[7]) },
	} {
		for i := range 6 {
			s := w.Snapshot()
			ask(s)
			var wait sync.WaitGroup
			start := make(chan bool)
			wait.Go(func() {
				<-start
				for range 300 {
					ask(s)
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
			s.Close()
		}
	}
}
