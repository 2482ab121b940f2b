package snapshot_test

import (
	"bytes"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestSnapshotIsOnlyRead: look-ups and rows of a snapshot refuse to write, and what other readers
// see stays.
func TestSnapshotIsOnlyRead(t *testing.T) {
	w := newSnapWorld(t, 1)
	e := ecs.NewArchetype(w.World, w.place, w.speed, w.hits).Create()
	w.place.Set(e, snapPlace{X: 1})
	w.hits.Append(e, 1)
	w.load.Add(e, snapLoad{})
	s := w.Snapshot()
	hash := s.Hash()
	inRows := func(f func(rows ecs.Rows)) func() {
		return func() {
			for rows := range s.Rows(w.write) {
				f(rows)
			}
		}
	}
	for text, f := range map[string]func(){
		"Lookup.Mut: snapPlace":           func() { w.place.Lookup(s).Mut(e) },
		"Lookup.Disable: snapSpeed":       func() { w.speed.Lookup(s).Disable(e) },
		"Lookup.Enable: snapSpeed":        func() { w.speed.Lookup(s).Enable(e) },
		"BufferLookup.Mut: []uint32":      func() { w.hits.Lookup(s).Mut(e) },
		"Lookup.Mut: sparse snapLoad":     func() { w.load.Lookup(s).Mut(e) },
		"Lookup.Disable: sparse snapLoad": func() { w.load.Lookup(s).Disable(e) },
		"Component.Mark: snapPlace":       inRows(func(rows ecs.Rows) { w.place.Mark(rows) }),
		"Component.DisableAt: snapSpeed":  inRows(func(rows ecs.Rows) { w.speed.DisableAt(rows, 0) }),
		"Component.MarkAt: snapPlace":     inRows(func(rows ecs.Rows) { w.place.MarkAt(rows, 0) }),
	} {
		require.PanicsWithValue(t, "ecs: "+text+" is of a snapshot, which is only read", f)
		require.Equal(t, hash, s.Hash(), text)
		require.Equal(t, hash, w.Hash(), text)
	}
	require.Equal(t, snapPlace{X: 1}, *w.place.Lookup(s).Get(e))
}

// TestSnapshotIsReadWhileItEnds: neither a snapshot nor its world is closed under a loop.
func TestSnapshotIsReadWhileItEnds(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	require.NoError(t, err)
	place := ecs.Register[snapPlace](w)
	e := ecs.NewArchetype(w, place).Create()
	q := ecs.NewQuery(w, ecs.Read(place))
	s, other := w.Snapshot(), w.Snapshot()
	for rows := range s.Rows(q) {
		require.PanicsWithValue(t, "ecs: World.Close: 1 goroutines are reading the snapshot", func() { _ = w.Close() })
		require.PanicsWithValue(t, "ecs: Snapshot.Close: 1 goroutines are reading the snapshot", s.Close)
		require.Equal(t, []ecs.Entity{e}, rows.Entities())
	}
	require.Equal(t, 1, other.Count(q), "it is open still")
	require.NoError(t, w.Verify())
	require.NoError(t, w.Close())
	require.PanicsWithValue(t,
		"ecs: Snapshot.Rows: the snapshot is nil or the zero value; snapshots come from World.Snapshot",
		func() { (*ecs.Snapshot)(nil).Count(q) })
}

// TestDeltaOutlivesItsSnapshots: a delta is not walked when a snapshot of it is closed or renewed,
// and is written all the same.
func TestDeltaOutlivesItsSnapshots(t *testing.T) {
	for _, end := range []func(older, newer *ecs.Snapshot){
		func(older, _ *ecs.Snapshot) { older.Close() },
		func(_, newer *ecs.Snapshot) { newer.Close() },
		func(_, newer *ecs.Snapshot) { newer.Renew() },
	} {
		w := newSnapWorld(t, 3)
		for range 50 {
			w.step()
		}
		older := w.Snapshot()
		for range 50 {
			w.step()
		}
		newer := w.Snapshot()
		d, err := ecs.Diff(older, newer)
		require.NoError(t, err)
		var before, after bytes.Buffer
		require.NoError(t, ecs.EncodeDelta(&before, d))
		end(older, newer)
		for name, walk := range map[string]func(){
			"Born":    func() { d.Born()(func(ecs.Entity) bool { return true }) },
			"Died":    func() { d.Died()(func(ecs.Entity) bool { return true }) },
			"Moved":   func() { d.Moved()(func(ecs.Entity, [2]*ecs.Archetype) bool { return true }) },
			"Changed": func() { d.Changed()(func(ecs.Entity, ecs.Type) bool { return true }) },
			"Gained":  func() { d.Gained()(func(ecs.Entity, ecs.Type) bool { return true }) },
			"Lost":    func() { d.Lost()(func(ecs.Entity, ecs.Type) bool { return true }) },
			"Renamed": func() { d.Renamed()(func(ecs.Entity, string) bool { return true }) },
		} {
			require.PanicsWithValue(t,
				"ecs: Delta."+name+": the delta is the zero value, or one of its snapshots is closed", walk)
		}
		require.NoError(t, ecs.EncodeDelta(&after, d))
		require.Equal(t, before.Bytes(), after.Bytes())
	}
}

// TestRestoreWithoutMemory: the error of a restore for which there is no memory is a LimitError.
func TestRestoreWithoutMemory(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	batch, err := ecs.NewArchetype(w.World, w.place).CreateN(2000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	old := w.Snapshot()
	w.place.Set(ids[0], snapPlace{X: 1})
	w.Snapshot()
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	limit := new(ecs.LimitError)
	require.ErrorAs(t, w.Restore(old), &limit)
	require.Equal(t, "World.Restore", limit.Op)
	for _, c := range hog {
		u.Free(c, 1)
	}
	require.NoError(t, w.Restore(old))
}

// TestRestoreGivesUpArchetypes: a world that was put back and went on has the order of archetypes,
// and so the hash, of one without the detour, but for archetypes that stay: those of NewArchetype
// and those that newer snapshots have.
func TestRestoreGivesUpArchetypes(t *testing.T) {
	for name, c := range map[string]struct {
		first, pinned, newer bool // all made first; made by NewArchetype; a newer snapshot has them
		same                 bool
	}{
		"made since":                 {same: true},
		"made first":                 {first: true, same: true},
		"made first, by another way": {first: true, newer: true, same: true},
		"of NewArchetype":            {pinned: true},
		"of a newer snapshot":        {newer: true},
	} {
		t.Run(name, func(t *testing.T) {
			straight, detour := newSnapWorld(t, 1), newSnapWorld(t, 1)
			lists := map[*snapWorld][]ecs.Entity{}
			for _, w := range []*snapWorld{straight, detour} {
				batch, err := ecs.NewArchetype(w.World).CreateN(3)
				require.NoError(t, err)
				lists[w] = batch.Entities(nil)
				if c.first {
					ecs.NewArchetype(w.World, w.place)
					ecs.NewArchetype(w.World, w.speed)
				}
			}
			s, created := detour.Snapshot(), detour.Stats().Archetypes
			if c.pinned {
				ecs.NewArchetype(detour.World, detour.speed).Create()
			} else {
				detour.speed.Add(lists[detour][0], snapSpeed{})
			}
			if c.newer {
				detour.Snapshot()
			}
			require.NoError(t, detour.Restore(s))
			require.Equal(t, c.same, detour.Stats().Archetypes == created, "archetypes")
			require.NoError(t, detour.Verify())
			for _, w := range []*snapWorld{straight, detour} {
				w.place.Add(lists[w][1], snapPlace{})
				w.speed.Add(lists[w][2], snapSpeed{})
			}
			require.Equal(t, straight.Hash(), detour.Hash(), "the order of archetypes does not count")
			require.Equal(t, c.same, straight.all.Entities(nil)[1] == twinOf(t, straight, detour.all.Entities(nil)[1]))
		})
	}
}

// twinOf returns the entity of a world that has the index and version of another world's.
func twinOf(t *testing.T, w *snapWorld, e ecs.Entity) ecs.Entity {
	twin, ok := w.Entity(e.Index(), e.Version())
	require.True(t, ok)
	return twin
}

// TestPrintersReadSparseValuesOfThen: Rows.Value in rows of a snapshot, of queries that name a
// sparse type and of those of all types.
func TestPrintersReadSparseValuesOfThen(t *testing.T) {
	s := newSnapWorld(t, 1)
	e := ecs.NewArchetype(s.World, s.place).Create()
	s.load.Add(e, snapLoad{5})
	m := s.Snapshot()
	change := []func(){func() {}, func() { s.load.Set(e, snapLoad{7}) }, func() { s.load.Remove(e) },
		func() { s.Destroy(e) }}
	queries := []*ecs.Query{ecs.NewQueryOfAll(s.World), ecs.NewQuery(s.World, ecs.Read(s.place), ecs.Read(s.load))}
	for _, do := range change {
		do()
		for _, q := range queries {
			n := 0
			for rows := range m.Rows(q) {
				require.Equal(t, snapLoad{5}, rows.Value(s.load, 0))
				n += rows.Count()
			}
			require.Equal(t, 1, n)
		}
	}
}
