package snapshot_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// tally is a value of several words that are all the same.
type tally struct{ A, B, C *int }

func newTally(n int) tally {
	p := new(int)
	*p = n
	return tally{p, p, p}
}

// TestManagedCopiesAreReadByMany: goroutines read copies while the owner writes values in place,
// takes snapshots and restores them.
func TestManagedCopiesAreReadByMany(t *testing.T) {
	w := ecstest.NewWorld(t)
	m := ecs.RegisterManaged[tally](w, ecs.CopyWith(func(from *tally) tally { return newTally(*from.A) }))
	a := ecs.NewArchetype(w, m)
	var list []ecs.Entity
	for i := range 700 {
		e := a.Create()
		m.Set(e, newTally(i))
		list = append(list, e)
	}
	q := ecs.NewQuery(w, ecs.Write(m))
	first := w.Snapshot()
	var readers sync.WaitGroup
	var stop atomic.Bool
	for range 3 {
		readers.Go(func() {
			for !stop.Load() {
				then, n := m.Lookup(first), 0
				for rows := range first.Rows(q) {
					for i := range rows.Len() {
						p := m.At(rows, i)
						if *p.A != n || *p.C != n || *then.Get(rows.Entities()[i]).B != n {
							t.Errorf("row %d has %d", n, *p.A)
							return
						}
						n++
					}
				}
				if n != len(list) {
					t.Errorf("%d rows", n)
				}
			}
		})
	}
	for i := range 100 {
		for _, e := range list[:100] {
			*m.Get(e).A = -i
			m.Set(e, newTally(-i))
		}
		now := w.Snapshot()
		w.Destroy(list[i])
		a.Create()
		require.NoError(t, w.Restore(now))
		now.Close()
		require.NoError(t, w.Restore(first))
	}
	stop.Store(true)
	readers.Wait()
	require.NoError(t, w.Verify())
	first.Close()
}

// collected runs the collector until n values have gone, and reports how many have.
func collected(gone *atomic.Int32, n int32) int32 {
	for deadline := time.Now().Add(time.Minute); gone.Load() < n && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	return gone.Load()
}

// TestManagedCopiesAreCollected: the collector frees values that a restore ends, values of closed
// and renewed snapshots, and values of a copy that failed.
func TestManagedCopiesAreCollected(t *testing.T) {
	w := ecstest.NewWorld(t)
	var made, gone atomic.Int32
	fail := false
	track := func() *[64]byte {
		p := new([64]byte)
		made.Add(1)
		runtime.AddCleanup(p, func(int) { gone.Add(1) }, 0)
		return p
	}
	m := ecs.RegisterManaged[*[64]byte](w, ecs.CopyWith(func(**[64]byte) *[64]byte {
		if fail && made.Load()%10 == 9 {
			panic("no copy")
		}
		return track()
	}))
	a := ecs.NewArchetype(w, m)
	for range 20 {
		m.Set(a.Create(), track())
	}
	s := w.Snapshot()
	for range 30 {
		m.Set(a.Create(), track())
	}
	alive := func(want int32, what string) {
		t.Helper()
		require.Equal(t, made.Load()-want, collected(&gone, made.Load()-want), what)
	}
	require.NoError(t, w.Restore(s))
	alive(40, "20 values, and 20 copies of the snapshot")
	s.Renew()
	alive(40, "renewed")
	made.Add(3) // so that it fails midway
	gone.Add(3)
	fail = true
	require.Panics(t, func() { w.Snapshot() })
	require.Panics(t, func() { _ = w.Restore(s) })
	fail = false
	alive(40, "failed")
	s.Close()
	alive(20, "closed")
	w.Clear()
	alive(0, "ended")
	require.NoError(t, w.Verify())
}

// TestManagedCopiesAllocateNothing: a ring of snapshots with managed values allocates what their
// function does, which is nothing here.
func TestManagedCopiesAllocateNothing(t *testing.T) {
	if debug.On {
		t.Skip("debug builds allocate")
	}
	ecstest.SkipCheckptr(t)
	w := ecstest.NewWorld(t)
	type label struct {
		N    int
		Text string
	}
	m := ecs.RegisterManaged[label](w, ecs.CopyWith(func(from *label) label { return *from }))
	a := ecs.NewArchetype(w, m)
	var list []ecs.Entity
	for i := range 1000 {
		e := a.Create()
		m.Set(e, label{i, "text"})
		list = append(list, e)
	}
	s := w.Snapshot()
	pass := func() {
		s.Renew()
		m.Set(list[3], label{7, "other"})
		w.Destroy(list[9])
		m.Set(a.Create(), label{})
		if err := w.Restore(s); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		pass()
	}
	require.Zero(t, testing.AllocsPerRun(50, pass))
	require.NoError(t, w.Verify())
}
