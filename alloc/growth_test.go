package alloc_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/alloc"
)

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		g     alloc.Growth
		text  string
		sizes []int // from 0, by asking for one more each time
	}{
		{alloc.Growth{}, "exact", []int{1, 2, 3, 4, 5}},
		{alloc.Fixed(4), "by 4", []int{4, 8, 12, 16}},
		{alloc.Doubling(), "doubling", []int{1, 2, 4, 8, 16}},
		{alloc.Doubling().Capped(4), "doubling, at most 4 at a time", []int{1, 2, 4, 8, 12, 16}},
		{alloc.Doubling().Plus(1), "doubling plus 1", []int{1, 3, 7, 15, 31}},
		{alloc.Doubling().Plus(1).Capped(8), "doubling plus 1, at most 8 at a time", []int{1, 3, 7, 15, 23}},
		{alloc.Fixed(3).Plus(2), "by 3 plus 2", []int{5, 10, 15}},
		{alloc.Geometric(1.5), "times 1.5", []int{1, 2, 3, 4, 6, 9, 13}},
		{alloc.Geometric(1.5).Capped(2), "times 1.5, at most 2 at a time", []int{1, 2, 3, 4, 6, 8, 10}},
	} {
		require.Equal(t, c.text, c.g.String())
		have := 0
		for _, want := range c.sizes {
			require.Equal(t, have, c.g.Next(have, have), "%s: nothing is needed", c.g)
			have = c.g.Next(have, have+1)
			require.Equal(t, want, have, "%s", c.g)
		}
		require.Equal(t, 1000, c.g.Next(3, 1000), "%s: what is needed is met", c.g)
		require.Equal(t, math.MaxInt, c.g.Next(math.MaxInt-1, math.MaxInt), "%s", c.g)
	}
}

func TestGrowthMisuse(t *testing.T) {
	require.PanicsWithValue(t, "alloc: Fixed: step=0 is less than 1", func() { alloc.Fixed(0) })
	require.PanicsWithValue(t, "alloc: Geometric: factor=1 is not above 1 and finite", func() { alloc.Geometric(1) })
	require.PanicsWithValue(t, "alloc: Geometric: factor=NaN is not above 1 and finite",
		func() { alloc.Geometric(math.NaN()) })
	require.PanicsWithValue(t, "alloc: Growth.Plus: n=0 is less than 1", func() { alloc.Doubling().Plus(0) })
	require.PanicsWithValue(t, "alloc: Growth.Capped: most=0 is less than 1", func() { alloc.Doubling().Capped(0) })
}
