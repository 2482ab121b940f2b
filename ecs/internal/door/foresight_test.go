package door_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/edit"
	"quarry/ecs/internal/world"

	"github.com/stretchr/testify/require"
)

// The calls by which a layer learns the outcome of a change without making it.

func TestOutcomeTellsWhereAChangeLeads(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
	type socket struct{ Port int32 }
	sockets := ecs.Register[socket](w, ecs.Cleanup)
	cell := ecs.RegisterShared[string](w)
	a := ecs.NewArchetype(w, position, sockets, cell.Of("a"))
	plain := ecs.NewArchetype(w, position)
	for _, c := range []*ecs.Change{
		ecs.NewChange(w, ecs.Add(velocity)), ecs.NewChange(w, ecs.Remove(position), ecs.Put(cell.Of("b"))),
		ecs.NewChange(w, ecs.Add(position)), door.Destruction(w),
	} {
		for _, from := range []*ecs.Archetype{a, plain} {
			out, err := edit.OutcomeOf(door.Archetype(from)).After(door.Change(c))
			require.NoError(t, err)
			to := door.At(&out)
			e := from.Create()
			if c == door.Destruction(w) {
				w.Destroy(e)
			} else {
				_, err = c.Apply(e)
				require.NoError(t, err)
			}
			place, alive := w.Locate(e)
			require.Equal(t, alive, to != nil, "%v of %v", c, from)
			require.Same(t, place.Archetype, to, "%v of %v", c, from)
		}
	}
	copies, err := edit.OutcomeOfCopies(door.Archetype(a))
	require.NoError(t, err)
	place, _ := w.Locate(w.Instantiate(a.Create()))
	require.Same(t, place.Archetype, door.At(&copies))
	require.Same(t, w, a.World())
	require.Same(t, w, door.Destruction(w).World())
	other := ecstest.NewWorld(t)
	require.Panics(t, func() {
		_, _ = edit.OutcomeOf(door.Archetype(ecs.NewArchetype(other))).After(door.Change(door.Destruction(w)))
	})
	dying, err := edit.OutcomeOf(door.Archetype(a)).After(door.Change(door.Destruction(w)))
	require.NoError(t, err)
	require.Panics(t, func() { _, _ = edit.OutcomeOfCopies(door.Archetype(door.At(&dying))) })
	require.NoError(t, w.Verify())
}

// TestMatchesIsWhatALoopShows compares Matches, and MatchesArchetype, with loops.
func TestMatchesIsWhatALoopShows(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, walk := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w, ecs.Enableable)
	var all []ecs.Entity
	for i, a := range []*ecs.Archetype{ecs.NewArchetype(w), ecs.NewArchetype(w, position), ecs.NewArchetype(w, walk),
		ecs.NewArchetype(w, position, walk)} {
		for k := range 100 {
			e := a.Create()
			if (i+k)%3 == 0 {
				walk.Disable(e)
			}
			all = append(all, e)
		}
	}
	for _, q := range []*ecs.Query{
		ecs.NewQuery(w, ecs.With(walk)), ecs.NewQuery(w, ecs.Without(walk)), ecs.NewQuery(w, ecs.Disabled(walk)),
		ecs.NewQuery(w, ecs.Any(position, walk)), ecs.NewQuery(w, ecs.Read(position)),
		ecs.NewQuery(w, ecs.Changed(position)),
	} {
		shown := map[ecs.Entity]bool{}
		for range 2 { // Changed shows nothing the second time
			clear(shown)
			for rows := range q.Rows() {
				for i := range rows.Each() {
					shown[rows.Entities()[i]] = true
				}
			}
		}
		for _, e := range all {
			require.Equal(t, shown[e], q.Matches(e), "%v %v", q, e)
			place, _ := w.Locate(e)
			matches, bits := door.MatchesArchetype(q, place.Archetype)
			if !bits && !door.Filters(q) {
				require.Equal(t, shown[e], matches)
			}
		}
		require.Same(t, w, q.World())
		q.Close()
		require.Nil(t, q.World())
	}
	require.False(t, ecs.NewQuery(w).Matches(ecs.Null))
}

func TestFactsOfTypes(t *testing.T) {
	w, other := ecstest.NewWorld(t), ecstest.NewWorld(t)
	type link struct {
		N  int64
		To [2]ecs.Entity
	}
	links := ecs.RegisterBuffer[link](w, ecs.Cleanup)
	walk := ecs.Register[ecstest.Velocity](w, ecs.Enableable)
	require.Equal(t, world.Facts{Kind: ecs.KindBuffer, Cleanup: true, Links: []world.Link{
		{Offset: 8, Count: 2, Size: 8, Each: []world.Link{{}}},
	}}, door.FactsOf(links))
	require.Equal(t, world.Facts{Enableable: true}, door.FactsOf(walk))
	require.Equal(t, ecs.KindShared, door.FactsOf(ecs.RegisterShared[int](w)).Kind)
	require.Equal(t, ecs.KindManaged, door.FactsOf(ecs.RegisterManaged[int](w)).Kind)
	require.Equal(t, 1, door.TypeIndex(w, walk)-door.TypeIndex(w, links))
	for _, of := range []ecs.Type{nil, ecs.Component[ecstest.Position]{}, ecs.Buffer[ecstest.Position]{}} {
		require.Equal(t, -1, door.TypeIndex(w, of))
	}
	require.Equal(t, -1, door.TypeIndex(other, walk))
	require.Panics(t, func() { door.FactsOf(ecs.Component[ecstest.Position]{}) })
	require.Panics(t, func() { door.FactsOf(nil) })
}
