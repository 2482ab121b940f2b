package system

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The last is not the longest.
func TestTimingMax(t *testing.T) {
	var x Timing
	x.note(5)
	x.note(3)
	require.Equal(t, Timing{Updates: 2, Last: 3, Max: 5, Total: 8}, x)
}
