package snapshot_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkRollback: a state is kept, some of n entities of 40 bytes move, and the state comes
// back; and the same by copies of slices. "all" moves every entity, "some" every tenth, side by
// side, and "none" none.
func BenchmarkRollback(b *testing.B) {
	for _, n := range []int{1_000, 5_000, 20_000, 100_000} {
		w := ecstest.NewWorld(b)
		position, velocity := ecs.Register[ecstest.Position](w), ecs.Register[ecstest.Velocity](w)
		_, err := ecs.NewArchetype(w, position, velocity).CreateN(n)
		require.NoError(b, err)
		q := ecs.NewQuery(w, ecs.Write(position), ecs.Read(velocity))
		p, pSaved := make([]ecstest.Position, n), make([]ecstest.Position, n)
		v, vSaved := make([]ecstest.Velocity, n), make([]ecstest.Velocity, n)
		ids, idsSaved := make([]uint64, n), make([]uint64, n)
		s := w.Snapshot()
		for _, c := range []struct {
			name string
			of   int
		}{{"all", 1}, {"some", 10}, {"none", 1 << 30}} {
			b.Run(fmt.Sprintf("%d/%s/quarry", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Renew()
					left := n / c.of
					for rows := range q.Rows() {
						if left == 0 {
							break
						}
						p, v := position.Slice(rows), velocity.Slice(rows)
						k := min(left, len(p))
						for i := range p[:k] {
							p[i].X += v[i].X
							p[i].Y += v[i].Y + 1
						}
						left -= k
					}
					if err := w.Restore(s); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%d/%s/slices", n, c.name), func(b *testing.B) {
				for b.Loop() {
					copy(pSaved, p)
					copy(vSaved, v)
					copy(idsSaved, ids)
					for i := range p[:n/c.of] {
						p[i].X += v[i].X
						p[i].Y += v[i].Y + 1
					}
					copy(p, pSaved)
					copy(v, vSaved)
					copy(ids, idsSaved)
				}
			})
		}
		s.Close()
	}
}
