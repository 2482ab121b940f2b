package edit_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkHole loops over Position and cargo, of which one number is read, in an
// archetype's own layout and in one with a hole of 16 of 136 bytes and of 36 of 156.
func BenchmarkHole(b *testing.B) {
	for _, n := range []int{1000, 16_000, 250_000, 1_000_000} {
		for _, hole := range []int{0, 16, 36} {
			b.Run(fmt.Sprintf("hole=%d/n=%d", hole, n), func(b *testing.B) {
				w, err := ecs.NewWorld()
				require.NoError(b, err)
				defer w.Close()
				position, load := ecs.Register[ecstest.Position](w), ecs.Register[cargo](w)
				types := []ecs.Type{position, load}
				gone := map[int][]ecs.Type{
					16: {ecs.Register[ecstest.Velocity](w)}, 36: {ecs.Register[[36]byte](w)},
				}[hole]
				_, err = ecs.NewArchetype(w, append(types, gone...)...).CreateN(n)
				require.NoError(b, err)
				if hole > 0 {
					_, err = ecs.NewChange(w, ecs.Remove(gone...)).ApplyQuery(ecs.NewQuery(w))
					require.NoError(b, err)
				}
				a, q, sum := ecs.NewArchetype(w, types...), ecs.NewQuery(w, ecs.Write(position), ecs.Read(load)), 0.0
				for b.Loop() {
					for rows := range q.Rows() {
						p, c := position.Slice(rows), load.Slice(rows)
						c = c[:len(p)]
						for i := range p {
							p[i].X += float64(c[i].V[0]) + 1
						}
					}
					sum++
				}
				for rows := range q.Rows() {
					require.Equal(b, sum, position.Slice(rows)[rows.Len()-1].X)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/sum/float64(n), "ns/entity")
				b.ReportMetric(float64(w.Stats().Chunks<<14)/float64(n), "B/entity")
				require.Equal(b, n, a.Len())
			})
		}
	}
}
