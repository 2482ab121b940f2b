package bake

import (
	"fmt"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/stretchr/testify/require"

	"quarry/bench/orbits"
	"quarry/ecs/scene"
)

// BenchmarkBake bakes all objects by a new bakery, or again after an edit of one. The former gives
// how many entities it makes in a second.
func BenchmarkBake(b *testing.B) {
	for _, n := range []int{10_000, 60_000} {
		bodies := make([]orbits.Elements, n)
		for i := range bodies {
			bodies[i] = orbits.Elements{A: 1 + float64(i), E: .5, N: 1e-3, Epoch: orbits.J2000}
		}
		bench(b, "belt", belt(bodies), func(o *scene.Object, k int) {
			v := o.Value.(Orbit)
			v.M = float64(k)
			o.Value = v
		})
		doc, err := gltf.Open(forest(b, 1, n, b.TempDir()))
		require.NoError(b, err)
		list, err := nodes(doc, "forest")
		require.NoError(b, err)
		bench(b, "gltf", list, func(o *scene.Object, k int) {
			v := o.Value.(Node)
			v.Translation[0] = float32(k)
			o.Value = v
		})
	}
}

func bench(b *testing.B, name string, objects []scene.Object, edit func(o *scene.Object, k int)) {
	folder := b.TempDir()
	name = fmt.Sprintf("%s/n=%d", name, len(objects))
	b.Run(name+"/full", func(b *testing.B) {
		for b.Loop() {
			y, err := newBakery()
			require.NoError(b, err)
			_, err = y.Bake(folder, objects)
			require.NoError(b, err)
			b.StopTimer()
			require.NoError(b, y.Close())
			b.StartTimer()
		}
		b.ReportMetric(float64(len(objects)*b.N)/b.Elapsed().Seconds(), "entities/s")
	})
	b.Run(name+"/edit", func(b *testing.B) {
		y, err := newBakery()
		require.NoError(b, err)
		_, err = y.Bake(folder, objects)
		require.NoError(b, err)
		for k := 1; b.Loop(); k++ {
			edit(&objects[k%len(objects)], k)
			report, err := y.Bake(folder, objects)
			require.NoError(b, err)
			require.Equal(b, 1, report.Baked)
		}
		require.NoError(b, y.Close())
	})
}
