package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPicture: docs/examples.md has the picture, in which each mill stands below its rotor; rotors
// and blades move, and nothing else.
func TestPicture(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, 5))
	require.True(t, strings.HasPrefix(out.String(), "62 parts, of which 42 move in a frame\n"))
	page, err := os.ReadFile("../../../docs/examples.md")
	if os.IsNotExist(err) {
		t.Skip("the source is not in the working directory: ", err)
	}
	require.NoError(t, err)
	require.Contains(t, string(page), out.String())
}

// TestTurns: after a whole turn of the small mill, 64 frames of a 32nd of half a turn, its picture
// is the one of the beginning.
func TestTurns(t *testing.T) {
	left := func(frames int) (lines []string) {
		var out strings.Builder
		require.NoError(t, run(&out, frames))
		for _, line := range strings.Split(out.String(), "\n")[1:] {
			lines = append(lines, strings.TrimRight(line[:min(len(line), 24)], " "))
		}
		return lines
	}
	require.Equal(t, left(1), left(65))
	require.NotEqual(t, left(1), left(5))
}
