package blob_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs"
	"quarry/ecs/blob"
	"quarry/ecs/image"
)

// A twin is what a world with blobs should be: Go maps, blobs by the number that made them.
type twin struct {
	counts  map[int]int
	holders []held
}

// held is an entity and the number of the mesh that it holds.
type held struct {
	e ecs.Entity
	n int
}

func (x *twin) clone() *twin {
	c := &twin{counts: map[int]int{}, holders: slices.Clone(x.holders)}
	for n, count := range x.counts {
		c.counts[n] = count
	}
	return c
}

// stream does random operations on a world and its twin.
type stream struct {
	t      *testing.T
	random *rand.Rand
	w      *ecs.World
	s      *blob.Store
	twin   *twin
	meshes map[int]blob.Blob[Mesh]

	snapshot *ecs.Snapshot
	then     *twin
}

// open makes the store and the handles of a world that was opened.
func (x *stream) open(w *ecs.World) {
	x.w, x.s = w, newStore(x.t, w)
	x.drop()
}

func (x *stream) drop() {
	if x.snapshot != nil {
		x.snapshot.Close()
	}
	x.snapshot, x.then = nil, nil
}

// any returns the number of a blob that is there, or -1.
func (x *stream) any() int {
	all := make([]int, 0, len(x.twin.counts))
	for n := range x.twin.counts {
		all = append(all, n)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return -1
	}
	return all[x.random.IntN(len(all))]
}

func (x *stream) step() {
	switch n := x.any(); x.random.IntN(14) {
	case 0, 1, 2:
		n = x.random.IntN(40)
		x.meshes[n] = addMesh(x.t, x.s, n)
		x.twin.counts[n]++
	case 3:
		if n >= 0 {
			require.True(x.t, x.meshes[n].Retain(x.s))
			x.twin.counts[n]++
		}
	case 4, 5:
		if n >= 0 {
			require.True(x.t, x.meshes[n].Release(x.s))
			if x.twin.counts[n]--; x.twin.counts[n] == 0 {
				delete(x.twin.counts, n)
			}
		}
	case 6, 7:
		if n >= 0 {
			x.twin.holders = append(x.twin.holders, held{holder(x.w, x.meshes[n]), n})
		}
	case 8:
		if len(x.twin.holders) > 0 {
			h := x.twin.holders[x.random.IntN(len(x.twin.holders))]
			x.twin.holders = append(x.twin.holders, held{x.w.Instantiate(h.e), h.n})
		}
	case 9:
		if k := len(x.twin.holders); k > 0 {
			i := x.random.IntN(k)
			x.w.Destroy(x.twin.holders[i].e)
			x.twin.holders = slices.Delete(x.twin.holders, i, i+1)
		}
	case 10:
		x.sweep()
	case 11:
		x.reopen()
	case 12:
		x.drop()
		x.snapshot, x.then = x.w.Snapshot(), x.twin.clone()
	case 13:
		if x.snapshot != nil {
			require.NoError(x.t, x.w.Restore(x.snapshot))
			x.twin = x.then.clone()
			x.find()
		}
	}
}

// sweep sweeps both; a holder whose blob has been released holds nothing.
func (x *stream) sweep() {
	counts := map[int]int{}
	for _, h := range x.twin.holders {
		if _, alive := x.twin.counts[h.n]; alive && heldBy(x.w, h.e) == x.meshes[h.n] {
			counts[h.n]++
		}
	}
	require.Equal(x.t, len(x.twin.counts)-len(counts), x.s.Sweep())
	x.twin.counts = counts
}

// reopen goes on in a world from a file, or in a clone.
func (x *stream) reopen() {
	var file bytes.Buffer
	require.NoError(x.t, image.Save(x.w, &file))
	o, err := image.Load(&file, func(w *ecs.World) {
		blob.Register(w)
		ecs.Register[Shape](w)
	})
	require.NoError(x.t, err)
	x.drop()
	require.NoError(x.t, x.w.Close())
	x.open(o)
}

// find finds the blobs again, of which other ids may be alive than before.
func (x *stream) find() {
	for n := range x.twin.counts {
		x.meshes[n] = addMesh(x.t, x.s, n)
		x.meshes[n].Release(x.s)
	}
}

func (x *stream) check() {
	require.NoError(x.t, x.s.Verify())
	for n, m := range x.meshes {
		want := x.twin.counts[n]
		require.Equal(x.t, want, m.Count(x.s))
		if want == 0 {
			require.Nil(x.t, m.Get(x.s))
			delete(x.meshes, n)
			continue
		}
		checkMesh(x.t, m.Get(x.s), n)
	}
	for _, h := range x.twin.holders {
		if m := heldBy(x.w, h.e).Get(x.s); m != nil {
			checkMesh(x.t, m, h.n)
		}
	}
}

// TestModel does random operations beside the twin.
func TestModel(t *testing.T) {
	seeds := uint64(5)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		x := &stream{
			t: t, random: rand.New(rand.NewPCG(seed, 41)), twin: &twin{counts: map[int]int{}}, meshes: map[int]blob.Blob[Mesh]{},
		}
		w, err := ecs.NewWorld()
		require.NoError(t, err)
		x.open(w)
		for range 120 {
			x.step()
			x.check()
		}
		require.NoError(t, x.w.Verify())
		x.drop()
		require.NoError(t, x.w.Close())
	}
}
