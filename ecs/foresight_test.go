package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/internal/seam"
)

// What a layer asks to know what a change would do, without doing it.

func TestOutcomeTellsWhereAChangeLeads(t *testing.T) {
	w := newWorld(t)
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	type socket struct{ Port int32 }
	sockets := ecs.Register[socket](w, ecs.Cleanup)
	cell := ecs.RegisterShared[string](w)
	a := ecs.NewArchetype(w, position, sockets, cell.Of("a"))
	plain := ecs.NewArchetype(w, position)
	for _, c := range []*ecs.Change{
		ecs.NewChange(w, ecs.Add(velocity)), ecs.NewChange(w, ecs.Remove(position), ecs.Put(cell.Of("b"))),
		ecs.NewChange(w, ecs.Add(position)), seam.Destruction(w),
	} {
		for _, from := range []*ecs.Archetype{a, plain} {
			out, err := seam.After(seam.OutcomeOf(from), c)
			require.NoError(t, err)
			to := seam.At(&out)
			e := from.Create()
			if c == seam.Destruction(w) {
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
	copies, err := seam.OutcomeOfCopies(a)
	require.NoError(t, err)
	place, _ := w.Locate(w.Instantiate(a.Create()))
	require.Same(t, place.Archetype, seam.At(&copies))
	require.Same(t, w, a.World())
	require.Same(t, w, seam.Destruction(w).World())
	other := newWorld(t)
	require.Panics(t, func() { _, _ = seam.After(seam.OutcomeOf(ecs.NewArchetype(other)), seam.Destruction(w)) })
	dying, err := seam.After(seam.OutcomeOf(a), seam.Destruction(w))
	require.NoError(t, err)
	require.Panics(t, func() { _, _ = seam.OutcomeOfCopies(seam.At(&dying)) })
	require.NoError(t, w.Verify())
}

// TestMatchesIsWhatALoopShows compares Matches, and MatchesArchetype, with loops.
func TestMatchesIsWhatALoopShows(t *testing.T) {
	w := newWorld(t)
	position, walk := ecs.Register[Position](w), ecs.Register[Velocity](w, ecs.Enableable)
	var all []ecs.Entity
	for i, a := range []*ecs.Archetype{ecs.NewArchetype(w), ecs.NewArchetype(w, position), ecs.NewArchetype(w, walk), ecs.NewArchetype(w, position, walk)} {
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
		ecs.NewQuery(w, ecs.Any(position, walk)), ecs.NewQuery(w, ecs.Read(position)), ecs.NewQuery(w, ecs.Changed(position)),
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
			matches, bits := seam.MatchesArchetype(q, place.Archetype)
			if !bits && !seam.Filters(q) {
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
	w, other := newWorld(t), newWorld(t)
	type link struct {
		N  int64
		To [2]ecs.Entity
	}
	links := ecs.RegisterBuffer[link](w, ecs.Cleanup)
	walk := ecs.Register[Velocity](w, ecs.Enableable)
	require.Equal(t, seam.Facts{Kind: uint8(ecs.KindBuffer), Cleanup: true, Links: []seam.Link{{Offset: 8, Count: 2, Size: 8, Each: []seam.Link{{}}}}}, seam.FactsOf(links))
	require.Equal(t, seam.Facts{Enableable: true}, seam.FactsOf(walk))
	require.Equal(t, uint8(ecs.KindShared), seam.FactsOf(ecs.RegisterShared[int](w)).Kind)
	require.Equal(t, uint8(ecs.KindManaged), seam.FactsOf(ecs.RegisterManaged[int](w)).Kind)
	require.Equal(t, 1, seam.TypeIndex(w, walk)-seam.TypeIndex(w, links))
	for _, of := range []ecs.Type{nil, ecs.Component[Position]{}, ecs.Buffer[Position]{}} {
		require.Equal(t, -1, seam.TypeIndex(w, of))
	}
	require.Equal(t, -1, seam.TypeIndex(other, walk))
	require.Panics(t, func() { seam.FactsOf(ecs.Component[Position]{}) })
	require.Panics(t, func() { seam.FactsOf(nil) })
}
