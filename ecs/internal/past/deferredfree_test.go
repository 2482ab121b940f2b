package past_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/past"
	"quarry/internal/universe/sentinel"
)

// life is a block of a model: it is part of the layers from born up to ended.
type life struct{ born, ended uint64 }

// TestKeptAgainstAModel frees and takes blocks beside layers: a block waits exactly as long as
// there is a layer that began in its life.
func TestKeptAgainstAModel(t *testing.T) {
	var p past.Past
	p.Open(newUniverse(t, 4<<20))
	r := rand.New(rand.NewPCG(3, 4))
	live, waiting, freed := map[int]life{}, map[int]life{}, map[int]bool{}
	var k past.DeferredFree[int]
	k.Open(&p, func(key int) {
		require.Contains(t, waiting, key)
		delete(waiting, key)
		freed[key] = true
	})
	var layers []*past.Layer
	part := func(l life) bool {
		return slices.ContainsFunc(layers, func(of *past.Layer) bool {
			return of.Number() > l.born && of.Number() <= l.ended
		})
	}
	waited, taken, next := 0, 0, 0
	for range 3000 {
		switch op := r.IntN(10); {
		case op < 3:
			live[next] = life{born: k.LayerNumber()}
			next++
		case op < 6 && len(live) > 0:
			key, l := some(r, live)
			l.ended = k.LayerNumber()
			require.Equal(t, part(l), p.Between(l.born, l.ended))
			require.Equal(t, part(l), k.Free(key, l.born))
			delete(live, key)
			if part(l) {
				waiting[key] = l
				waited++
			}
		case op == 6 && len(waiting) > 0: // as a restore does
			key, l := some(r, waiting)
			born, ok := k.Take(key)
			require.True(t, ok)
			require.Equal(t, l.born, born)
			delete(waiting, key)
			live[key] = life{born: born}
			_, ok = k.Take(key)
			require.False(t, ok)
			taken++
		case op == 7 && len(layers) < 6:
			layers = append(layers, p.Begin())
		case op == 8 && len(layers) > 0:
			at := r.IntN(len(layers))
			layers[at].Close()
			layers = slices.Delete(layers, at, at+1)
			k.Sweep()
		}
		require.Equal(t, len(waiting), k.Len())
		seen := map[int]bool{}
		k.Each(func(key int) { seen[key] = true })
		for key, l := range waiting {
			require.True(t, seen[key] && part(l), "%d waits, of %d to %d", key, l.born, l.ended)
		}
		for _, l := range live {
			require.Equal(t, part(life{l.born, k.LayerNumber()}), k.Has(l.born))
		}
	}
	for _, l := range layers {
		l.Close()
	}
	k.Sweep()
	require.Zero(t, k.Len())
	require.Greater(t, waited, 100)
	require.Greater(t, taken, 20)
	require.Greater(t, len(freed), 100)
}

// some returns one of the blocks.
func some(r *rand.Rand, of map[int]life) (int, life) {
	keys := make([]int, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	key := keys[r.IntN(len(keys))]
	return key, of[key]
}

// TestLose: layers that began after a block was born are lost, older ones are not, and the first
// reason stays.
func TestLose(t *testing.T) {
	var p past.Past
	p.Open(newUniverse(t, 4<<20))
	memory := make([]byte, past.UnitSize)
	m := p.Add(unsafe.Pointer(&memory[0]), len(memory))
	var k past.DeferredFree[int]
	k.Open(&p, func(int) {})
	one := p.Begin()
	born := k.LayerNumber()
	require.False(t, k.Has(born))
	two, three := p.Begin(), p.Begin()
	require.True(t, k.Has(born))
	k.Lose(born, sentinel.ErrFull)
	k.Lose(born, errors.New("another"))
	require.NoError(t, one.Err())
	for _, l := range []*past.Layer{two, three} {
		require.ErrorIs(t, l.Err(), sentinel.ErrFull)
		require.NotContains(t, l.Err().Error(), "another")
		require.ErrorIs(t, l.Read(m, 0, make([]byte, past.UnitSize)), sentinel.ErrFull)
	}
	require.NoError(t, one.Read(m, 0, make([]byte, past.UnitSize)))
	three.Close()
	four := p.Begin()
	require.NoError(t, four.Err(), "what is used again is not lost")
	for _, l := range []*past.Layer{four, two, one} {
		l.Close()
	}
}
