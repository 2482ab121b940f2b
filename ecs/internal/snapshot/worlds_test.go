package snapshot_test

import (
	"fmt"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/long"

	"github.com/stretchr/testify/require"
)

// TestChunksOfSnapshotsStay: while the world that gives has a snapshot, rows that go to another are
// copied; its chunks do not change hands, and it has them back.
func TestChunksOfSnapshotsStay(t *testing.T) {
	u := ecstest.NewUniverse(t, 64<<20)
	from, to := newSnapWorld(t, 1, ecs.WithUniverse(u)), newSnapWorld(t, 2, ecs.WithUniverse(u))
	for range 3 {
		to.Snapshot().Close() // so that the numbers of snapshots differ
	}
	chunks := func(w *snapWorld) (firsts []int) {
		a := ecs.NewArchetype(w.World, w.place, w.hits)
		for i := range a.Chunks() {
			first, _, _ := a.Chunk(i)
			firsts = append(firsts, first)
		}
		return firsts
	}
	shared := func(a, b []int) (n int) {
		for _, c := range a {
			if slices.Contains(b, c) {
				n++
			}
		}
		return n
	}
	fill := func() {
		for i, e := range from.many(20_000, from.hits) {
			if i%1000 == 0 {
				from.hits.Append(e, make([]uint32, 100+i)...)
			}
		}
	}
	move := func() {
		_, err := to.MoveAll(from.World)
		require.NoError(t, err)
		require.NoError(t, from.Verify())
		require.NoError(t, to.Verify())
	}
	fill()
	had := from.moment()
	before := chunks(from)
	move()
	require.Zero(t, shared(before, chunks(to)), "the snapshot has them")
	got := to.moment()
	from.back(had)
	require.Equal(t, before, chunks(from))
	require.Equal(t, got.print, to.print())
	for rows := range to.write.Rows() {
		for i := range to.place.Slice(rows) {
			to.place.Slice(rows)[i].X = -1
		}
	}
	require.Equal(t, had.print, from.print())
	to.back(got)
	had.s.Close()

	before = chunks(from)
	move() // to has a snapshot, from has none any more
	require.Positive(t, shared(before, chunks(to)), "nothing forbids it")
	twice := to.moment()
	to.back(got)
	to.back(twice)
	to.collect()
	for _, e := range to.living {
		if b, ok := to.hits.Mut(e); ok && b.Len() > 0 {
			b.Slice()[0] = 77
			b.Append(1)
		}
		to.place.Set(e, snapPlace{})
	}
	to.back(twice)
	to.back(got)
	twice.s.Close()
	to.back(got)
	got.s.Close()
}

// TestWorldsOfOneUniverse changes two worlds at random, whose entities move from one to the other,
// with snapshots of both.
func TestWorldsOfOneUniverse(t *testing.T) {
	steps := long.N(150, 500) // entities move between the worlds dozens of times
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { testWorldsOfOneUniverse(t, seed, steps) })
	}
}

func testWorldsOfOneUniverse(t *testing.T, seed uint64, steps int) {
	u := ecstest.NewUniverse(t, 256<<20)
	worlds := []*snapWorld{newSnapWorld(t, seed, ecs.WithUniverse(u)), newSnapWorld(t, seed+100, ecs.WithUniverse(u))}
	worlds[0].Snapshot().Close()
	var moments [2][]snapMoment
	r := worlds[0].r
	moved := 0
	for step := range steps {
		i := r.IntN(2)
		w := worlds[i]
		switch op := r.IntN(30); {
		case op < 2 && len(moments[i]) < 3:
			moments[i] = append(moments[i], w.moment())
		case op == 2 && len(moments[i]) > 0:
			at := r.IntN(len(moments[i]))
			moments[i][at].s.Close()
			moments[i] = slices.Delete(moments[i], at, at+1)
		case op < 6 && len(moments[i]) > 0:
			w.back(moments[i][r.IntN(len(moments[i]))])
			w.collect()
		case op < 8:
			if r.IntN(2) == 0 {
				worlds[1-i].many(4000)
			}
			batch, err := w.MoveAll(worlds[1-i].World)
			require.NoError(t, err, "step %d", step)
			moved += batch.Len()
			w.collect()
			worlds[1-i].collect()
		default:
			w.step()
		}
		for _, w := range worlds {
			require.NoError(t, w.Verify(), "seed %d, step %d", seed, step)
		}
	}
	require.Greater(t, moved, 10_000)
	for i, w := range worlds {
		for _, m := range moments[i] {
			w.back(m)
		}
	}
}

// TestCloneBesideSnapshots: a clone of a world with snapshots has none, and is the same; the world
// goes back without it.
func TestCloneBesideSnapshots(t *testing.T) {
	u := ecstest.NewUniverse(t, 64<<20)
	w := newSnapWorld(t, 1, ecs.WithUniverse(u))
	ids := w.many(3000, w.hits)
	w.hits.Append(ids[9], make([]uint32, 500)...)
	m := w.moment()
	w.hits.Append(ids[9], 1)
	w.place.Set(ids[8], snapPlace{X: 3})
	c, err := w.Clone(ecs.WithUniverse(u))
	require.NoError(t, err)
	hash := w.Hash()
	w.back(m)
	require.NoError(t, c.Verify())
	require.Equal(t, hash, c.Hash())
	s := c.Snapshot()
	require.PanicsWithValue(t, "ecs: World.Restore: the snapshot is of another world", func() { _ = w.Restore(s) })
	require.NoError(t, c.Close())
	w.back(m)
}
