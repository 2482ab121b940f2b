package snapshot_test

import (
	"testing"

	"quarry/ecs"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// Slices and pointers that are kept over World.Snapshot, and written: debug builds name the type.

const staleText = " was written through a slice or pointer that was taken before the snapshot; " +
	"take it anew after World.Snapshot"

// staleWorld is a world with one archetype of 60 rows in one unit, a sparse value, and buffers
// inline and spilled.
type staleWorld struct {
	*snapWorld
	rows []ecs.Entity
}

func newStale(t *testing.T) *staleWorld {
	if !debug.On {
		t.Skip("other builds note no hashes")
	}
	s := &staleWorld{snapWorld: newSnapWorld(t, 1)}
	batch, err := ecs.NewArchetype(s.World, s.place, s.speed, s.hits).CreateN(60)
	require.NoError(t, err)
	s.rows = batch.Entities(nil)
	for _, e := range s.rows[:20] {
		s.load.Add(e, snapLoad{1})
	}
	s.hits.Append(s.rows[6], make([]uint32, 100)...)
	s.hits.Append(s.rows[7], 1)
	return s
}

// staleWays take something to write by, and name what they write.
var staleWays = map[string]struct {
	text    string
	keep    func(s *staleWorld) (write func())
	barrier func(s *staleWorld) // a write of the same unit, through the barrier; nil: what is written has none
}{
	"slice": {"rows 0 to 15 of chunk 0 of [snapPlace snapSpeed []uint32]: snapPlace",
		func(s *staleWorld) (write func()) {
			for rows := range s.write.Rows() {
				slice := s.place.Slice(rows)
				write = func() { slice[9].X-- }
			}
			return write
		}, func(s *staleWorld) { s.speed.Set(s.rows[1], snapSpeed{3}) }},
	"view": {"rows 0 to 15 of chunk 0 of [snapPlace snapSpeed []uint32]: snapPlace",
		func(s *staleWorld) (write func()) {
			for _, v := range s.view.Rows() {
				write = func() { v.Place[9].X-- }
			}
			return write
		}, func(s *staleWorld) { s.Destroy(s.rows[1]) }},
	"pointer": {"rows 0 to 59 of chunk 0 of [snapPlace snapSpeed []uint32]: snapSpeed",
		func(s *staleWorld) (write func()) {
			p := s.speed.Mut(s.rows[59])
			return func() { p.X-- }
		}, func(s *staleWorld) { s.place.Set(s.rows[59], snapPlace{}) }},
	"inline elements": {"rows 2 to 9 of chunk 0 of [snapPlace snapSpeed []uint32]: []uint32",
		func(s *staleWorld) (write func()) {
			b, _ := s.hits.Mut(s.rows[7])
			slice := b.Slice()
			return func() { slice[0]-- }
		}, func(s *staleWorld) { s.hits.Append(s.rows[50], 1) }},
	"spilled elements": {"elements 0 to 99 of row 6 of chunk 0 of [snapPlace snapSpeed []uint32]: []uint32",
		func(s *staleWorld) (write func()) {
			b, _ := s.hits.Mut(s.rows[6])
			slice := b.Slice()
			return func() { slice[99]-- }
		}, nil},
	"sparse pointer": {"entries 0 to 19 of sparse snapLoad: a value", func(s *staleWorld) (write func()) {
		p := s.load.Mut(s.rows[5])
		return func() { p.W-- }
	}, func(s *staleWorld) { s.load.Set(s.rows[6], snapLoad{7}) }},
	"sparse slice": {"entries 0 to 19 of sparse snapLoad: a value", func(s *staleWorld) (write func()) {
		slice := s.load.Slice()
		return func() { slice[19].W-- }
	}, func(s *staleWorld) { s.load.Remove(s.rows[2]) }},
}

// stalePoints are what finds such a write.
var stalePoints = map[string]func(w *staleWorld, older, s *ecs.Snapshot){
	"Snapshot":         func(w *staleWorld, _, _ *ecs.Snapshot) { w.Snapshot().Close() },
	"Close":            func(_ *staleWorld, _, s *ecs.Snapshot) { s.Close() },
	"Renew":            func(_ *staleWorld, _, s *ecs.Snapshot) { s.Renew() },
	"Renew, older":     func(_ *staleWorld, older, _ *ecs.Snapshot) { older.Renew() },
	"Restore":          func(w *staleWorld, _, s *ecs.Snapshot) { require.NoError(w.t, w.Restore(s)) },
	"Restore of older": func(w *staleWorld, older, _ *ecs.Snapshot) { require.NoError(w.t, w.Restore(older)) },
}

func TestStaleWritesAreNamed(t *testing.T) {
	for name, way := range staleWays {
		want := "ecs: World.Snapshot: " + way.text + staleText
		try := func(point string, meet func(w *staleWorld, older, s *ecs.Snapshot)) {
			t.Run(name+", "+point, func(t *testing.T) {
				w := newStale(t)
				older := w.Snapshot()
				write := way.keep(w)
				s := w.Snapshot()
				require.NoError(t, w.Verify())
				write()
				require.PanicsWithValue(t, want, func() { meet(w, older, s) })
				require.NoError(t, w.Verify(), "it is told once, and nothing else has changed")
				meet(w, older, s)
				require.NoError(t, w.Verify())
			})
		}
		for point, meet := range stalePoints {
			try(point, meet)
		}
		if way.barrier != nil {
			try("barrier", func(w *staleWorld, _, _ *ecs.Snapshot) { way.barrier(w) })
		}
		t.Run(name+", Verify", func(t *testing.T) {
			w := newStale(t)
			write := way.keep(w)
			w.Snapshot()
			write()
			require.EqualError(t, w.Verify(), want)
			require.NoError(t, w.Verify())
		})
	}
}

// TestWritesAnewAreFine takes all anew after the snapshot, and only reads what it has kept.
func TestWritesAnewAreFine(t *testing.T) {
	for name, way := range staleWays {
		for point, meet := range stalePoints {
			t.Run(name+", "+point, func(t *testing.T) {
				w := newStale(t)
				older := w.Snapshot()
				way.keep(w)
				s := w.Snapshot()
				way.keep(w)()
				require.NoError(t, w.Verify())
				meet(w, older, s)
				require.NoError(t, w.Verify())
			})
		}
	}
}

// TestStaleWritesOfWhatWaits writes rows and elements that only an older snapshot has.
func TestStaleWritesOfWhatWaits(t *testing.T) {
	for _, name := range []string{"slice", "spilled elements"} {
		way := staleWays[name]
		w := newStale(t)
		write := way.keep(w)
		first := w.Snapshot()
		w.Clear()
		w.Trim()
		second := w.Snapshot()
		if name == "slice" { // destroyed rows have been kept, as debug builds poison them
			write()
			require.NoError(t, w.Verify())
			continue
		}
		write()
		second.Close()
		require.PanicsWithValue(t, "ecs: World.Snapshot: "+way.text+staleText, first.Close)
		first.Close()
		require.NoError(t, w.Verify())
	}
}
