package edit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/world"
)

// TestPartsAnswer: a walk does something for each part or says why not, and its order has each part
// for which it does something once.
func TestPartsAnswer(t *testing.T) {
	inCloneOrder := map[world.Part]int{}
	for _, part := range cloneOrder {
		inCloneOrder[part]++
	}
	for i, part := range clones {
		require.NotEqual(t, part.do == nil, part.because == "", "clones of part %d", i)
		require.Equal(t, part.do != nil, inCloneOrder[world.Part(i)] == 1, "cloneOrder of part %d", i)
	}
	for i, part := range moves {
		require.NotEqual(t, part.do == nil, part.because == "", "moves of part %d", i)
	}
}
