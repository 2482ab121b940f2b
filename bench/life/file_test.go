package life_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/life"
	"quarry/bench/recorded"
	"quarry/ecs/image"
	"quarry/internal/debug"
	"quarry/internal/long"
)

// TestResumes: worlds that were saved at generation 500 and opened again have the known
// populations, births and deaths later, and their links are right.
func TestResumes(t *testing.T) {
	const saved = 500
	for name, p := range resumed(t) {
		last := 6000
		if n, ok := cost[name]; ok {
			last = n
		}
		if testing.Short() || debug.On {
			last = 600
		} else if !long.On() {
			last = min(last, 1200) // 700 generations after it was opened
		}
		t.Run(name, func(t *testing.T) {
			first, err := life.NewWorld(p)
			require.NoError(t, err)
			step(t, first, saved)
			path := filepath.Join(t.TempDir(), "life.world")
			err = image.SaveFile(first.ECS(), path)
			population := first.Population()
			require.NoError(t, errors.Join(err, first.Close()))
			w, err := life.OpenWorld(path, p)
			require.NoError(t, err)
			defer func() { require.NoError(t, w.Close()) }()
			require.Equal(t, population, w.Population())
			verify(t, w)
			at, seen := saved, 0
			for _, file := range []string{"life/expected.csv", "life/milestones.csv"} {
				for _, want := range readAnswers(t, file)[name] {
					if want.generation < at || want.generation > last {
						continue
					}
					step(t, w, want.generation-at)
					at = want.generation
					seen++
					require.Equal(t, want.population, w.Population(), "at %d", at)
					if want.births >= 0 {
						require.Equal(t, [2]int{want.births, want.deaths},
							[2]int{int(w.Births()), int(w.Deaths())}, "at %d", at)
					}
				}
			}
			require.Positive(t, seen)
			verify(t, w)
		})
	}
}

// resumed returns the shared patterns.
func resumed(t *testing.T) map[string]life.Pattern {
	all := map[string]life.Pattern{}
	for _, name := range slices.Sorted(maps.Keys(readAnswers(t, "life/expected.csv"))) {
		p, err := life.ReadRLE(recorded.Path(t, "life/"+name+".rle"))
		require.NoError(t, err)
		all[name] = p
	}
	return all
}
