package delta

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/world"
)

// TestPartsAnswer: a walk does something for each part or says why not, and its order has each part
// for which it does something once.
func TestPartsAnswer(t *testing.T) {
	for i, part := range diffs {
		require.NotEqual(t, part.do == nil, part.because == "", "diffs of part %d", i)
	}
	inCheckOrder := map[world.Part]int{}
	for _, part := range checkOrder {
		inCheckOrder[part]++
	}
	for i, part := range checks {
		require.NotEqual(t, part.do == nil, part.because == "", "checks of part %d", i)
		require.Equal(t, part.do != nil, inCheckOrder[world.Part(i)] == 1, "checkOrder of part %d", i)
	}
	inCommitOrder := map[world.Part]int{}
	for _, part := range commitOrder {
		inCommitOrder[part]++
	}
	for i, part := range commits {
		require.NotEqual(t, part.do == nil, part.because == "", "commits of part %d", i)
		require.Equal(t, part.do != nil, inCommitOrder[world.Part(i)] == 1, "commitOrder of part %d", i)
	}
}
