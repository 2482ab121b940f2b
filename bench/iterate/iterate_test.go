package iterate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/bench/workload"
)

func TestBothSidesComeOutExact(t *testing.T) {
	calls := 0
	plain, ours, err := Run(func(done, total int) {
		calls++
		require.LessOrEqual(t, done, total)
	})
	require.NoError(t, err)
	require.True(t, plain.OK, plain.Detail)
	require.True(t, ours.OK, ours.Detail)
	require.Equal(t, warm+rounds, calls)
	require.Positive(t, ours.Figures["ratio"])
	require.Positive(t, ours.Committed)
	require.Len(t, ours.Drawings, 1)
	for _, s := range ours.Drawings[0].Series {
		require.Len(t, s.X, rounds)
		require.Len(t, s.Y, rounds)
	}
}

func TestCheckSeesAWrongPlace(t *testing.T) {
	var s workload.Side
	check(&s, func(int) Position { return Position{} })
	require.False(t, s.OK)
	require.Equal(t, fmt.Sprintf("entity 0 is at {0 0}, want {%d %d}", passes, -2*passes), s.Detail)
}
