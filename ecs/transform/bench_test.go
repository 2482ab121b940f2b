package transform_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/job"
	"quarry/ecs/transform"
)

// forest makes n nodes, ten below each, in the order of levels or at random.
func forest(b *testing.B, n int, shuffled bool) (scene, []ecs.Entity) {
	s := newScene(b)
	made, err := ecs.NewArchetype(s.w, s.t.LocalType(), s.t.MatrixType(), s.h.ParentType(), s.h.ChildType()).CreateN(n)
	require.NoError(b, err)
	nodes := made.Entities(nil)
	if shuffled {
		rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	}
	for i, e := range nodes {
		s.t.LocalType().Set(e, transform.At(1, 0, 0).RotateY(float32(i)))
		if i > 0 {
			require.NoError(b, s.h.SetParent(e, nodes[(i-1)/10]))
		}
	}
	return s, nodes
}

// BenchmarkParallel: matrices of 100,000 nodes, all of which moved, by the owner and by two
// workers.
func BenchmarkParallel(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			s, nodes := forest(b, 100_000, false)
			if workers > 1 {
				jobs := job.NewScheduler(s.w, job.Workers(workers))
				defer jobs.Close()
				s.t.Parallel(jobs)
			}
			for b.Loop() {
				s.t.LocalType().Mut(nodes[0])
				s.t.Update()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(nodes)), "ns/matrix")
		})
	}
}

// BenchmarkUpdate: matrices of 100,000 nodes, all of which moved, or the root alone, or none, or
// of which 1 % were written, any, which move 13 %, or leaves alone.
func BenchmarkUpdate(b *testing.B) {
	const n = 100_000
	for _, shuffled := range []bool{false, true} {
		for _, moved := range []string{"all", "root", "1%", "1%-leaves", "none"} {
			b.Run(fmt.Sprint(map[bool]string{false: "in-order", true: "shuffled"}[shuffled], "/", moved),
				func(b *testing.B) {
					s, nodes := forest(b, n, shuffled)
					r := rand.New(rand.NewPCG(3, 4))
					some := make([]ecs.Entity, n/100)
					for i := range some {
						some[i] = nodes[r.IntN(n)]
						if moved == "1%-leaves" {
							some[i] = nodes[n/2+r.IntN(n/2)]
						}
					}
					q := ecs.NewQuery(s.w, ecs.Write(s.t.LocalType()))
					s.t.Update()
					computed := 0
					for b.Loop() {
						b.StopTimer()
						switch moved {
						case "all":
							for rows := range q.Rows() {
								s.t.LocalType().Slice(rows)[0].Scale = 1
							}
						case "root":
							s.t.LocalType().Mut(nodes[0])
						case "1%", "1%-leaves":
							for _, e := range some {
								s.t.LocalType().Mut(e)
							}
						}
						b.StartTimer()
						computed += s.t.Update()
					}
					b.ReportMetric(float64(computed)/float64(b.N), "matrices")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "us/frame")
					if computed > 0 {
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(computed), "ns/matrix")
					}
				})
		}
	}
}
