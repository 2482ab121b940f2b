package system_test

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/system"

	"github.com/stretchr/testify/require"
)

// TestSnapshotsForOthers runs frames that move an amount from row to row, by systems, jobs and
// structural changes, while goroutines ask for snapshots and find the sum unchanged, with no torn
// value.
func TestSnapshotsForOthers(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	purse := ecs.Register[accounts](w)
	marked := ecs.Register[mark](w)
	const rows = 6000
	_, err = ecs.NewArchetype(w, purse).CreateN(rows)
	require.NoError(t, err)
	systems := system.New(w)
	defer func() { require.NoError(t, systems.Close()) }()
	addGivers(systems, purse, marked)
	all := ecs.NewQuery(w, ecs.Read(purse))
	snapshots := systems.Snapshots()
	var readers sync.WaitGroup
	reads := 40
	if testing.Short() {
		reads = 8
	}
	ctx, done := context.WithCancel(context.Background())
	defer done()
	for range 3 {
		readers.Go(func() {
			for range reads {
				s, err := snapshots.Take(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				n, sum := 0, int64(0)
				for rows := range s.Rows(all) {
					for _, p := range purse.Slice(rows) {
						if p.A != -p.B {
							t.Errorf("torn: %v", p)
						}
						sum += p.A
						n++
					}
				}
				if n != rows || sum != 0 {
					t.Errorf("%d rows, sum %d", n, sum)
				}
				s.Release()
			}
		})
	}
	read := make(chan struct{})
	go func() { readers.Wait(); close(read) }()
	for running := true; running; {
		require.NoError(t, systems.Step(time.Millisecond))
		select {
		case <-read:
			running = false
		default:
			runtime.Gosched() // where there is one thread, nothing else lets the readers run
		}
	}
	require.NoError(t, w.Verify())
}

// accounts are a row: B is -A.
type accounts struct{ A, B int64 }

type mark struct{}

// addGivers adds a system whose jobs move an amount between neighbors, and one that moves rows.
func addGivers(systems *system.Systems, purse ecs.Component[accounts], marked ecs.Component[mark]) {
	frame := 0
	systems.Add("give", system.Make(func(s *system.State) func() {
		q := s.Query(ecs.Write(purse))
		give := s.For(q)
		body := func(_ *job.Ctx, rows ecs.Rows) {
			p := purse.Slice(rows)
			for i := range p[:len(p)/2] {
				p[2*i].A++
				p[2*i].B--
				p[2*i+1].A--
				p[2*i+1].B++
			}
		}
		return func() { frame++; give.Parallel(body) }
	}))
	systems.Add("mark", system.Make(func(s *system.State) func() {
		q := s.Query(ecs.Read(purse))
		return func() {
			var list []ecs.Entity
			for rows := range q.Rows() {
				if rows.Len() > 20 {
					list = append(list, rows.Entities()[frame%rows.Len()])
				}
			}
			for _, e := range list {
				if !marked.Remove(e) {
					marked.Add(e, mark{})
				}
			}
		}
	}), system.After("give"))
}

// TestReleasedSnapshotsCostNoCopies: a snapshot that was released between two frames is closed
// before the systems of the later one write. One that is still read keeps what they write.
func TestReleasedSnapshotsCostNoCopies(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	purse := ecs.Register[accounts](w)
	_, err = ecs.NewArchetype(w, purse).CreateN(10_000)
	require.NoError(t, err)
	systems := system.New(w)
	defer func() { require.NoError(t, systems.Close()) }()
	look := func() {}
	systems.Add("look", system.Func(func(*system.State) { look() }))
	addGivers(systems, purse, ecs.Register[mark](w))
	snapshots := systems.Snapshots()
	take := func() (s *system.Published) {
		taken := make(chan *system.Published)
		go func() {
			s, err := snapshots.Take(context.Background())
			if err != nil {
				t.Error(err)
			}
			taken <- s
		}()
		for s == nil {
			require.NoError(t, systems.Step(time.Millisecond))
			select {
			case s = <-taken:
			case <-time.After(time.Millisecond):
			}
		}
		return s
	}
	s := take()
	require.NoError(t, systems.Step(time.Millisecond))
	require.Positive(t, s.Kept())
	s.Release()
	looks := 0
	look = func() {
		looks++
		require.PanicsWithValue(t, "ecs: Snapshot.Kept: the snapshot is closed", func() { s.Kept() })
	}
	require.NoError(t, systems.Step(time.Millisecond))
	require.Equal(t, 1, looks)
}

// TestSnapshotsAreRefused: a context ends the wait, and so does Close.
func TestSnapshotsAreRefused(t *testing.T) {
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	systems := system.New(w)
	snapshots := systems.Snapshots()
	require.Same(t, snapshots, systems.Snapshots())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = snapshots.Take(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, systems.Step(0), "nobody waits")
	taken := make(chan *system.Published)
	go func() {
		s, err := snapshots.Take(context.Background())
		if err != nil {
			t.Error(err)
		}
		taken <- s
	}()
	var s *system.Published
	for s == nil {
		require.NoError(t, systems.Step(0))
		select {
		case s = <-taken:
		default:
			runtime.Gosched()
		}
	}
	require.Zero(t, s.Len())
	for _, name := range []string{"Close", "Renew", "Fork"} {
		_, has := reflect.TypeFor[*system.Published]().MethodByName(name)
		require.False(t, has, "%s belongs to the owner", name)
	}
	s.Release()
	s.Release()
	refused := make(chan error)
	go func() {
		_, err := snapshots.Take(context.Background())
		refused <- err
	}()
	time.Sleep(time.Millisecond)
	require.NoError(t, systems.Close())
	require.ErrorIs(t, <-refused, system.ErrClosed)
	_, err = snapshots.Take(context.Background())
	require.ErrorIs(t, err, system.ErrClosed)
}
