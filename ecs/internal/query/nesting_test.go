package query_test

import (
	"iter"
	"sync"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/internal/debug"

	"github.com/stretchr/testify/require"
)

// TestLoopBesideTheOwner: a goroutine that read while the world was lent loops again after End. In
// debug builds a loop of the owner that goes on inside that one panics, and both end.
func TestLoopBesideTheOwner(t *testing.T) {
	if !debug.On {
		t.Skip("only debug builds check it")
	}
	for name, rows := range map[string]int{"one chunk": 10, "many chunks": 3000} {
		w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
		position := ecs.Register[ecstest.Position](w)
		_, err := ecs.NewArchetype(w, position).CreateN(rows)
		require.NoError(t, err)
		q := ecs.NewQuery(w, ecs.Read(position))
		lent := w.Lend()
		read, loop, inside, leave := make(chan int), make(chan int), make(chan int), make(chan int)
		var reader sync.WaitGroup
		reader.Go(func() {
			for range q.Rows() { // as it may
				break
			}
			close(read)
			<-loop
			for range q.Rows() { // as it may not
				close(inside)
				<-leave
				break
			}
		})
		<-read
		lent.End()
		require.PanicsWithValue(t, "ecs: Query.Rows: it goes on inside a loop over query(Read Position) that began "+
			"after it: another goroutine loops beside the owner; see World.Lend", func() {
			for range q.Rows() {
				close(loop)
				<-inside
			}
		}, name)
		close(leave)
		reader.Wait()
		require.NoError(t, w.Verify(), name)
		require.Equal(t, rows, q.Count())
	}
}

// TestLoopsOfOneOwnerAfterTheOther: one goroutine at a time may own a world, inside a loop too.
func TestLoopsOfOneOwnerAfterTheOther(t *testing.T) {
	w, position, _, _ := ecstest.Movers(t, 10)
	defer w.Close()
	q := ecs.NewQuery(w, ecs.Read(position))
	for range q.Rows() {
		var other sync.WaitGroup
		other.Go(func() {
			for range q.Rows() { // its own
				break
			}
		})
		other.Wait()
	}
}

// TestPulledLoopsNest: loops under iter.Pull go on and end in any order, on the owner's behalf.
func TestPulledLoopsNest(t *testing.T) {
	w := ecstest.NewWorld(t, ecs.ChunkGrowth(alloc.Fixed(1)))
	position := ecs.Register[ecstest.Position](w)
	_, err := ecs.NewArchetype(w, position).CreateN(3000)
	require.NoError(t, err)
	q := ecs.NewQuery(w, ecs.Read(position))
	first, stopFirst := iter.Pull(q.Rows())
	first()
	second, stopSecond := iter.Pull(func(yield func(ecs.Rows) bool) { q.Rows()(yield) })
	second()
	for range q.Rows() { // inside both
		first()
		second()
		stopFirst()
		third, stopThird := iter.Pull(q.Rows())
		third()
		for range q.Rows() {
			third()
			stopSecond()
		}
		defer stopThird()
	}
	for range q.Rows() {
		break
	}
	require.Positive(t, q.Count())
}
