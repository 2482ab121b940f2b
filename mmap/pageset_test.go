package mmap_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// TestPageSet compares with the bool-by-bool twin, through random ranges over
// three granules that like their borders.
func TestPageSet(t *testing.T) {
	per := g / page
	edges := []int{0, 1, 2, per - 1, per, per + 1, per + 5, 2*per - 1, 2 * per, 2*per + 1, 3*per - 1, 3 * per}
	random := rand.New(rand.NewPCG(3, 4))
	var set mmap.Pages
	slow := make(slowSet, 3*per)
	for range 2000 {
		lo, hi := edges[random.IntN(len(edges))], edges[random.IntN(len(edges))]
		if hi < lo {
			lo, hi = hi, lo
		}
		if random.IntN(2) == 0 {
			set.Add(lo, hi)
			slow.fill(lo, hi, true)
		} else {
			set.Remove(lo, hi)
			slow.fill(lo, hi, false)
		}
		require.Equal(t, slow.runsIn(0, 3*per), set.RunsIn(0, 3*per))
		require.Equal(t, slow.runsIn(per-1, 2*per+1), set.RunsIn(per-1, 2*per+1))
		runs, touched := 0, 0
		var left [][2]int
		for i := range 3 {
			all := slow.runsIn(i*per, (i+1)*per)
			runs += len(all)
			if len(all) > 0 {
				touched++
			}
		}
		require.Equal(t, []int{runs, touched}, []int{set.Runs(), set.Granules()})
		for _, a := range edges {
			for _, b := range edges {
				for _, member := range []bool{true, false} {
					if a <= b && set.Next(a, b, member) != slow.next(a, b, member) {
						t.Fatalf("next(%d, %d, %v): got %d want %d",
							a, b, member, set.Next(a, b, member), slow.next(a, b, member))
					}
				}
			}
		}
		without := append(slowSet(nil), slow...)
		without.fill(per, 3*per, false)
		left = without.runsIn(0, 3*per)
		require.Equal(t, left, set.CutPaste(1, 3))
		require.Equal(t, slow.runsIn(0, 3*per), set.RunsIn(0, 3*per))
		require.Equal(t, runs, set.Runs())
	}
}
