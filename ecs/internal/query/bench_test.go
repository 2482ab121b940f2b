package query_test

import (
	"fmt"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// pairs makes n queries that ask for different pairs of labels.
func pairs(w *ecs.World, labels []ecs.Type, n int) (queries []*ecs.Query) {
	for i := range n {
		queries = append(queries, pairOf(w, labels, i))
	}
	return queries
}

func pairOf(w *ecs.World, labels []ecs.Type, i int) *ecs.Query {
	return ecs.NewQuery(w, ecs.With(labels[i%len(labels)]), ecs.Without(labels[(i+1+i/len(labels))%len(labels)]))
}

// BenchmarkOpenQueries opens and closes a query, and makes and gives up an archetype, beside others
// that are open and all ask for something else.
func BenchmarkOpenQueries(b *testing.B) {
	for _, open := range []int{0, 100, 10_000, 100_000} {
		w := ecstest.NewWorld(b)
		labels := ecstest.LabelsOf(w, 1000)
		queries := pairs(w, labels, open)
		archetype := []ecs.Type{labels[1], labels[2], labels[3]}
		b.Run(fmt.Sprintf("api=query/open=%d", open), func(b *testing.B) {
			for b.Loop() {
				pairOf(w, labels, open).Close()
			}
		})
		b.Run(fmt.Sprintf("api=archetype/open=%d", open), func(b *testing.B) {
			for b.Loop() {
				forgetAfter(w, func() { ecs.NewArchetype(w, archetype...) })
			}
		})
		for _, q := range queries {
			q.Close()
		}
		require.Zero(b, matchingsOf(w))
	}
}
