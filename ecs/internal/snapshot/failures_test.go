package snapshot_test

import (
	"errors"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// refusedSnapshots runs a stream of changes, snapshots and restores on a world whose universe
// refuses by s. A restore leaves the world as the snapshot was, or as it was; a snapshot is lost,
// or its world goes back to it. It returns the first refusal, or why a snapshot is lost.
func refusedSnapshots(t *testing.T, s *alloc.Failures, asked map[string]int) error {
	u, err := alloc.NewUniverse(alloc.Size(16<<20), alloc.InjectFailures(s))
	if err != nil {
		return err
	}
	w, err := ecs.NewWorld(ecs.WithUniverse(u))
	if err != nil {
		return errors.Join(err, u.Close())
	}
	x := openSnapWorld(t, w, 1)
	r := &ecstest.Refusals{Failures: s, Asked: asked, Worlds: []*ecs.World{w}}
	var moments []snapMoment
	var ids []ecs.Entity
	moment := func() { moments = append(moments, x.moment()) }
	back := func(i int) {
		m := moments[i]
		r.Try("Restore", func() error {
			lost, err := m.s.Err(), w.Restore(m.s)
			if err == nil && (lost != nil || x.print() != m.print) {
				return errors.New("restored to another state, or of a lost snapshot")
			}
			return err
		})
	}
	create := func(n int) {
		r.TryValues("CreateN", func() error {
			b, err := ecs.NewArchetype(w, x.place, x.big, x.hits).CreateN(n)
			ids = append(ids, b.Entities(nil)...)
			return err
		})
	}
	spill := func(n int) {
		for i := range min(5, len(ids)) {
			r.TryValues("TryAppend", func() error {
				b, ok := x.hits.Mut(ids[i])
				if !ok {
					return nil
				}
				return ecs.Try(func() { b.Append(make([]uint32, n)...) })
			})
			x.big.Set(ids[i], snapBig{[7]uint64{uint64(n)}})
		}
	}
	moment() // of the empty world
	create(600)
	spill(100)
	moment()
	for i := range min(40, len(ids)) {
		r.TryValues("Sparse.TryAdd", func() error {
			if !w.Alive(ids[i]) {
				return nil
			}
			err := ecs.Try(func() { x.load.Add(ids[i], snapLoad{uint16(i)}) })
			return err
		})
	}
	reserved := make([]ecs.Entity, 9000)
	r.TryValues("Reserve", func() error { return w.Reserve(reserved) })
	spill(700)
	faster := ecs.NewChange(w, ecs.Add(x.speed))
	r.TryValues("ApplyQuery", func() error { _, err := faster.ApplyQuery(x.all); return err })
	moment()
	back(0)
	back(2)
	back(1)
	x.collect()
	ids = x.living
	spill(300)
	w.DestroyList(ids[:len(ids)/2])
	ids = ids[len(ids)/2:]
	moment()
	moments[1].s.Close()
	moments[1] = moments[2]
	back(1)
	back(0)
	create(12_000)
	back(3)
	return errors.Join(r.First, lostOf(moments), w.Close(), u.Verify(), u.Close())
}

// lostOf returns why snapshots are lost, or nil.
func lostOf(moments []snapMoment) (err error) {
	for _, m := range moments {
		err = errors.Join(err, m.s.Err())
	}
	return err
}

// TestEveryFailureOfSnapshots: whichever request for memory is refused, alone or with all after it.
func TestEveryFailureOfSnapshots(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	require.NoError(t, refusedSnapshots(t, &alloc.Failures{}, asked))
	for _, name := range []string{"Restore", "CreateN", "TryAppend", "Sparse.TryAdd", "ApplyQuery", "Reserve"} {
		require.Positive(t, asked[name], "%s asks for memory: %v", name, asked)
	}
	require.NoError(t, ecstest.CheckFailures(func(s *alloc.Failures) error { return refusedSnapshots(t, s, asked) }))
}

// TestSpilledBufferWithoutMemory: the row of a buffer has been kept already, but there is no memory
// for a block of its own: the write goes on, and the snapshot is lost, not wrong.
func TestSpilledBufferWithoutMemory(t *testing.T) {
	u := ecstest.NewUniverse(t, 8<<20)
	s := newSnapWorld(t, 1, ecs.WithUniverse(u))
	batch, err := ecs.NewArchetype(s.World, s.place, s.hits).CreateN(2)
	require.NoError(t, err)
	list := batch.Entities(nil)
	s.hits.Append(list[0], make([]uint32, 20_000)...)
	m := s.Snapshot()
	s.place.Mut(list[1]).X = 5 // keeps the unit, with the header of the other row
	b, _ := s.hits.Get(list[1])
	require.Zero(t, b.Len())
	require.NoError(t, m.Err())
	var held []alloc.ChunkIndex
	for {
		c, err := u.AllocExact(1)
		if err != nil {
			break
		}
		held = append(held, c)
	}
	b, _ = s.hits.Mut(list[0])
	b.Slice()[7] = 9
	require.ErrorIs(t, m.Err(), alloc.ErrFull)
	for _, c := range held {
		u.Free(c, 1)
	}
	require.Error(t, s.Restore(m))
	require.NoError(t, s.Verify())
}
