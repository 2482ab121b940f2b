package ecs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/ecstest"
	"quarry/ecs/internal/query"

	"github.com/stretchr/testify/require"
)

// BenchmarkSparseAddRemove adds a value to every entity and takes it away again, one by one and by
// a list; ns an entity for both. In order and shuffled.
func BenchmarkSparseAddRemove(b *testing.B) {
	for _, c := range []struct {
		n       int
		shuffle bool
	}{{16_000, false}, {16_000, true}, {1_000_000, true}} {
		w := ecstest.NewWorld(b)
		position := ecs.Register[ecstest.Position](w)
		velocity, thin := ecs.RegisterSparse[ecstest.Velocity](w), ecs.Register[ecstest.Velocity](w)
		batch, err := ecs.NewArchetype(w, position).CreateN(c.n)
		require.NoError(b, err)
		ids := batch.Entities(nil)
		if c.shuffle {
			rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		}
		name := fmt.Sprintf("n=%d/shuffled=%v/kind=", c.n, c.shuffle)
		b.Run(name+"sparse", func(b *testing.B) {
			for b.Loop() {
				for _, e := range ids {
					velocity.Add(e, ecstest.Velocity{X: 1, Y: 2})
				}
				for _, e := range ids {
					velocity.Remove(e)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/entity")
		})
		b.Run(name+"list", func(b *testing.B) {
			add, remove := ecs.NewChange(w, ecs.Add(velocity)), ecs.NewChange(w, ecs.Remove(velocity))
			for b.Loop() {
				_, err := add.ApplyList(ids)
				require.NoError(b, err)
				_, err = remove.ApplyList(ids)
				require.NoError(b, err)
			}
			perEntity(b, c.n)
		})
		b.Run(name+"column", func(b *testing.B) {
			for b.Loop() {
				for _, e := range ids {
					thin.Add(e, ecstest.Velocity{X: 1, Y: 2})
				}
				for _, e := range ids {
					thin.Remove(e)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/entity")
		})
	}
}

// half makes 16,000 entities of which every other has a Velocity of each of three kinds, the last
// switched on.
func half(b *testing.B) (w *ecs.World, position ecs.Component[ecstest.Position], sparse ecs.Sparse[ecstest.Velocity],
	bit ecs.Component[Kept], ids []ecs.Entity) {
	w = ecstest.NewWorld(b)
	position, bit = ecs.Register[ecstest.Position](w), ecs.Register[Kept](w, ecs.Enableable)
	sparse = ecs.RegisterSparse[ecstest.Velocity](w)
	batch, err := ecs.NewArchetype(w, position, bit).CreateN(16_000)
	require.NoError(b, err)
	ids = batch.Entities(nil)
	for i, e := range ids {
		if i%2 == 0 {
			sparse.Add(e, ecstest.Velocity{X: 1, Y: 2})
		} else {
			bit.Disable(e)
		}
	}
	return w, position, sparse, bit, ids
}

// perEntity reports ns for each of n entities.
func perEntity(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entity")
}

// BenchmarkSparseLoop: ns an entity that matches, of 16,000 of which every other has the second
// type: sparse, or dense and enabled.
func BenchmarkSparseLoop(b *testing.B) {
	w, position, fast, bit, ids := half(b)
	n := len(ids)
	per := perEntity
	mixed := ecs.NewQuery(w, ecs.Write(position), ecs.Read(fast))
	b.Run("mixed", func(b *testing.B) {
		for b.Loop() {
			for rows := range mixed.Rows() {
				p, v := position.Slice(rows), fast.Column(rows)
				for i := range rows.Each() {
					p[i].X += v.At(i).X
				}
			}
		}
		per(b, n/2)
	})
	b.Run("mask", func(b *testing.B) {
		for b.Loop() {
			managedSum += mixed.Count()
		}
		per(b, n/2)
	})
	bits := ecs.NewQuery(w, ecs.Write(position), ecs.Read(bit))
	b.Run("dense", func(b *testing.B) {
		for b.Loop() {
			for rows := range bits.Rows() {
				p, v := position.Slice(rows), bit.Slice(rows)
				for i := range rows.Each() {
					p[i].X += float64(v[i].N)
				}
			}
		}
		per(b, n/2)
	})
}

// BenchmarkSparseAlone: ns an entry of 8,000, in a loop over the set and over a slice.
func BenchmarkSparseAlone(b *testing.B) {
	_, _, fast, _, ids := half(b)
	n, per := len(ids), perEntity
	b.Run("set-slice", func(b *testing.B) {
		for b.Loop() {
			list := fast.Slice()
			for i := range list {
				list[i].X += 1
			}
		}
		per(b, n/2)
	})
	plain := make([]ecstest.Velocity, n/2)
	b.Run("slice", func(b *testing.B) {
		for b.Loop() {
			for i := range plain {
				plain[i].X += 1
			}
		}
		per(b, n/2)
	})
}

// BenchmarkSparseDrive: a loop over the entries of a set among 100,000 rows, through the chunks and
// through the set; ns a row of the chunks, and an entry of the set, whose entities are in no order.
func BenchmarkSparseDrive(b *testing.B) {
	const n, few = 100_000, 1000
	w := ecstest.NewWorld(b)
	fast := ecs.RegisterSparse[ecstest.Velocity](w)
	batch, err := ecs.NewArchetype(w, ecs.Register[ecstest.Position](w)).CreateN(n)
	require.NoError(b, err)
	ids := batch.Entities(nil)
	rand.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, e := range ids[:few] {
		fast.Add(e, ecstest.Velocity{X: 1, Y: 2})
	}
	q := ecs.NewQuery(w, ecs.Read(fast))
	for _, d := range []struct {
		name string
		by   query.Driver
		n    int
	}{{"chunks", query.DriveByChunks, n}, {"set", query.DriveBySet, few}} {
		b.Run(d.name, func(b *testing.B) {
			driveBy(q, d.by)
			for b.Loop() {
				for rows := range q.Rows() {
					managedSum += rows.Count()
				}
			}
			perEntity(b, d.n)
		})
	}
}
