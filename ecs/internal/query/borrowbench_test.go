package query_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/query"

	"github.com/stretchr/testify/require"
)

// BenchmarkBorrow is what a borrow costs beside the loop over rows that it replaces: ns a turn
// of Begin, Parts, the rows of each and End, by one goroutine.
func BenchmarkBorrow(b *testing.B) {
	for _, n := range []int{1, 1000, 100_000} {
		w := ecstest.NewWorld(b)
		position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
		_, err := ecs.NewArchetype(w, position, velocity).CreateN(n)
		require.NoError(b, err)
		q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
		move := func(rows ecs.Rows) {
			p, v := position.Slice(rows), velocity.Slice(rows)
			for i := range p {
				p[i].X += v[i].X
			}
		}
		b.Run(fmt.Sprintf("by=loop/n=%d", n), func(b *testing.B) {
			for range b.N {
				for rows := range q.Rows() {
					move(rows)
				}
			}
		})
		b.Run(fmt.Sprintf("by=borrow/n=%d", n), func(b *testing.B) {
			l := door.NewBorrow(q, "job move", func(string) {})
			r := ecstest.AccessorOf(l)
			var parts []query.RowRange
			for range b.N {
				ecstest.Begin(l)
				parts = ecstest.Split(l, parts[:0], 1024)
				for _, part := range parts {
					if rows, ok := ecstest.RowsOf(r, part); ok {
						move(rows)
					}
				}
				l.End()
			}
		})
	}
}
