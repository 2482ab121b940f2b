package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// 205 = 100 + 50 + 25 + 20 + 10 a second, and as many in the air from the first one on.
func TestCount(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, 5))
	require.Equal(t, `1 s:  205 made, 205 in the air
2 s:  410 made, 205 in the air
3 s:  615 made, 205 in the air
4 s:  820 made, 205 in the air
5 s: 1025 made, 205 in the air
`, out.String())
}
