package job_test

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/job"

	"github.com/stretchr/testify/require"
)

type (
	Position struct{ X, Y float64 }
	Velocity struct{ X, Y float64 }
	Count    struct{ N int64 }
	Awake    struct{ N int64 }
	Target   struct{ E ecs.Entity }
)

// world is a world with what the tests of jobs need.
type world struct {
	*ecs.World
	position ecs.Component[Position]
	velocity ecs.Component[Velocity]
	count    ecs.Component[Count]
	awake    ecs.Component[Awake] // Enableable
	target   ecs.Component[Target]
	all      *ecs.Archetype // of position, velocity and count
	chunk    int            // rows of one of its chunks
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w, err := ecs.NewWorld(ecs.ChunkGrowth(alloc.Fixed(1)))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, w.Verify())
		require.NoError(t, w.Close())
	})
	v := &world{World: w, position: ecs.Register[Position](w), velocity: ecs.Register[Velocity](w),
		count: ecs.Register[Count](w),
		awake: ecs.Register[Awake](w, ecs.Enableable), target: ecs.Register[Target](w)}
	v.all = ecs.NewArchetype(w, v.position, v.velocity, v.count)
	v.chunk = v.all.Plan().Rows
	return v
}

// fill makes n entities with random places and speeds.
func (w *world) fill(t testing.TB, n int) []ecs.Entity {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	b, err := w.all.CreateN(n)
	require.NoError(t, err)
	for rows := range b.Rows() {
		p, v := w.position.Slice(rows), w.velocity.Slice(rows)
		for i := range p {
			p[i] = Position{r.Float64(), r.Float64()}
			v[i] = Velocity{r.NormFloat64(), r.NormFloat64()}
		}
	}
	return b.Entities(nil)
}

// schedule makes a scheduler whose workers are woken for everything and yield at random.
func (w *world) schedule(t testing.TB, workers int, options ...job.Option) *job.Scheduler {
	t.Helper()
	s := job.NewScheduler(w.World, append([]job.Option{job.Workers(workers), job.Inline(0), job.Yields(yield)},
		options...)...)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func yield() {
	switch rand.IntN(8) {
	case 0:
		time.Sleep(time.Microsecond)
	case 1, 2:
		runtime.Gosched()
	}
}

// meeting lets n goroutines wait for each other, for some seconds at most.
type meeting struct {
	n       int32
	arrived atomic.Int32
}

func (m *meeting) wait() (met bool) {
	m.arrived.Add(1)
	for end := time.Now().Add(20 * time.Second); m.arrived.Load() < m.n; {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(20 * time.Microsecond)
	}
	return true
}

// counts returns the Count of each entity, in the order of rows.
func (w *world) counts(q *ecs.Query) []int64 {
	list := []int64{}
	for rows := range q.Rows() {
		for _, c := range w.count.Slice(rows) {
			list = append(list, c.N)
		}
	}
	return list
}
