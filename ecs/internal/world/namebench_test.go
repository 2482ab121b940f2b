package world_test

import (
	"fmt"
	"runtime"
	"testing"

	"quarry/ecs"

	"github.com/stretchr/testify/require"
)

const benchNames = 20_000

// namedWorld returns a world with entities, and twice as many texts.
func namedWorld(b *testing.B) (w *ecs.World, a *ecs.Archetype, ids []ecs.Entity, texts []string) {
	w, err := ecs.NewWorld()
	require.NoError(b, err)
	a = ecs.NewArchetype(w)
	batch, err := a.CreateN(benchNames)
	require.NoError(b, err)
	for i := range 2 * benchNames {
		texts = append(texts, fmt.Sprint("the entity number ", i))
	}
	return w, a, batch.Entities(nil), texts
}

// shuffled returns the i'th of the entities' positions, in no order.
func shuffled(i int) int { return i * 7919 % benchNames }

// BenchmarkNewNames gives 20,000 entities their first names; an op is one name.
func BenchmarkNewNames(b *testing.B) {
	w, _, ids, texts := namedWorld(b)
	twins := make([]ecs.Entity, benchNames)
	fresh, done := (*ecs.World)(nil), benchNames
	for b.Loop() {
		if done == benchNames {
			b.StopTimer()
			if fresh != nil {
				require.NoError(b, fresh.Close())
			}
			var err error
			fresh, err = w.Clone()
			require.NoError(b, err)
			for i, e := range ids {
				twins[i], _ = fresh.Entity(int(e.Index()), e.Version())
			}
			done = 0
			b.StartTimer()
		}
		fresh.SetName(twins[shuffled(done)], texts[shuffled(done)])
		done++
	}
	require.NoError(b, fresh.Close())
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	for i, e := range ids {
		w.SetName(e, texts[i])
	}
	b.ReportMetric((heap()-before)/benchNames, "heap-B/name")
	require.NoError(b, w.Close())
}

// BenchmarkNames measures names in a world of 20,000 named entities; an op is one name.
func BenchmarkNames(b *testing.B) {
	w, a, ids, texts := namedWorld(b)
	each := func(title string, op func(i int)) {
		for i, e := range ids {
			w.SetName(e, texts[i])
		}
		b.Run(title, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				op(shuffled(i % benchNames))
			}
		})
	}
	each("same", func(i int) { w.SetName(ids[i], texts[i]) })
	each("Name", func(i int) { w.Name(ids[i]) })
	each("Named", func(i int) { w.Named(texts[i]) })
	round := 0
	each("replace", func(i int) {
		if i == 0 {
			round++
		}
		w.SetName(ids[i], texts[i+(round&1)*benchNames])
	})
	each("Destroy and name", func(i int) {
		w.Destroy(ids[i])
		ids[i] = a.Create()
		w.SetName(ids[i], texts[i])
	})
	each("Destroy without a name", func(int) { w.Destroy(a.Create()) })
	s := w.Snapshot()
	each("replace after a snapshot", func(i int) {
		s.Renew()
		w.SetName(ids[i], texts[benchNames+i])
		w.SetName(ids[i], texts[i])
	})
	s.Close()
	require.NoError(b, w.Verify())
	require.NoError(b, w.Close())
}
