package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSingleNoticesPasses: a check fails if the number of passes is one more or less than expected.
func TestSingleNoticesPasses(t *testing.T) {
	for _, name := range []string{"random-write", "random2comp", "query256spread", "query5comp", "query5comp-kernel",
		"query2comp-threads"} {
		for _, way := range waysOf(name) {
			for _, passes := range []int{2, 3, 4} {
				built, err := way.build(100)
				require.NoError(t, err)
				built.(repeated).pass(3)
				if passes == 3 {
					require.NoError(t, built.check(passes), "%s on %s", way.entrant, name)
				} else {
					require.ErrorIs(t, built.check(passes), errWrong, "%s on %s", way.entrant, name)
				}
				require.NoError(t, built.close())
			}
		}
	}
}

// TestSingleNoticesMissing: a check fails if nothing was made, or one value differs.
func TestSingleNoticesMissing(t *testing.T) {
	for _, name := range []string{"create2comp-set", "create2comp-set-batch", "prefab4comp", "prefab4comp-batch"} {
		for _, way := range waysOf(name) {
			built, err := way.build(100)
			require.NoError(t, err)
			require.ErrorIs(t, built.check(0), errWrong, "%s on %s", way.entrant, name)
			built.(restored).once()
			require.NoError(t, built.check(1))
			require.NoError(t, built.close())
		}
	}
	one, other := valued(7), copied(7)
	require.ErrorIs(t, one.want(other), errWrong)
	other.sum[3]++
	require.ErrorIs(t, copied(7).want(other), errWrong)
	require.ErrorIs(t, checkToggled(func() int { return 3 }, func() {}, func() {}, 3), errWrong)
}
