package world_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkLookup reads one value of each of n entities, in their order in memory and
// in random order. The many and gather ways take 256 entities at a time.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{16_000, 1_000_000} {
		for _, order := range []string{"memory", "random"} {
			w, position, _, _ := ecstest.Movers(b, n)
			var ids []ecs.Entity
			for rows := range ecs.NewQuery(w, ecs.Read(position)).Rows() {
				ids = append(ids, rows.Entities()...)
			}
			if order == "random" {
				rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			}
			run := func(api string, sum func() float64) {
				b.Run(fmt.Sprintf("api=%s/order=%s/n=%d", api, order, n), func(b *testing.B) {
					steps := 0
					for b.Loop() {
						require.Zero(b, sum())
						steps++
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps*n), "ns/entity")
				})
			}
			run("get", func() (sum float64) {
				for _, e := range ids {
					sum += position.Get(e).X
				}
				return sum
			})
			run("mut", func() (sum float64) {
				for _, e := range ids {
					sum += position.Mut(e).X
				}
				return sum
			})
			const some = 256
			pointers := make([]*ecstest.Position, 0, some)
			run("getmany", func() (sum float64) {
				for part := range slices.Chunk(ids, some) {
					for _, p := range position.GetList(pointers[:0], part) {
						sum += p.X
					}
				}
				return sum
			})
			values := make([]ecstest.Position, some)
			run("gather", func() (sum float64) {
				for part := range slices.Chunk(ids, some) {
					position.CopyList(values[:len(part)], part)
					for i := range values[:len(part)] {
						sum += values[i].X
					}
				}
				return sum
			})
			require.NoError(b, w.Close())
		}
	}
}
