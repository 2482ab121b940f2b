package container

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

// TestMapWalkWhileChanged changes a map in each turn of a loop over it, and checks the promise of
// All against a list of what was there all the time.
func TestMapWalkWhileChanged(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 0))
		m, model := newMap[int, int](t), map[int]int{}
		if round%4 == 1 {
			m.kept = 1<<42 - 1 // one table for ever
		}
		keys := 1 + r.IntN(3000)
		for range r.IntN(2 * keys) {
			mapStep(t, m, model, r.IntN(12), r.IntN(keys), r.Int())
		}
		always := map[int]bool{} // keys that are there since the loop began
		for key := range model {
			always[key] = true
		}
		shown := map[int]bool{}
		ops, burst := 12, r.IntN(4)
		if round%3 == 0 {
			ops = 16 * 16 * 100 // with Trim, Clear and Reserve
		}
		stop := -1
		if round%7 == 0 {
			stop = r.IntN(keys)
		}
		for key, value := range m.All() {
			require.False(t, shown[key], "shown twice")
			shown[key] = true
			want, ok := model[key]
			require.True(t, ok, "a key that was removed is shown")
			require.Equal(t, want, value)
			if len(shown) == stop {
				break
			}
			for range burst {
				op, key := r.IntN(ops), r.IntN(keys+keys/4)
				if len(shown)%200 == 100 && ops > 12 {
					op = 14 // Trim, often enough that tables merge
				}
				mapStep(t, m, model, op, key, r.Int())
				if _, ok := model[key]; !ok {
					delete(always, key)
				}
				if op%16 == 15 && op/16%16 == 0 {
					clear(always)
				}
			}
			if r.IntN(500) == 0 && round%2 == 0 { // many are removed at once
				for i := range keys {
					if i%8 != 0 {
						m.Delete(i)
						delete(model, i)
						delete(always, i)
					}
				}
				require.NoError(t, m.Trim())
			}
		}
		if len(shown) != stop {
			for key := range always {
				require.True(t, shown[key], "key %d of %d was there all the time and is not shown", key, keys)
			}
		}
		sameAsModel(t, m, model)
		m.Close()
	}
}

// TestMapWalkNaN: NaNs cannot be looked up, and are shown once all the same while tables split,
// merge and move.
func TestMapWalkNaN(t *testing.T) {
	m := newMap[float64, int](t)
	const n = 3000
	for i := range n {
		require.NoError(t, m.Set(nanOrNumber(4*(i%2)+i*8+i%2), i))
	}
	seen := map[int]int{}
	turn := 0
	for _, value := range m.All() {
		if value < n {
			seen[value]++
		}
		if turn++; turn < 2*n {
			require.NoError(t, m.Set(nanOrNumber(turn), n+turn))
			require.NoError(t, m.Set(float64(turn)+0.5, n+turn))
		} else if turn%1000 == 0 {
			require.NoError(t, m.Trim())
		}
	}
	for value, times := range seen {
		require.Equal(t, 1, times, "%d", value)
	}
	require.NoError(t, m.Verify())
	turn = 0
	for range m.All() {
		if turn++; turn == 100 {
			m.Clear()
		}
	}
	require.Equal(t, 100, turn)
}

func TestMapWalkNested(t *testing.T) {
	m := newMap[int, int](t)
	for i := range 50 {
		require.NoError(t, m.Set(i, i))
	}
	turns := 0
	for a := range m.All() {
		for b := range m.All() {
			if a == b {
				m.Delete(a)
			}
			turns++
		}
	}
	require.Zero(t, m.Len())
	require.Equal(t, 50*51/2, turns)
	for range m.All() {
		t.Fatal("an entry of an empty map")
	}
}

// TestMapWalkAfterItsAllocator: a loop whose body takes the map's blocks away reads none of them.
func TestMapWalkAfterItsAllocator(t *testing.T) {
	a := alloc.NewArena(openHeap(t))
	defer a.Close()
	m, err := NewMap[int, int](a)
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, m.Set(i, i))
	}
	shown := 0
	require.PanicsWithValue(t, "container: Map.All: "+goneText, func() {
		for range m.All() {
			shown++
			a.Reset(0)
		}
	})
	require.Equal(t, 1, shown)
}
