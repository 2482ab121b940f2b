package bake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/orbits"
	"quarry/bench/recorded"
	"quarry/ecs"
	"quarry/ecs/scene"
)

// TestBelt bakes the shared catalogue, loads it and compares it row by row.
func TestBelt(t *testing.T) {
	f, err := os.Open(recorded.Path(t, "orbits/sbdb_60k_f32x8.bin"))
	require.NoError(t, err)
	bodies, err := orbits.ReadSBDB("sbdb", f, 2460000.5)
	require.NoError(t, f.Close())
	require.NoError(t, err)
	require.Greater(t, len(bodies), 50_000)
	compareBelt(t, bodies)
}

// TestBeltRows does the same with rows that are made up.
func TestBeltRows(t *testing.T) {
	bodies := make([]orbits.Elements, 300)
	for i := range bodies {
		bodies[i] = orbits.Elements{A: 1 + float64(i), E: .5, N: 1e-3, M: float64(i) / 300, Epoch: orbits.J2000}
	}
	compareBelt(t, bodies)
	bodies[7].E = 1
	b, err := newBakery()
	require.NoError(t, err)
	_, err = b.Bake(t.TempDir(), belt(bodies))
	require.ErrorContains(t, err, "body-7 (row 7)")
	require.NoError(t, b.Close())
}

func compareBelt(t *testing.T, bodies []orbits.Elements) {
	folder := t.TempDir()
	b, err := newBakery()
	require.NoError(t, err)
	_, err = b.Bake(folder, belt(bodies))
	require.NoError(t, err)
	require.NoError(t, b.Close())
	w, list := openWorld(t, folder, "belt")
	require.Equal(t, len(bodies), list[0].Len())
	body := ecs.Register[Body](w)
	q := ecs.NewQuery(w, ecs.Read(body), ecs.With(ecs.Register[scene.Identity](w)))
	require.Equal(t, len(bodies), q.Count())
	q.Close()
	for row, want := range bodies {
		got := body.Get(list[0].Entity(bodyID(row)))
		if got == nil || got.Elements != want {
			require.Failf(t, "differs", "row %d: got %+v want %+v", row, got, want)
		}
	}
}
