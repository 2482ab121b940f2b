package mmap_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/mmap"
)

// slowSet is the obvious twin of granules.
type slowSet []bool

func (s slowSet) fill(lo, hi int, to bool) {
	for g := lo; g < hi; g++ {
		s[g] = to
	}
}

func (s slowSet) next(lo, hi int, member bool) int {
	for g := lo; g < hi; g++ {
		if s[g] == member {
			return g
		}
	}
	return hi
}

func (s slowSet) runsIn(lo, hi int) (all [][2]int) {
	for g := lo; g < hi; g++ {
		switch {
		case !s[g]:
		case len(all) > 0 && all[len(all)-1][1] == g:
			all[len(all)-1][1]++
		default:
			all = append(all, [2]int{g, g + 1})
		}
	}
	return all
}

// TestGranules compares with the twin: every pair of ranges, one set and one
// cleared, over three words and a bit.
func TestGranules(t *testing.T) {
	const n = 194
	edges := []int{0, 1, 2, 31, 62, 63, 64, 65, 66, 100, 126, 127, 128, 129, 191, 192, 193, 194}
	check := func(set mmap.Set, slow slowSet) {
		all := slow.runsIn(0, n)
		members := 0
		for g := range n {
			if slow[g] {
				members++
			}
			if set.Has(g) != slow[g] {
				t.Fatalf("has(%d): got %v want %v", g, set.Has(g), slow[g])
			}
		}
		gotMembers, gotRuns := set.Count()
		require.Equal(t, [2]int{members, len(all)}, [2]int{gotMembers, gotRuns})
		for _, lo := range edges {
			for _, hi := range edges {
				if hi < lo {
					continue
				}
				for _, member := range []bool{true, false} {
					if got, want := set.Next(lo, hi, member), slow.next(lo, hi, member); got != want {
						t.Fatalf("next(%d, %d, %v): got %d want %d", lo, hi, member, got, want)
					}
				}
			}
		}
		require.Equal(t, all, set.RunsIn(0, n))
		require.Equal(t, slow.runsIn(63, 129), set.RunsIn(63, 129))
	}
	for _, a := range edges {
		for _, b := range edges {
			for _, c := range []int{0, 1, 63, 64, 65, 128, 193} {
				for _, d := range []int{1, 64, 65, 127, 192, 194} {
					if b < a || d < c {
						continue
					}
					set, slow := mmap.NewSet(n), make(slowSet, n)
					set.Add(a, b)
					slow.fill(a, b, true)
					set.Remove(c, d)
					slow.fill(c, d, false)
					check(set, slow)
				}
			}
		}
	}
}
