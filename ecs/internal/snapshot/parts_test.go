package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/world"
)

// TestPartsAnswer: a walk does something for each part or says why not, and its order has each part
// for which it does something once.
func TestPartsAnswer(t *testing.T) {
	for i, part := range takes {
		require.NotEqual(t, part.do == nil, part.because == "", "takes of part %d", i)
	}
	inFreezeOrder := map[world.Part]int{}
	for _, part := range freezeOrder {
		inFreezeOrder[part]++
	}
	for i, part := range freezes {
		require.NotEqual(t, part.do == nil, part.because == "", "freezes of part %d", i)
		require.Equal(t, part.do != nil, inFreezeOrder[world.Part(i)] == 1, "freezeOrder of part %d", i)
	}
	inRestoreOrder := map[world.Part]int{}
	for _, part := range restoreOrder {
		inRestoreOrder[part]++
	}
	for i, part := range restores {
		require.NotEqual(t, part.do == nil, part.because == "", "restores of part %d", i)
		require.Equal(t, part.do != nil, inRestoreOrder[world.Part(i)] == 1, "restoreOrder of part %d", i)
	}
}
