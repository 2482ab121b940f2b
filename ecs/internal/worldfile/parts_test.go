package worldfile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/world"
)

// TestPartsAnswer: a walk does something for each part or says why not, and its order has each part
// for which it does something once.
func TestPartsAnswer(t *testing.T) {
	for i, part := range saves {
		require.NotEqual(t, part.do == nil, part.because == "", "saves of part %d", i)
	}
	inLoadOrder := map[world.Part]int{}
	for _, part := range loadOrder {
		inLoadOrder[part]++
	}
	for i, part := range loads {
		require.NotEqual(t, part.do == nil, part.because == "", "loads of part %d", i)
		require.Equal(t, part.do != nil, inLoadOrder[world.Part(i)] == 1, "loadOrder of part %d", i)
	}
}
