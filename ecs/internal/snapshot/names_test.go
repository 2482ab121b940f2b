package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// nameState is what names are to be: of each entity that is alive its text, and of each text the
// entities, the one that was named last at the end.
type nameState struct {
	texts map[ecs.Entity]string
	lists map[string][]ecs.Entity
}

func (m *nameState) set(e ecs.Entity, text string) {
	old := m.texts[e]
	if old == text {
		return
	}
	if m.texts[e] = text; old != "" {
		at := slices.Index(m.lists[old], e)
		m.lists[old] = slices.Concat(m.lists[old][:at], m.lists[old][at+1:])
	}
	if text != "" {
		m.lists[text] = append(slices.Clip(m.lists[text]), e)
	}
}

// clone has the same lists, which are never written.
func (m *nameState) clone() *nameState { return &nameState{maps.Clone(m.texts), maps.Clone(m.lists)} }

// compare returns an error unless the names of a world or snapshot are these.
func (m *nameState) compare(w interface {
	Name(ecs.Entity) string
	Named(string) (ecs.Entity, bool)
},
) error {
	for e, text := range m.texts {
		if got := w.Name(e); got != text {
			return fmt.Errorf("Name(%v): got %q, want %q", e, got, text)
		}
	}
	for text, list := range m.lists {
		want := ecs.Null
		if len(list) > 0 {
			want = list[len(list)-1]
		}
		if got, ok := w.Named(text); got != want || ok != (want != ecs.Null) {
			return fmt.Errorf("Named(%q): got %v, %v, want %v", text, got, ok, want)
		}
	}
	return nil
}

// compareOrder empties lists from the front, so that each of their entities is seen, and restores.
func (m *nameState) compareOrder(t *testing.T, w *ecs.World) {
	s := w.Snapshot()
	defer s.Close()
	for text, list := range m.lists {
		for i := len(list) - 1; i >= 0; i-- {
			e, _ := w.Named(text)
			require.Equal(t, list[i], e)
			w.SetName(e, "")
		}
	}
	require.NoError(t, w.Restore(s))
}

// TestNamesOfSnapshots changes names, destroys and creates, takes snapshots, goes back and forth
// among them and closes some, while goroutines read each. A fork has the names too.
func TestNamesOfSnapshots(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	w := ecstest.NewWorld(t)
	a := ecs.NewArchetype(w)
	now := &nameState{map[ecs.Entity]string{}, map[string][]ecs.Entity{}}
	var snapshots []*ecs.Snapshot
	var states []*nameState
	for round := range 60 {
		for range 100 {
			switch k := r.IntN(10); {
			case k < 2 || len(now.texts) < 100:
				e := a.Create()
				now.texts[e] = ""
			case k < 3:
				e := oneOf(r, now)
				w.Destroy(e)
				now.set(e, "")
				delete(now.texts, e)
			default:
				e, text := oneOf(r, now), fmt.Sprint("n", r.IntN(1+round*4))
				w.SetName(e, text)
				now.set(e, text)
			}
		}
		var readers sync.WaitGroup
		for i, s := range snapshots {
			want := states[i]
			readers.Go(func() {
				if err := want.compare(s); err != nil {
					t.Errorf("round %d, snapshot %d: %v", round, i, err)
				}
			})
		}
		for range 50 { // beside the readers
			e, text := oneOf(r, now), fmt.Sprint("n", r.IntN(1+round*4))
			w.SetName(e, text)
			now.set(e, text)
		}
		readers.Wait()
		require.NoError(t, now.compare(w))
		require.NoError(t, w.Verify())
		snapshots, states = append(snapshots, w.Snapshot()), append(states, now.clone())
		i := r.IntN(len(snapshots))
		switch {
		case round%3 == 1:
			require.NoError(t, w.Restore(snapshots[i]))
			now = states[i].clone()
			require.NoError(t, now.compare(w))
			now.compareOrder(t, w)
		case round%3 == 2 && len(snapshots) > 4:
			snapshots[i].Close()
			snapshots, states = slices.Delete(snapshots, i, i+1), slices.Delete(states, i, i+1)
		}
	}
	last := len(snapshots) - 1
	require.NoError(t, snapshots[last].Verify())
	fork, err := snapshots[last].Fork()
	require.NoError(t, err)
	require.NoError(t, states[last].compare(fork))
	states[last].compareOrder(t, fork)
	require.NoError(t, fork.Verify())
	require.NoError(t, fork.Close())
}

// oneOf returns one of the entities that are alive.
func oneOf(r *rand.Rand, m *nameState) ecs.Entity {
	list := slices.SortedFunc(maps.Keys(m.texts), func(a, b ecs.Entity) int { return a.Index() - b.Index() })
	return list[r.IntN(len(list))]
}
