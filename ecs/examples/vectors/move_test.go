package vectors

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
)

// world has n movers, of which the last of the speeds is known.
func world(t testing.TB, n int) (*ecs.Query, ecs.Component[Place], ecs.Component[Speed]) {
	t.Helper()
	w, err := ecs.NewWorld()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	place, speed := ecs.Register[Place](w), ecs.Register[Speed](w)
	batch, err := ecs.NewArchetype(w, place, speed).CreateN(n)
	require.NoError(t, err)
	i := 0
	for rows := range batch.Rows() {
		v := speed.Slice(rows)
		for k := range v {
			v[k] = Speed{X: float64(i), Y: float64(-i) / 2}
			i++
		}
	}
	return ecs.NewQuery(w, ecs.Write(place), ecs.Read(speed)), place, speed
}

// moveAll runs a loop over columns on every chunk of a query.
func moveAll(q *ecs.Query, place ecs.Component[Place], speed ecs.Component[Speed], loop func([]Place, []Speed)) {
	for rows := range q.Rows() {
		loop(place.Slice(rows), speed.Slice(rows))
	}
}

// TestMove: every entity is where its speed took it.
func TestMove(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000, 5000} {
		q, place, speed := world(t, n)
		for range 3 {
			moveAll(q, place, speed, Move)
		}
		i := 0
		for rows := range q.Rows() {
			for _, p := range place.Slice(rows) {
				require.Equal(t, Place{X: 3 * float64(i), Y: -1.5 * float64(i)}, p)
				i++
			}
		}
		require.Equal(t, n, i)
	}
}

func TestMoveFive(t *testing.T) {
	p, a, c := make([]Place, 5), make([]Place, 5), make([]Place, 5)
	v, b := make([]Speed, 5), make([]Speed, 6)
	for i := range p {
		v[i], b[i] = Speed{X: float64(i), Y: 1}, Speed{X: 2, Y: float64(i)}
	}
	MoveFive(p, v, a, b, c)
	MoveFive(p, v, a, b, c)
	for i := range p {
		require.Equal(t, Place{X: 2 * float64(i), Y: 2}, p[i])
		require.Equal(t, Place{X: 4, Y: 2 * float64(i)}, a[i])
		require.Equal(t, p[i], c[i])
	}
}

// BenchmarkPlain is what GOAMD64=v1 and v3 are compared by.
func BenchmarkPlain(b *testing.B) {
	for _, n := range []int{128, 1000, 16_000} {
		p, a, c := make([]Place, n), make([]Place, n), make([]Place, n)
		v, s := make([]Speed, n), make([]Speed, n)
		b.Run(fmt.Sprintf("columns=2/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				Move(p, v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
		b.Run(fmt.Sprintf("columns=5/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				MoveFive(p, v, a, s, c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}
