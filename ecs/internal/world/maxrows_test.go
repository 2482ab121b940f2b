package world_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/alloc"
	"quarry/ecs"
	"quarry/ecs/internal/ecstest"

	"github.com/stretchr/testify/require"
)

// TestMaxRows: no chunk has more rows than the types of its entities allow, whatever brings rows to
// it, under any growth of chunks.
func TestMaxRows(t *testing.T) {
	for _, limits := range [][2]int{{1, 3}, {7, 8}, {100, 64}, {128, 1000}, {5000, 20_000}, {1 << 20, 1}} {
		for _, growth := range []alloc.Growth{alloc.Doubling().Capped(64), alloc.Fixed(1), alloc.Fixed(70)} {
			t.Run(fmt.Sprint(limits, growth), func(t *testing.T) { limitRows(t, limits, growth) })
		}
	}
}

// limitRows lets entities gain and lose two types with limits.
func limitRows(t *testing.T, limits [2]int, growth alloc.Growth) {
	type Few struct{ V int32 }
	type Marked struct{}
	w, err := ecs.NewWorld(ecs.ChunkGrowth(growth))
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	position := ecs.Register[ecstest.Position](w)
	few, marked := ecs.Register[Few](w, ecs.MaxRows(limits[0])), ecs.Register[Marked](w, ecs.MaxRows(limits[1]))
	n := min(40+4*min(limits[0], limits[1]), 3000) // universes of Go memory have 64 MiB
	var all []ecs.Entity
	check := func(what string) {
		require.NoError(t, w.Verify(), what)
		rows := 0
		for r := range ecs.NewQuery(w).Rows() {
			rows += r.Len()
			if a := r.Archetype(); a.Has(few) {
				require.LessOrEqual(t, r.Len(), limits[0], what)
			}
			if r.Archetype().Has(marked) {
				require.LessOrEqual(t, r.Len(), limits[1], what)
			}
		}
		require.Equal(t, len(all), rows, what)
		for i, e := range all {
			require.Equal(t, float64(i), position.Get(e).X, what)
		}
	}
	for _, a := range []*ecs.Archetype{ecs.NewArchetype(w, position), ecs.NewArchetype(w, position, few)} {
		batch, err := a.CreateN(n)
		require.NoError(t, err)
		all = append(all, batch.Entities(nil)...)
		for range 20 {
			all = append(all, a.Create())
		}
	}
	for i, e := range all {
		position.Set(e, ecstest.Position{X: float64(i)})
	}
	check("created")
	whole := ecs.NewQuery(w)
	for _, c := range []*ecs.Change{ecs.NewChange(w, ecs.Add(marked)), ecs.NewChange(w, ecs.Remove(few)),
		ecs.NewChange(w, ecs.Remove(marked)),
		ecs.NewChange(w, ecs.Add(few)), ecs.NewChange(w, ecs.Remove(few), ecs.Add(marked)),
		ecs.NewChange(w, ecs.Add(few), ecs.Remove(marked))} {
		_, err := c.ApplyQuery(whole)
		require.NoError(t, err)
		check(c.String())
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		switch e := all[r.IntN(len(all))]; r.IntN(4) {
		case 0:
			few.Add(e, Few{})
		case 1:
			few.Remove(e)
		case 2:
			marked.Add(e, Marked{})
		default:
			marked.Remove(e)
		}
	}
	check("one by one")
	w.Trim()
	check("trimmed")
	c, err := w.Clone()
	require.NoError(t, err)
	require.NoError(t, c.Verify())
	require.Equal(t, w.Hash(), c.Hash())
	require.NoError(t, c.Close())
}

// TestMaxRowsOfAPlan: the plan of an archetype has the least limit of its types, and a limit above
// 4,096 rows is of chunks of several units.
func TestMaxRowsOfAPlan(t *testing.T) {
	w := ecstest.NewWorld(t)
	type Tag struct{}
	type Byte struct{ V byte }
	position, tag := ecs.Register[ecstest.Position](w, ecs.MaxRows(300)), ecs.Register[Tag](w, ecs.MaxRows(100))
	small := ecs.Register[Byte](w, ecs.MaxRows(6000))
	require.Equal(t, 300, ecs.NewArchetype(w, position).Plan().Rows)
	require.Equal(t, 100, ecs.NewArchetype(w, position, tag).Plan().Rows)
	a := ecs.NewArchetype(w, small)
	_, err := a.CreateN(40_000)
	require.NoError(t, err)
	most := 0
	for rows := range ecs.NewQuery(w).Rows() {
		most = max(most, rows.Len())
	}
	require.LessOrEqual(t, most, 6000)
	require.Greater(t, most, 3000, "units join up to the limit")
}

// TestMaxRowsMisuse: broken contracts panic by name.
func TestMaxRowsMisuse(t *testing.T) {
	w := ecstest.NewWorld(t)
	ecs.Register[ecstest.Position](w, ecs.MaxRows(10))
	for want, f := range map[string]func(){
		"ecs: MaxRows: n=0 is less than 1":                                             func() { ecs.MaxRows(0) },
		"ecs: Register[Position]: registered before with other options":                func() { ecs.Register[ecstest.Position](w, ecs.MaxRows(11)) },
		"ecs: RegisterSparse[int8]: the only option of sparse types is Enableable":     func() { ecs.RegisterSparse[int8](w, ecs.MaxRows(1)) },
		"ecs: RegisterShared[int8]: the options of shared types are Cleanup and Codec": func() { ecs.RegisterShared[int8](w, ecs.MaxRows(1)) },
		"ecs: RegisterChunk[int8]: the only option of chunk types is Merge":            func() { ecs.RegisterChunk[int8](w, ecs.MaxRows(1)) },
	} {
		require.PanicsWithValue(t, want, f)
	}
}
