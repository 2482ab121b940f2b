package world

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPartsAnswer: a walk does something for each part or says why not, and its order has each part
// for which it does something once.
func TestPartsAnswer(t *testing.T) {
	inVerifyOrder := map[Part]int{}
	for _, part := range verifyOrder {
		inVerifyOrder[part]++
	}
	for i, part := range verifies {
		require.NotEqual(t, part.do == nil, part.because == "", "verifies of part %d", i)
		require.Equal(t, part.do != nil, inVerifyOrder[Part(i)] == 1, "verifyOrder of part %d", i)
	}
	for i, part := range hashes {
		require.NotEqual(t, part.do == nil, part.because == "", "hashes of part %d", i)
	}
}
