package ecs_test

import (
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkBuffer takes the calls on one buffer of 12-byte elements that is warm.
func BenchmarkBuffer(b *testing.B) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	defer w.Close()
	hits := ecs.RegisterBuffer[ecstest.Hit](w, ecs.Inline(8))
	e := ecs.NewArchetype(w, hits).Create()
	d := mut(b, hits, e)
	hit, sum := ecstest.Hit{By: e, Damage: 1}, 0
	fill := func(n int) {
		d.Clear()
		d.Trim()
		d.Resize(n)
	}
	run := func(name string, start int, f func()) {
		b.Run(name, func(b *testing.B) {
			fill(start)
			for b.Loop() {
				f()
			}
			require.GreaterOrEqual(b, d.Cap(), 8)
		})
	}
	until := func(n int, f func()) func() {
		return func() {
			if d.Len() == n {
				d.Clear()
			}
			f()
		}
	}
	run("op=append/inline", 0, until(8, func() { d.Append(hit) }))
	run("op=append/spilled", 1000, until(1000, func() { d.Append(hit) }))
	run("op=append8/spilled", 1000, until(1000, func() { d.Append(hit, hit, hit, hit, hit, hit, hit, hit) }))
	run("op=append-by-entity/spilled", 1000, until(1000, func() { hits.Append(e, hit) }))
	run("op=insert-middle+remove/n=100", 100, func() { d.Insert(50, hit); d.RemoveAt(50) })
	run("op=insert-middle/n=100", 100, func() {
		if d.Len() == 104 {
			d.ResizeUninitialized(100)
		}
		d.Insert(d.Len()/2, hit)
	})
	run("op=swapremove+append/n=100", 100, func() { d.SwapRemove(50); d.Append(hit) })
	run("op=slice", 100, func() { sum += len(d.Slice()) })
	run("op=spill+trim/n=9", 0, func() { d.Resize(9); d.Resize(8); d.Trim() })
	run("op=reinterpret", 100, func() { sum += ecs.Reinterpret[[3]int32](d).Len() })
	require.NotZero(b, sum)
}
