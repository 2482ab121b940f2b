package snapshot_test

import (
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestSnapshotMisuse: wrong calls of snapshots are named, and change nothing.
func TestSnapshotMisuse(t *testing.T) {
	w, other := newSnapWorld(t, 1), ecstest.NewWorld(t)
	e := ecs.NewArchetype(w.World, w.place).Create()
	s, strange, closed := w.Snapshot(), other.Snapshot(), w.Snapshot()
	require.Equal(t, w.World, s.World())
	closed.Close()
	closed.Close() // twice does nothing
	gone := ecstest.NewWorld(t)
	ofGone := gone.Snapshot()
	require.NoError(t, gone.Close())
	w.place.Set(e, snapPlace{X: 4})
	before, zero := w.print(), new(ecs.Snapshot)
	none := "the snapshot is nil or the zero value; snapshots come from World.Snapshot"
	loop := func(f func()) func() {
		return func() {
			for range w.all.Rows() {
				f()
			}
		}
	}
	shared := func(f func()) func() {
		return func() {
			b := w.Lend()
			defer b.End()
			f()
		}
	}
	restore := func(s *ecs.Snapshot) func() { return func() { _ = w.Restore(s) } }
	for text, f := range map[string]func(){
		"ecs: World.Restore: the snapshot is of another world":                               restore(strange),
		"ecs: World.Restore: the snapshot is closed":                                         restore(closed),
		"ecs: World.Restore: " + none:                                                        restore(nil),
		"ecs: World.Snapshot: the world is closed":                                           func() { gone.Snapshot() },
		"ecs: World.Restore: the world is closed":                                            func() { _ = gone.Restore(ofGone) },
		"ecs: World.Snapshot: the world is nil or the zero value; worlds come from NewWorld": func() { (*ecs.World)(nil).Snapshot() },
		"ecs: World.Restore: the world is nil or the zero value; worlds come from NewWorld":  func() { _ = new(ecs.World).Restore(s) },
		"ecs: Snapshot.Kept: the snapshot is closed":                                         func() { closed.Kept() },
		"ecs: Snapshot.Err: " + none:                                                         func() { _ = zero.Err() },
		"ecs: Snapshot.Version: " + none:                                                     func() { zero.Version() },
		"ecs: Snapshot.Len: " + none:                                                         func() { (*ecs.Snapshot)(nil).Len() },
		"ecs: Snapshot.Kept: " + none:                                                        func() { (*ecs.Snapshot)(nil).Kept() },
		"ecs: Snapshot.World: " + none:                                                       func() { (*ecs.Snapshot)(nil).World() },
		"ecs: Snapshot.Close: " + none:                                                       func() { (*ecs.Snapshot)(nil).Close() },
		"ecs: World.Snapshot: called inside a loop over query(":                              loop(func() { w.Snapshot() }),
		"ecs: World.Restore: structural change inside a loop over query(":                    loop(restore(s)),
		"ecs: Snapshot.Close: called inside a loop over query(":                              loop(s.Close),
		"ecs: World.Snapshot: the world is lent; call Borrow.End first":                      shared(func() { w.Snapshot() }),
		"ecs: World.Restore: the world is lent; call Borrow.End first":                       shared(restore(s)),
		"ecs: Snapshot.Close: the world is lent; call Borrow.End first":                      shared(s.Close),
	} {
		func() {
			defer func() { require.Contains(t, recover(), text) }()
			f()
			require.Fail(t, "no panic", text)
		}()
		require.Equal(t, before, w.print(), text)
		require.NoError(t, w.Verify())
	}
	ofGone.Close()
	require.NoError(t, ofGone.Err())
	require.Equal(t, 1, s.Len())
	require.Positive(t, s.Kept())
	require.NoError(t, w.Restore(s))
	require.Equal(t, snapPlace{}, *w.place.Get(e))
}

// TestAClosedSnapshotStaysClosed: what holds a closed snapshot has nothing of the next.
func TestAClosedSnapshotStaysClosed(t *testing.T) {
	w := newSnapWorld(t, 1)
	e := ecs.NewArchetype(w.World, w.place).Create()
	old := w.Snapshot()
	old.Close()
	next := w.Snapshot()
	require.NotSame(t, old, next)
	old.Close() // closes no other
	require.PanicsWithValue(t, "ecs: World.Restore: the snapshot is closed", func() { _ = w.Restore(old) })
	w.place.Set(e, snapPlace{X: 1})
	require.NoError(t, w.Restore(next))
	require.Equal(t, snapPlace{}, *w.place.Get(e))
	next.Close()
}

// TestSnapshotCompletesJobs: taking, restoring and closing wait for a job whose goroutines write.
func TestSnapshotCompletesJobs(t *testing.T) {
	w := newSnapWorld(t, 1)
	_, err := ecs.NewArchetype(w.World, w.place).CreateN(3000)
	require.NoError(t, err)
	l := ecstest.Lend(w.write, "job write")
	fly := func(x float64) {
		ecstest.Begin(l.Borrow)
		l.Each(2, 64, func(_ *ecs.Accessor, rows ecs.Rows) {
			for i := range w.place.Slice(rows) {
				w.place.Slice(rows)[i].X = x
			}
		})
	}
	first := func() float64 {
		for rows := range w.all.Rows() {
			return w.place.ReadOnly(rows)[rows.Len()-1].X
		}
		return 0
	}
	fly(1)
	s := w.Snapshot()
	require.False(t, ecstest.Out(l.Borrow))
	print := w.print()
	fly(2)
	require.NoError(t, w.Restore(s))
	require.False(t, ecstest.Out(l.Borrow))
	require.Equal(t, print, w.print())
	require.InDelta(t, 1, first(), 0)
	fly(3)
	s.Close()
	require.False(t, ecstest.Out(l.Borrow))
	require.InDelta(t, 3, first(), 0)
	require.Equal(t, []string{"World.Snapshot", "World.Restore", "Snapshot.Close"}, l.Ops)
}

// TestRestoreRefusesManagedValues: a world goes back only to a state without rows with managed
// values, and from one.
func TestRestoreRefusesManagedValues(t *testing.T) {
	w := newSnapWorld(t, 1)
	text := ecs.RegisterManaged[string](w.World)
	a := ecs.NewArchetype(w.World, w.place, text)
	plain := ecs.NewArchetype(w.World, w.place).Create()
	empty := w.Snapshot()
	e := a.Create()
	text.Set(e, "a")
	full := w.Snapshot()
	later := ecs.NewArchetype(w.World, w.speed, text).Create() // of an archetype that no snapshot has
	w.place.Set(plain, snapPlace{X: 7})
	before := w.print()
	for _, s := range []*ecs.Snapshot{empty, full} {
		require.ErrorContains(t, w.Restore(s),
			"ecs: World.Restore: [snapPlace managed string] has rows with values of managed string, which a snapshot does not have")
		require.ErrorContains(t, w.Restore(s), "has rows with values of managed string, which a snapshot does not have")
		require.Equal(t, before, w.print())
		require.NoError(t, w.Verify())
	}
	w.Destroy(e)
	require.ErrorContains(t, w.Restore(empty), "which a snapshot does not have", "the later one")
	w.Destroy(later)
	require.NoError(t, w.Restore(empty))
	require.Equal(t, snapPlace{}, *w.place.Get(plain))
	require.ErrorContains(t, w.Restore(full), "which a snapshot does not have")
	require.NoError(t, w.Verify())
}

// TestLostSnapshot: where the universe is full, writes go on, and the snapshots that lack the old
// bytes are lost and report it; a restore of one changes nothing, and others are as good as before.
func TestLostSnapshot(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	a := ecs.NewArchetype(w.World, w.place, w.hits)
	batch, err := a.CreateN(2000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	w.hits.Append(ids[7], make([]uint32, 1000)...)
	old := w.Snapshot()
	w.place.Set(ids[0], snapPlace{X: 1})
	print := w.print()
	kept := old.Kept()
	fill := func() (free func()) {
		var hog []alloc.ChunkIndex
		for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
			hog = append(hog, c)
		}
		return func() {
			for _, c := range hog {
				u.Free(c, 1)
			}
		}
	}
	free := fill()
	fresh := w.Snapshot()
	w.place.Set(ids[0], snapPlace{X: 2})
	require.NoError(t, old.Err(), "it has the unit")
	require.ErrorIs(t, fresh.Err(), alloc.ErrFull)
	require.ErrorContains(t, fresh.Err(), "ecs: the snapshot is lost: old bytes could not be kept: ")
	before := w.print()
	require.ErrorContains(t, w.Restore(fresh), "ecs: World.Restore: ecs: the snapshot is lost: ")
	require.ErrorIs(t, w.Restore(fresh), alloc.ErrFull)
	require.Equal(t, before, w.print())
	w.place.Set(ids[1999], snapPlace{X: 2}) // a unit that the old one lacks too
	require.ErrorIs(t, old.Err(), alloc.ErrFull)
	require.Equal(t, kept, old.Kept())
	free()
	require.NoError(t, w.Verify())
	for _, s := range []*ecs.Snapshot{old, fresh} {
		require.ErrorIs(t, w.Restore(s), alloc.ErrFull)
		s.Close()
		require.ErrorIs(t, s.Err(), alloc.ErrFull, "it says so still")
	}
	require.NotEqual(t, print, w.print())
	good := w.Snapshot()
	require.NoError(t, good.Err())
	free = fill()
	b, _ := w.hits.Mut(ids[7]) // a block that there is no other for, or there is in the heap
	b.Slice()[3] = 9
	lost := good.Err()
	free()
	if lost == nil {
		require.NoError(t, w.Restore(good))
		list, _ := w.hits.Get(ids[7])
		require.Zero(t, list.Slice()[3])
	}
	require.NoError(t, w.Verify())
	good.Close()
}

// TestRestoreNeedsMemoryForNewerSnapshots: a restore that would lose a newer snapshot is refused.
func TestRestoreNeedsMemoryForNewerSnapshots(t *testing.T) {
	u := ecstest.NewUniverse(t, 4<<20)
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	batch, err := ecs.NewArchetype(w.World, w.place).CreateN(2000)
	require.NoError(t, err)
	ids := batch.Entities(nil)
	old := w.Snapshot()
	w.place.Set(ids[0], snapPlace{X: 1})
	newer := w.Snapshot()
	print := w.print()
	var hog []alloc.ChunkIndex
	for c, err := u.AllocExact(1); err == nil; c, err = u.AllocExact(1) {
		hog = append(hog, c)
	}
	require.ErrorIs(t, w.Restore(old), alloc.ErrFull)
	require.NoError(t, newer.Err())
	require.NoError(t, old.Err())
	require.Equal(t, print, w.print())
	require.NoError(t, w.Verify())
	for _, c := range hog {
		u.Free(c, 1)
	}
	require.NoError(t, w.Restore(old))
	require.Equal(t, snapPlace{}, *w.place.Get(ids[0]))
	require.NoError(t, w.Restore(newer))
	require.Equal(t, print, w.print())
}
