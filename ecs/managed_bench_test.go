package ecs_test

import (
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
)

type boxed struct {
	Next *boxed
	n    int
}

var managedSum int

// BenchmarkManaged loops over 100,000 values: in the order in which they were made, after
// half of the entities were replaced in random order, and as a plain slice, which is what
// values beside each chunk would be at best; and looks them up by entity.
func BenchmarkManaged(b *testing.B) {
	const rows = 100_000
	w := ecstest.NewWorld(b)
	value := ecs.RegisterManaged[boxed](w)
	a := ecs.NewArchetype(w, value)
	list := make([]ecs.Entity, rows)
	for i := range list {
		list[i] = a.Create()
		value.Set(list[i], boxed{n: i})
	}
	perRow := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row") }
	q := ecs.NewQuery(w, ecs.Read(value))
	at := func(b *testing.B) {
		for b.Loop() {
			for rows := range q.Rows() {
				for i := range rows.Len() {
					managedSum += value.At(rows, i).n
				}
			}
		}
		perRow(b)
	}
	slots := func(b *testing.B) {
		for b.Loop() {
			for rows := range q.Rows() {
				managedSum += value.Sum(rows, func(v *boxed) int { return v.n })
			}
		}
		perRow(b)
	}
	b.Run("At/ordered", at)
	b.Run("slots/ordered", slots)
	b.Run("Get", func(b *testing.B) {
		for b.Loop() {
			for _, e := range list {
				managedSum += value.Get(e).n
			}
		}
		perRow(b)
	})
	r := rand.New(rand.NewPCG(1, 2))
	for range rows / 2 {
		i := r.IntN(rows)
		w.Destroy(list[i])
		list[i] = a.Create()
	}
	for rows := range ecs.NewQuery(w, ecs.Write(value)).Rows() {
		for i := range rows.Len() {
			value.At(rows, i).n = i
		}
	}
	b.Run("At/churned", at)
	b.Run("slots/churned", slots)
	plain := make([]boxed, rows)
	b.Run("slice", func(b *testing.B) {
		for b.Loop() {
			for i := range plain {
				managedSum += plain[i].n
			}
		}
		perRow(b)
	})
	b.Run("AddRemove", func(b *testing.B) {
		for b.Loop() {
			for _, e := range list[:1000] {
				value.Remove(e)
			}
			for _, e := range list[:1000] {
				value.Add(e, boxed{})
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/pair")
	})
}
