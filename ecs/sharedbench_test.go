package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
)

// BenchmarkShared: one entity between two values and among a thousand, a batch of a million
// to another value, and the rows of one value of a thousand.
func BenchmarkShared(b *testing.B) {
	w := ecstest.NewWorld(b)
	cell, position := ecs.RegisterShared[int](w), ecs.Register[ecstest.Position](w)
	a := ecs.NewArchetype(w, position, cell)
	for i := range 1000 {
		a.With(cell.Of(i)).Create()
	}
	e := a.Create()
	b.Run("set of two", func(b *testing.B) {
		for i := range b.N {
			cell.Set(e, i&1+1)
		}
	})
	b.Run("set of 1000", func(b *testing.B) {
		for i := range b.N {
			cell.Set(e, i*7919%1000)
		}
	})
	b.Run("add and remove", func(b *testing.B) {
		for i := range b.N {
			cell.Remove(e)
			cell.Add(e, i%1000)
		}
	})
	q := ecs.NewQuery(w, ecs.Read(position))
	b.Run("rows of", func(b *testing.B) {
		n := 0
		for i := range b.N {
			for rows := range q.Where(cell.Of(i % 1000)) {
				n += rows.Len()
			}
		}
		if n == 0 {
			b.Fatal("no rows")
		}
	})
	if _, err := ecs.NewArchetype(w, position, cell.Of(-1)).CreateN(1 << 20); err != nil {
		b.Fatal(err)
	}
	b.Run("put of a million", func(b *testing.B) {
		put := [2]*ecs.Change{ecs.NewChange(w, ecs.Put(cell.Of(-2))), ecs.NewChange(w, ecs.Put(cell.Of(-1)))}
		of := [2]*ecs.Query{ecs.NewQuery(w, ecs.Where(cell.Of(-1))), ecs.NewQuery(w, ecs.Where(cell.Of(-2)))}
		if of[0].Empty() {
			put[0], put[1], of[0], of[1] = put[1], put[0], of[1], of[0]
		}
		b.ResetTimer()
		for i := range b.N {
			if batch, err := put[i&1].ApplyQuery(of[i&1]); err != nil || batch.Len() != 1<<20 {
				b.Fatal(batch.Len(), err)
			}
		}
	})
}
