package world_test

import (
	"slices"
	"testing"

	"quarry/asm"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// BenchmarkHash hashes rows of some kinds of values; B/s are of values, without entities.
func BenchmarkHash(b *testing.B) {
	const n = 100_000
	w := ecstest.NewWorld(b)
	position := ecs.Register[ecstest.Position](w)
	owner := ecs.Register[ecstest.Owner](w)
	hit := ecs.Register[ecstest.Hit](w)
	for name, of := range map[string]struct {
		t    ecs.Type
		size int64
	}{"position": {position, 16}, "entity": {owner, 8}, "gathered": {hit, 12}} {
		b.Run(name, func(b *testing.B) {
			batch, err := ecs.NewArchetype(w, of.t).CreateN(n)
			require.NoError(b, err)
			ids := batch.Entities(nil)
			b.SetBytes(n * of.size)
			b.ResetTimer()
			for b.Loop() {
				w.Hash()
			}
			b.StopTimer()
			w.DestroyList(ids)
		})
	}
}

// parts are values of 40 bytes in three columns.
type (
	place struct{ X, Y, Z float32 }
	speed struct{ X, Y, Z, Turn float32 }
	state struct {
		HP, Max float32
		Flags   uint32
	}
)

// millionWorld returns a world of a million entities of place, speed and state.
func millionWorld(b *testing.B) (*ecs.World, ecs.Component[place]) {
	w := ecstest.NewWorld(b)
	places, speeds := ecs.Register[place](w), ecs.Register[speed](w)
	states := ecs.Register[state](w)
	_, err := ecs.NewArchetype(w, places, speeds, states).CreateN(1_000_000)
	require.NoError(b, err)
	i := float32(0)
	for rows := range ecs.NewQuery(w, ecs.Write(places), ecs.Write(speeds)).Rows() {
		p, s := places.Slice(rows), speeds.Slice(rows)
		for k := range p {
			i++
			p[k], s[k] = place{i, i * 2, 3}, speed{1, i, 3, 4}
		}
	}
	return w, places
}

// BenchmarkHashMillion hashes a million rows of 40 bytes, and compares as many bytes of arrays, ids
// included, with themselves elsewhere and with nothing: what memory allows.
func BenchmarkHashMillion(b *testing.B) {
	w, _ := millionWorld(b)
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			w.Hash()
		}
	})
	arrays, copies := make([]uint64, 6_000_000), make([]uint64, 6_000_000)
	for i := range arrays {
		arrays[i], copies[i] = uint64(i), uint64(i)
	}
	b.Run("memcmp", func(b *testing.B) {
		for b.Loop() {
			if !slices.Equal(arrays, copies) {
				b.Fatal("they differ")
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		sum := 0
		for b.Loop() {
			sum += asm.PopCount(arrays)
		}
		_ = sum
	})
}
