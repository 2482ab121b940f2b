package snapshot_test

import (
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestQueriesOfLaterTypes: a query may name types that were registered after the snapshot, which no
// entity of it has.
func TestQueriesOfLaterTypes(t *testing.T) {
	type Later struct{ X int }
	type LaterSparse struct{ X int }
	s := newSnapWorld(t, 1)
	_, err := ecs.NewArchetype(s.World, s.place).CreateN(10)
	require.NoError(t, err)
	m := s.Snapshot()
	defer m.Close()
	later, sparse := ecs.Register[Later](s.World, ecs.Enableable), ecs.RegisterSparse[LaterSparse](s.World)
	place := ecs.Read(s.place)
	require.Zero(t, m.Count(ecs.NewQuery(s.World, place, ecs.Read(later))))
	require.Equal(t, 10, m.Count(ecs.NewQuery(s.World, place, ecs.Without(later))))
	require.Equal(t, 10, m.Count(ecs.NewQuery(s.World, place, ecs.Optional(ecs.Read(later)))))
	for _, q := range []*ecs.Query{ecs.NewQuery(s.World, place, ecs.With(sparse)),
		ecs.NewQuery(s.World, ecs.Read(sparse)), ecs.NewQuery(s.World, place, ecs.Changed(sparse))} {
		require.PanicsWithValue(t, "ecs: Snapshot.Rows: sparse LaterSparse was registered after the snapshot",
			func() { m.Count(q) })
	}
}

// TestReadersBesideTheOwner has goroutines do all that readers may do, while the owner registers
// types, writes, names, changes rows, takes and closes snapshots and goes back.
func TestReadersBesideTheOwner(t *testing.T) {
	s := newSnapWorld(t, 3)
	for range 300 {
		s.step()
	}
	older := s.Snapshot()
	for range 60 {
		s.step()
	}
	newer := s.Snapshot()
	hash, place := newer.Hash(), ecs.NewQuery(s.World, ecs.Read(s.place), ecs.Optional(ecs.Read(s.load)))
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for range 4 {
				if newer.Hash() != hash || older.Verify() != nil || newer.Verify() != nil {
					t.Error("a snapshot has changed")
				}
				d, err := ecs.Diff(older, newer)
				if err != nil {
					t.Error(err)
				} else {
					d.IsEmpty()
				}
				then, hits := s.place.Lookup(newer), s.hits.Lookup(newer)
				n := 0
				for rows := range newer.Rows(place) {
					for i, e := range rows.Entities() {
						if *then.Get(e) != s.place.Slice(rows)[i] {
							t.Error("a look-up differs from the rows")
						}
						hits.Get(e)
						newer.Name(e)
						n++
					}
				}
				if n != newer.Count(place) {
					t.Error("rows are missing")
				}
			}
		})
	}
	type late struct{ X int }
	ecs.Register[late](s.World)
	for i := range 120 {
		s.step()
		switch i % 12 {
		case 5:
			s.Snapshot().Close()
		case 9:
			require.NoError(t, s.Restore(newer))
			s.collect()
		}
	}
	readers.Wait()
	require.NoError(t, s.Verify())
	older.Close()
	newer.Close()
}

// TestTypesOfSnapshots: handles of a snapshot have the types of the world that took it, so that a
// loop over the rows of all types, and one over changes, can get the values.
func TestTypesOfSnapshots(t *testing.T) {
	w := ecstest.NewWorld(t)
	position, burning := ecs.Register[ecstest.Position](w), ecs.RegisterSparse[ecstest.Burning](w)
	e := ecs.NewArchetype(w, position).Create()
	dying := ecs.Register[ecs.CleanupEntity](w)
	all := ecs.NewQueryOfAll(w)
	older := w.Snapshot()
	position.Set(e, ecstest.Position{X: 1})
	burning.Add(e, ecstest.Burning{Heat: 1, For: 1})
	newer := w.Snapshot()
	n := 0
	for rows := range newer.Rows(all) {
		a := rows.Archetype()
		require.True(t, a.Has(position))
		require.False(t, a.Has(dying))
		for _, c := range a.Components() {
			require.Equal(t, ecs.InfoOf(position).Type, c.Type)
			require.Equal(t, ecstest.Position{X: 1}, rows.Value(c.Type, 0))
			n++
		}
	}
	require.Equal(t, 1, n)
	delta, err := ecs.Diff(older, newer)
	require.NoError(t, err)
	var changed []ecs.Type
	for _, of := range delta.Changed() {
		changed = append(changed, of)
	}
	for _, of := range delta.Gained() {
		changed = append(changed, of)
	}
	require.Equal(t, []ecs.Type{ecs.InfoOf(position).Type, ecs.InfoOf(burning).Type}, changed)
	require.Equal(t, ecstest.Position{X: 1}, w.Value(e, changed[0]))
}
