package query_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
)

// BenchmarkTrackRows compares a type that tracks rows with one that does not: a write of one of
// 16,000 entities, a loop that opens all rows to write, and a loop that looks for the 160 rows, 1
// %, that were written, in random places, by the mask or by visiting each row of the chunks.
func BenchmarkTrackRows(b *testing.B) {
	const n = 16_000
	for _, tracked := range []bool{false, true} {
		var options []ecs.TypeOption
		if tracked {
			options = append(options, ecs.TrackRows)
		}
		w, err := ecs.NewWorld()
		if err != nil {
			b.Fatal(err)
		}
		position := ecs.Register[ecstest.Position](w, options...)
		list := ecstest.CreateEach(ecs.NewArchetype(w, position), n)
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
		name := func(what string) string { return fmt.Sprintf("%s/tracked=%v", what, tracked) }
		b.Run(name("set"), func(b *testing.B) {
			for i := range b.N {
				position.Set(list[i%n], ecstest.Position{})
			}
		})
		writes := ecs.NewQuery(w, ecs.Write(position))
		b.Run(name("loop"), func(b *testing.B) {
			for range b.N {
				for rows := range writes.Rows() {
					p := position.Slice(rows)
					for k := range p {
						p[k].X++
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entity")
		})
		term := ecs.Changed(position)
		if tracked {
			term = term.Masked()
		}
		changed := ecs.NewQuery(w, ecs.Read(position), term)
		b.Run(name("changed"), func(b *testing.B) {
			sum := 0.0
			for i := range b.N {
				for k := range n / 100 {
					position.Set(list[(i*160+k)%n], ecstest.Position{X: 1})
				}
				for rows := range changed.Rows() {
					p := position.Slice(rows)
					if rows.Dense() {
						for k := range p {
							sum += float64(p[k].X)
						}
						continue
					}
					for k := range rows.Each() {
						sum += float64(p[k].X)
					}
				}
			}
			if sum < 0 {
				b.Fatal(sum)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n/100), "ns/entity")
		})
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
